// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingBinariesAreAnError(t *testing.T) {
	empty := t.TempDir()
	cases := map[string]struct {
		reason, variable, option string
	}{
		"nothing built":   {"neither the variable nor the cache has them", "", ""},
		"variable astray": {"the folder is empty", empty, ""},
		"option astray":   {"the option wins over the variable", "/nowhere", empty},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", empty)
			t.Setenv(assetsVariable, c.variable)
			_, err := Start(context.Background(), Options{Assets: c.option})
			if err == nil || !strings.Contains(err.Error(), "run make cluster") {
				t.Errorf("%s: got %v, want an error that says what to run", c.reason, err)
			}
		})
	}
}

func TestBinariesThatWereBuiltAreFound(t *testing.T) {
	pins, err := os.ReadFile("../cluster/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pins)
	home := t.TempDir()
	want := filepath.Join(home, ".cache/pillion/k8s-v1.0.0-"+hex.EncodeToString(sum[:])[:12])
	if err := os.MkdirAll(want, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".built", etcd, apiServer, controllerManager, scheduler, kubectl} {
		if err := os.WriteFile(filepath.Join(want, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv(assetsVariable, "")
	if got, err := findAssets(""); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
)

const head = "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\n"

func write(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(dir, pairs[i])
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(pairs[i+1]), 0o644))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mount lays files out as the kubelet does, and swaps them in by one rename.
func mount(t *testing.T, dir, version string, pairs ...string) {
	t.Helper()
	write(t, filepath.Join(dir, "..v"+version), pairs...)
	must(t, os.Symlink("..v"+version, filepath.Join(dir, "..data_tmp")))
	must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	for i := 0; i < len(pairs); i += 2 {
		err := os.Symlink(filepath.Join("..data", pairs[i]), filepath.Join(dir, pairs[i]))
		if !errors.Is(err, fs.ErrExist) {
			must(t, err)
		}
	}
}

// texts makes the difference readable.
func texts(files map[string][]byte) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		out[name] = string(text)
	}
	return out
}

func TestRead(t *testing.T) {
	withFiles := head + "templates:\n- {name: a, file: a.yaml}\n- {name: b, file: missing}\n- {name: c, file: ../outside}\n- {name: d, file: sub}\n"
	tests := map[string]struct {
		reason string
		layout func(t *testing.T, dir string) string
		want   map[string]string
	}{
		"one file": {
			reason: "what stands beside it is of no concern",
			layout: func(t *testing.T, dir string) string {
				write(t, dir, "tls.crt", "x", "tls.key", "y")
				return filepath.Join(dir, "tls.crt")
			},
			want: map[string]string{"tls.crt": "x"},
		},
		"a configuration": {
			reason: "the templates that it names come with it, and nothing from elsewhere",
			layout: func(t *testing.T, dir string) string {
				write(t, dir, "conf/c.yaml", withFiles, "conf/a.yaml", "x", "conf/other.yaml", "y", "conf/sub/z", "z", "outside", "secret")
				return filepath.Join(dir, "conf", "c.yaml")
			},
			want: map[string]string{"c.yaml": withFiles, "a.yaml": "x"},
		},
		"a directory": {
			reason: "regular files alone, without hidden ones; a pipe would block",
			layout: func(t *testing.T, dir string) string {
				write(t, dir, "a", "1", "b.yaml", "2", ".hidden", "3", "sub/c", "4")
				must(t, os.Symlink("a", filepath.Join(dir, "link")))
				must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
				must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
				return dir
			},
			want: map[string]string{"a": "1", "b.yaml": "2", "link": "1"},
		},
		"a mount": {
			reason: "the names are those of the keys",
			layout: func(t *testing.T, dir string) string {
				mount(t, dir, "1", "config.yaml", "x", "t.yaml", "y")
				return dir
			},
			want: map[string]string{"config.yaml": "x", "t.yaml": "y"},
		},
		"a file of a mount": {
			reason: "its neighbours are of the same version",
			layout: func(t *testing.T, dir string) string {
				mount(t, dir, "1", "c.yaml", withFiles, "a.yaml", "x")
				return filepath.Join(dir, "c.yaml")
			},
			want: map[string]string{"c.yaml": withFiles, "a.yaml": "x"},
		},
		"a linked file": {
			reason: "neighbours are looked for beside the link",
			layout: func(t *testing.T, dir string) string {
				write(t, dir, "prod/real.yaml", withFiles, "a.yaml", "x")
				must(t, os.Symlink("prod/real.yaml", filepath.Join(dir, "c.yaml")))
				return filepath.Join(dir, "c.yaml")
			},
			want: map[string]string{"c.yaml": withFiles, "a.yaml": "x"},
		},
		"an empty directory": {
			reason: "the parser tells what is missing",
			layout: func(_ *testing.T, dir string) string { return dir },
			want:   map[string]string{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read(tc.layout(t, t.TempDir()))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, texts(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	tests := map[string]struct {
		reason string
		layout func(t *testing.T, dir string) string
		want   string
	}{
		"missing": {
			reason: "the path is named once",
			layout: func(_ *testing.T, dir string) string { return filepath.Join(dir, "none") },
			want:   "read DIR/none: no such file or directory",
		},
		"too large": {
			reason: "memory is bounded",
			layout: func(t *testing.T, dir string) string {
				write(t, dir, "a", strings.Repeat("x", config.MaxSize+1))
				return filepath.Join(dir, "a")
			},
			want: "read DIR/a: more than 4194304 bytes",
		},
		"too large together": {
			reason: "the bound is that of all files",
			layout: func(t *testing.T, dir string) string {
				write(t, dir, "a", strings.Repeat("x", config.MaxSize), "b", "x")
				return dir
			},
			want: "read DIR: b: more than 4194304 bytes",
		},
		"too many": {
			reason: "names take memory too",
			layout: func(t *testing.T, dir string) string {
				for i := range maxFiles + 1 {
					write(t, dir, fmt.Sprint(i), "")
				}
				return dir
			},
			want: "read DIR: more than 1000 files",
		},
		"a broken mount": {
			reason: "it is tried again, but not for ever",
			layout: func(t *testing.T, dir string) string {
				must(t, os.Symlink("..gone", filepath.Join(dir, "..data")))
				return dir
			},
			want: "read DIR: no such file or directory",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			got, err := Read(tc.layout(t, dir))
			if err == nil {
				t.Fatalf("%s: read %d files", tc.reason, len(got))
			}
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(err.Error(), dir, "DIR")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadNeverMixesVersions(t *testing.T) {
	dir := t.TempDir()
	mount(t, dir, "0", "a", "0", "b", "0")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			version := fmt.Sprint(i)
			mount(t, dir, version, "a", version, "b", version)
			_ = os.RemoveAll(filepath.Join(dir, "..v"+fmt.Sprint(i-1)))
		}
	}()
	for range 100 {
		got, err := Read(dir)
		if errors.Is(err, errSwapped) {
			continue // no mount changes that often, and it is no mixture
		}
		if err != nil || len(got) != 2 || string(got["a"]) != string(got["b"]) {
			t.Errorf("got %v, %v", texts(got), err)
			break
		}
	}
	close(stop)
	<-stopped
	if got, err := Read(dir); err != nil || len(got) != 2 {
		t.Errorf("at rest: got %v, %v", texts(got), err)
	}
}

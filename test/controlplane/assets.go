// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kubectl           = "kubectl"
)

// assetsVariable is the one that envtest and its tools use.
const assetsVariable = "KUBEBUILDER_ASSETS"

// findAssets gives the folder of the binaries, complete, or an error that says how to get it.
func findAssets(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv(assetsVariable)
	}
	if dir == "" {
		var err error
		if dir, err = builtAssets(); err != nil {
			return "", err
		}
	}
	for _, name := range []string{etcd, apiServer, controllerManager, scheduler, kubectl} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("no control plane (%w): run make cluster", err)
		}
	}
	return filepath.Abs(dir)
}

// builtAssets is the folder that make cluster fills. Its name ends with a hash of the file that
// pins all that goes into the binaries.
func builtAssets() (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	pins, err := os.ReadFile(filepath.Join(root, "test/cluster/go.mod"))
	if err != nil {
		return "", err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("k8s-*-%.6x", sha256.Sum256(pins))
	found, err := filepath.Glob(filepath.Join(home, ".cache/pillion", name, ".built"))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("no control plane in %s/.cache/pillion/%s, and %s is not set: run make cluster", home, name, assetsVariable)
	}
	return filepath.Dir(found[0]), nil
}

// findRoot climbs from the working folder to the root of the repository.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module github.com/pillion-dev/pillion\n")) {
			return dir, nil
		}
	}
	return "", errors.New("the working folder is not inside the repository")
}

// SPDX-License-Identifier: Apache-2.0

package bench

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/webhook"
	"github.com/pillion-dev/pillion/templates"
)

// typical is a Deployment's pod as the API server sends it: two application containers and an init
// container, probes, the service account's volume, every default filled in.
//
//go:embed typical.json
var typical []byte

// setup is a configuration, with the pod that it is measured on and what the cluster knows.
type setup struct {
	compile   func(proof string, o inject.Options) (*inject.Engine, error)
	object    map[string]any // not to be changed
	namespace string
	labels    map[string]string // of the namespace
	no        [2]string         // the label by which a pod says no
	more      func() any
}

func (s setup) facts() webhook.Facts { return facts{s.labels} }

// with is the setup with another pod.
func (s setup) with(change func(spec, meta map[string]any)) setup {
	s.object = pod.Clone(s.object)
	change(pod.Object(s.object, "spec"), pod.Object(s.object, "metadata"))
	return s
}

// native is the native dialect with the shipped templates.
func native() (setup, error) { return nativeOf(templates.Files()) }

func nativeOf(files map[string][]byte) (setup, error) {
	c, err := config.Parse(files)
	if err != nil {
		return setup{}, err
	}
	object, err := tree(typical)
	return setup{
		compile: func(proof string, o inject.Options) (*inject.Engine, error) {
			c.Proof, o.OwnNamespace = proof, "pillion-system"
			return inject.New(c, o)
		},
		object: object, namespace: "shop", no: [2]string{"pillion.dev/inject", "disabled"},
		labels: map[string]string{"kubernetes.io/metadata.name": "shop", "pillion.dev/inject": "enabled"},
	}, err
}

// foreign is the Istio dialect: the typical case of a folder of recorded ones, or, where that is empty, the
// typical pod in the documented example's mesh.
func foreign(corpus string) (setup, error) {
	if corpus != "" {
		return recorded(corpus)
	}
	root, err := findRoot()
	if err != nil {
		return setup{}, err
	}
	files := map[string][]byte{}
	for _, name := range []string{"istio-sidecar-injector.yaml", "istio.yaml"} {
		if files[name], err = os.ReadFile(filepath.Join(root, "docs/examples/istio", name)); err != nil {
			return setup{}, err
		}
	}
	object, err := tree(typical)
	if err != nil {
		return setup{}, err
	}
	return foreignOf(files, object, "shop")
}

// recorded is the typical case of a corpus.
func recorded(dir string) (setup, error) {
	at := filepath.Join(dir, "typical/native")
	var c struct {
		RawInjectionConfig, RawMesh, Values string
	}
	var review struct {
		Request struct {
			Namespace string
			Object    json.RawMessage
		}
	}
	for name, into := range map[string]any{"case.json": &c, "request.json": &review} {
		raw, err := os.ReadFile(filepath.Join(at, name))
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			return setup{}, err
		}
	}
	files := map[string][]byte{}
	for key, name := range map[string]string{"config": c.RawInjectionConfig, "mesh": c.RawMesh, "values": c.Values} {
		var err error
		if files[key], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return setup{}, err
		}
	}
	object, err := tree(review.Request.Object)
	if err != nil {
		return setup{}, err
	}
	return foreignOf(files, object, review.Request.Namespace)
}

func foreignOf(files map[string][]byte, object map[string]any, namespace string) (setup, error) {
	c, err := istio.Parse(files)
	return setup{
		compile: func(proof string, o inject.Options) (*inject.Engine, error) {
			c.Proof, o.Revision = proof, "default"
			return istio.New(c, o)
		},
		object: object, namespace: namespace, no: [2]string{"sidecar.istio.io/inject", "false"},
		labels: map[string]string{"kubernetes.io/metadata.name": namespace, "istio-injection": "enabled"},
	}, err
}

func tree(raw []byte) (map[string]any, error) {
	value, err := pod.Decode(raw)
	object, ok := value.(map[string]any)
	if err == nil && !ok {
		err = fmt.Errorf("no object: %.40s", raw)
	}
	return object, err
}

// findRoot climbs from the working folder to the root of the repository.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "docs", "examples")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("the working folder is not inside the repository")
}

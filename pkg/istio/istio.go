// SPDX-License-Identifier: Apache-2.0

// Package istio is the Istio dialect: it reads the configuration that istiod's injector reads, and
// gives the engine the keys, rules, template data and functions, and post-processing steps with
// which pods come out as istiod would have made them, less its defects.
package istio

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
)

// Config is all that the dialect is configured with: the injection configuration, the values and the
// mesh configuration, as Parse reads them.
type Config struct {
	Policy               string // enabled, disabled, or a text that injects nothing
	DefaultTemplates     []string
	Aliases              map[string][]string
	NeverInjectSelector  []metav1.LabelSelector
	AlwaysInjectSelector []metav1.LabelSelector
	InjectedAnnotations  map[string]string
	Templates            []Template // by name

	Values map[string]any // as templates read them: maps, lists, string, bool, nil and float64
	Mesh   *mesh.Config

	Env              map[string]string // what the template function env answers; nothing else of the environment
	NativeSidecars   string            // auto, on or off
	Platform         string            // openshift, or empty
	CompliancePolicy string
	Cluster          string // whose nodes are known; empty: the one that the values name
	Proof            string // always or sampled

	Places map[string]config.Position // where the fields stand, such as neverInjectSelector[0]; for messages

	strangers []string // fields of the key config that nothing reads
	unread    []string // keys whose text could not be read, or not all of it
}

// place is where a field stands, or the nearest field around it.
func (c *Config) place(field string) config.Position {
	return config.Config{Places: c.Places}.Place(field)
}

// Template is an injection template.
type Template struct {
	Name   string
	Text   string
	Origin config.Origin
}

// The names that the steps know containers by.
const (
	proxyName      = "istio-proxy"
	initName       = "istio-init"
	validationName = "istio-validation"
	coreDumpName   = "enable-core-dump"
)

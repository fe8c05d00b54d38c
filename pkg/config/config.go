// SPDX-License-Identifier: Apache-2.0

// Package config is the configuration file: its shape, its defaults, the strict parse with the file
// and line of every fault, and what must hold between its fields. What a parameter's text means is
// not known here.
package config

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The one version of the configuration.
const (
	APIVersion = "config.pillion.dev/v1alpha1"
	Kind       = "InjectorConfig"
)

// Config is a whole configuration, defaulted.
type Config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	Dialect              string                 `json:"dialect"`        // pillion or istio
	DialectOptions       map[string]any         `json:"dialectOptions"` // what only the dialect knows
	Policy               string                 `json:"policy"`         // enabled or disabled
	IgnoredNamespaces    []string               `json:"ignoredNamespaces"`
	NeverInjectSelector  []metav1.LabelSelector `json:"neverInjectSelector"`
	AlwaysInjectSelector []metav1.LabelSelector `json:"alwaysInjectSelector"`
	DefaultTemplates     []string               `json:"defaultTemplates"`
	Aliases              map[string][]string    `json:"aliases"`
	NativeSidecars       string                 `json:"nativeSidecars"` // auto, on or off
	Proof                string                 `json:"proof"`          // always or sampled
	Values               map[string]any         `json:"values"`         // maps, lists, string, bool, nil, int64 and float64
	Templates            []Template             `json:"templates"`

	Places map[string]Position `json:"-"` // where Parse found each field, by its path; see Place
}

// Template is one injection template with its rules.
type Template struct {
	Name string `json:"name"`
	File string `json:"file"` // the source's name beside the configuration; or
	Text string `json:"text"` // the source itself. After Parse, Text is set for both.

	Required         bool        `json:"required"` // default true
	AllowHostNetwork bool        `json:"allowHostNetwork"`
	OS               string      `json:"os"`       // linux (default), windows or any
	Sidecars         []string    `json:"sidecars"` // the containers that run beside the pod's own
	Order            []Order     `json:"order"`
	Jobs             string      `json:"jobs"` // native (default), skip or inject
	Overridable      []string    `json:"overridable"`
	Parameters       []Parameter `json:"parameters"`

	Origin Origin `json:"-"` // where Parse found Text
}

// Order says where a container of the template stands among the others. The name "*" stands for
// every container of the pod's author.
type Order struct {
	Container string   `json:"container"`
	Before    []string `json:"before"`
	After     []string `json:"after"`
}

// Parameter is a typed value that a pod, or its namespace as default, may set by annotation.
type Parameter struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`                 // string, bool, int, quantity, duration, port, ports, cidrs, enum or image
	Default    *string  `json:"default" scalar:"any"` // of any scalar the text is taken: 8080 and "8080" are the same
	Min        string   `json:"min" scalar:"any"`
	Max        string   `json:"max" scalar:"any"`
	Pattern    string   `json:"pattern"`             // RE2, matched against the whole value
	Values     []string `json:"values" scalar:"any"` // of an enum
	AtMost     string   `json:"atMost"`              // another parameter of the template that bounds this one
	Annotation string   `json:"annotation"`          // empty: only the default holds
}

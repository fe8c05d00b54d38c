// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// caseFile is what a case says about its configuration and its cluster.
type caseFile struct {
	Env                map[string]string
	Injection          injection
	Values, Mesh       string
	RawInjectionConfig string
	Revision, Path     string
	Nodes              []node
	NamespaceObject    *namespace
	NamespaceObjects   []namespace
	ProxyConfigs       []map[string]any
	Outcome, Error     string
}

// injection is the injection configuration in its parts. Templates are first the names of files, then
// their texts.
type injection struct {
	Policy               string              `json:"policy"`
	DefaultTemplates     []string            `json:"defaultTemplates"`
	Aliases              map[string][]string `json:"aliases"`
	NeverInjectSelector  []any               `json:"neverInjectSelector"`
	AlwaysInjectSelector []any               `json:"alwaysInjectSelector"`
	InjectedAnnotations  map[string]string   `json:"injectedAnnotations"`
	Templates            map[string]string   `json:"templates"`
}

type node struct{ Name, KubeletVersion string }

type namespace struct {
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
}

// input is all that goes into a case.
type input struct {
	name      string
	file      caseFile
	config    []byte // the three texts of the two ConfigMaps
	values    []byte
	mesh      []byte
	namespace string         // of the request
	review    []byte         // the body of the request
	raw       []byte         // its object
	pod       map[string]any // the same; not to be changed
	owner     string         // of a manifest: the version and the kind of the object that the pod stands in
	job       any            // the metadata of the Job that a CronJob makes for the pod; nil for no such pod
	want      outcome        // what the original made of it; rules must not look at it
}

// input reads a case's configuration.
func (c *corpus) input(name string) (*input, error) {
	raw, err := c.file(name)
	if err != nil {
		return nil, err
	}
	in := &input{}
	if err := json.Unmarshal(raw, &in.file); err != nil {
		return nil, err
	}
	templates := map[string]string{}
	for key, file := range in.file.Injection.Templates {
		text, err := c.text(file)
		if err != nil {
			return nil, err
		}
		templates[key] = string(text)
	}
	in.file.Injection.Templates = templates
	if in.values, err = c.text(in.file.Values); err != nil {
		return nil, err
	}
	if in.mesh, err = c.text(in.file.Mesh); err != nil {
		return nil, err
	}
	in.config, err = c.injectionConfig(in.file)
	return in, err
}

// injectionConfig is the text of the ConfigMap where it says the same as the parts, since it is what
// users have; otherwise the parts were changed after they were read, and count.
func (c *corpus) injectionConfig(f caseFile) ([]byte, error) {
	if f.RawInjectionConfig != "" {
		raw, err := c.text(f.RawInjectionConfig)
		if err != nil {
			return nil, err
		}
		var parts injection
		if err := yaml.Unmarshal(raw, &parts); err == nil && parts.equal(f.Injection) {
			return raw, nil
		}
	}
	return yaml.Marshal(f.Injection)
}

// equal compares two configurations; what is empty is the same as what is not there.
func (a injection) equal(b injection) bool {
	shape := func(i injection) any {
		raw, _ := json.Marshal(i) // strings, lists and maps only
		value, _ := decode(raw)
		m := norm(value, "").(map[string]any)
		m["templates"] = i.Templates // an empty text is a template
		return m
	}
	return reflect.DeepEqual(shape(a), shape(b))
}

// request takes the pod out of an admission review.
func (in *input) request(raw []byte) error {
	var review struct {
		Request struct {
			Namespace string
			Object    json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &review); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	in.review, in.namespace, in.raw = raw, review.Request.Namespace, review.Request.Object
	var err error
	if in.pod, err = object(in.raw); err != nil {
		return fmt.Errorf("read the pod: %w", err)
	}
	return nil
}

// object puts a pod into an admission review.
func (in *input) object(raw []byte, namespace string) error {
	var err error
	if in.pod, err = object(raw); err != nil {
		return fmt.Errorf("read the pod: %w", err)
	}
	in.raw, in.namespace = raw, namespace
	in.review, err = json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request": map[string]any{
			"uid": "u", "operation": "CREATE", "namespace": namespace, "object": json.RawMessage(raw),
			"kind":     map[string]any{"group": "", "version": "v1", "kind": "Pod"},
			"resource": map[string]any{"group": "", "version": "v1", "resource": "pods"},
		},
	})
	return err
}

// withObject is the case with another pod, and without what the original made of the first.
func (in *input) withObject(raw []byte) (*input, error) {
	out := *in
	out.want = outcome{}
	return &out, out.object(raw, in.namespace)
}

// platformKeys are the variables of the injector's process that are settings of ours.
var platformKeys = []string{"ENABLE_NATIVE_SIDECARS", "PLATFORM", "COMPLIANCE_POLICY"}

// setup is the case's configuration for the engine.
func (in *input) setup() setup {
	s := setup{
		config: string(in.config), values: string(in.values), mesh: string(in.mesh), revision: in.file.Revision,
		native: "off", platform: in.file.Env["PLATFORM"], compliance: in.file.Env["COMPLIANCE_POLICY"],
	}
	switch in.file.Env["ENABLE_NATIVE_SIDECARS"] {
	case "", "auto":
		s.native = "auto"
	case "true":
		s.native = "on"
	}
	var env []string
	for _, key := range slices.Sorted(maps.Keys(in.file.Env)) {
		if !slices.Contains(platformKeys, key) {
			env = append(env, key+"="+in.file.Env[key])
		}
	}
	s.env = strings.Join(env, "\x00")
	return s
}

// facts are what the case's cluster knows about the pod.
func (in *input) facts() (inject.Facts, error) {
	f := inject.Facts{Namespace: in.namespace, Selected: true, Path: strings.TrimPrefix(in.file.Path, "/inject")}
	if n := in.namespaceObject(in.namespace); n != nil {
		f.NamespaceLabels, f.NamespaceAnnotations = n.Metadata.Labels, n.Metadata.Annotations
	}
	nodeName := pod.Text(pod.Object(in.pod, "spec"), "nodeName")
	for _, n := range in.file.Nodes {
		if istio.OldKubelet(n.KubeletVersion) {
			f.OldNodes = append(f.OldNodes, inject.Node{Name: n.Name})
		}
		f.NodeKnown = f.NodeKnown || n.Name == nodeName
	}
	resources, err := resourcesOf(in.file.ProxyConfigs)
	f.More = istio.More{Resources: resources}
	return f, err
}

func (in *input) namespaceObject(name string) *namespace {
	all := in.file.NamespaceObjects
	if in.file.NamespaceObject != nil {
		all = append(slices.Clip(all), *in.file.NamespaceObject)
	}
	for _, n := range all {
		if n.Metadata.Name == name {
			return &n
		}
	}
	return nil
}

// resourcesOf reads ProxyConfig resources; each was created a second after the one before it.
func resourcesOf(objects []map[string]any) (*mesh.Resources, error) {
	var list []mesh.Resource
	for i, o := range objects {
		order := float64(i)
		if n, ok := o["creationOrder"].(float64); ok {
			order = n
		}
		created := time.Unix(1_700_000_000+int64(order), 0).UTC().Format(time.RFC3339)
		raw, err := json.Marshal(pod.With(o, "metadata", pod.With(pod.Object(o, "metadata"), "creationTimestamp", created)))
		if err != nil {
			return nil, err
		}
		r, err := mesh.ParseResource(raw)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return mesh.NewResources(list), nil
}

// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
)

// own lays our own configuration over what istiod's says: what it does not mention stays.
func (c *Config) own(files map[string][]byte) error {
	in, err := config.Parse(files)
	if err != nil {
		return err
	}
	said := func(field string) bool { _, ok := in.Places[field]; return ok }
	if said("policy") {
		c.Policy = in.Policy
	}
	if said("nativeSidecars") {
		c.NativeSidecars = in.NativeSidecars
	}
	if said("neverInjectSelector") {
		c.NeverInjectSelector = in.NeverInjectSelector
	}
	if said("alwaysInjectSelector") {
		c.AlwaysInjectSelector = in.AlwaysInjectSelector
	}
	if said("defaultTemplates") {
		c.DefaultTemplates = in.DefaultTemplates
	}
	if len(in.Aliases) > 0 {
		c.Aliases = maps.Clone(c.Aliases)
		if c.Aliases == nil {
			c.Aliases = map[string][]string{}
		}
		maps.Copy(c.Aliases, in.Aliases)
	}
	c.Proof = in.Proof
	for field, at := range in.Places {
		if name, _, _ := strings.Cut(strings.Split(field, ".")[0], "["); slices.Contains(sharedFields(), name) {
			c.Places[field] = at
		}
	}
	if said("values") {
		c.Values = config.MergeValues(c.Values, floats(in.Values))
	}
	faults := c.ownTemplates(in)
	faults = append(faults, c.options(in)...)
	if said("ignoredNamespaces") {
		faults = append(faults, fault(in, "ignoredNamespaces", "dialect istio ignores kube-system, kube-public, kube-node-lease and local-path-storage only"))
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// sharedFields are the fields of our own configuration that stand in place of those of the key config.
func sharedFields() []string {
	return []string{"policy", "neverInjectSelector", "alwaysInjectSelector", "defaultTemplates", "aliases"}
}

// nativeFields are the fields of a template that only the native dialect reads.
var nativeFields = []string{"required", "allowHostNetwork", "os", "sidecars", "order", "jobs", "overridable", "parameters"}

func (c *Config) ownTemplates(in config.Config) config.Errors {
	var faults config.Errors
	for i, t := range in.Templates {
		for _, field := range nativeFields {
			path := fmt.Sprintf("templates[%d].%s", i, field)
			if _, ok := in.Places[path]; ok {
				faults = append(faults, fault(in, path, "dialect istio does not read this"))
			}
		}
		one := Template{Name: t.Name, Text: t.Text, Origin: t.Origin}
		at := slices.IndexFunc(c.Templates, func(have Template) bool { return have.Name == t.Name })
		if at < 0 {
			c.Templates = append(c.Templates, one)
			continue
		}
		c.Templates[at] = one
	}
	slices.SortFunc(c.Templates, func(a, b Template) int { return strings.Compare(a.Name, b.Name) })
	return faults
}

func fault(in config.Config, path, detail string) config.Error {
	at := in.Place(path)
	return config.Error{File: at.File, Line: at.Line, Field: path, Detail: detail, Hint: "remove it"}
}

// options reads dialectOptions: what istiod takes from its environment.
func (c *Config) options(in config.Config) config.Errors {
	var faults config.Errors
	wrong := func(name, detail string) { faults = append(faults, fault(in, "dialectOptions."+name, detail)) }
	for _, name := range slices.Sorted(maps.Keys(in.DialectOptions)) {
		value := in.DialectOptions[name]
		var ok bool
		switch name {
		case "env":
			c.Env, ok = texts(value)
		case "injectedAnnotations":
			c.InjectedAnnotations, ok = texts(value)
		case "platform":
			c.Platform, ok = value.(string)
			ok = ok && (c.Platform == "" || c.Platform == openShift)
		case "cluster":
			c.Cluster, ok = value.(string)
		case "compliancePolicy":
			c.CompliancePolicy, ok = value.(string)
		default:
			wrong(name, "unknown field; there are cluster, compliancePolicy, env, injectedAnnotations and platform")
			continue
		}
		if !ok {
			wrong(name, optionForm[name])
		}
	}
	return faults
}

var optionForm = map[string]string{
	"env":                 "want a map of texts: the environment that templates may read",
	"injectedAnnotations": "want a map of texts",
	"platform":            "want openshift, or an empty text",
	"cluster":             "want a text: the name of the cluster that this injector runs in",
	"compliancePolicy":    "want a text, such as fips-140-3",
}

// texts is a map whose values are texts.
func texts(value any) (map[string]string, bool) {
	m, ok := value.(map[string]any)
	out := make(map[string]string, len(m))
	for key, item := range m {
		s, isText := item.(string)
		if !isText {
			return nil, false
		}
		out[key] = s
	}
	return out, ok
}

// floats is values as the original's reader gives them: every number is a float.
func floats(in map[string]any) map[string]any {
	out, _ := float(in).(map[string]any)
	return out
}

func float(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = float(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = float(item)
		}
		return out
	case int64:
		return float64(v)
	}
	return value
}

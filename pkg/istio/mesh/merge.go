// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// mesh lays a tree over a mesh configuration. Fields replace, but for four: the fields of
// defaultConfig and defaultProviders replace one by one, extension providers by name, and the aliases
// of the trust domain are joined.
func (d *decoder) mesh(m *meshconfig.MeshConfig, tree any) {
	proxy, providers := m.DefaultConfig, m.DefaultProviders
	extensions, aliases := m.ExtensionProviders, m.TrustDomainAliases
	m.ExtensionProviders, m.TrustDomainAliases = nil, nil
	m.DefaultConfig, m.DefaultProviders = nil, nil
	object, isMap := tree.(map[string]any)
	if isMap {
		object = maps.Clone(object)
		d.inner(object, "defaultConfig", "default_config", func(sub any) { d.proxy(proxy, sub) })
		d.inner(object, "defaultProviders", "default_providers", func(sub any) { d.message(providers.ProtoReflect(), sub) })
		tree = object
	}
	d.message(m.ProtoReflect(), tree)
	m.DefaultConfig, m.DefaultProviders = proxy, providers
	m.ExtensionProviders = joinProviders(extensions, m.ExtensionProviders)
	m.TrustDomainAliases = append(aliases, m.TrustDomainAliases...)
	slices.Sort(m.TrustDomainAliases)
	m.TrustDomainAliases = slices.Compact(m.TrustDomainAliases)
}

// inner takes a field out of the object and reads it on its own.
func (d *decoder) inner(object map[string]any, name, declared string, read func(any)) {
	key := name
	if _, ok := object[key]; !ok {
		key = declared
	}
	sub := object[key]
	delete(object, name)
	delete(object, declared)
	d.within(key, func() { read(sub) })
}

// proxy lays a tree over a ProxyConfig. The metadata is merged key by key.
func (d *decoder) proxy(p *meshconfig.ProxyConfig, tree any) {
	before := p.ProxyMetadata
	d.message(p.ProtoReflect(), tree)
	p.ProxyMetadata = union(before, p.ProxyMetadata)
}

// joinProviders replaces providers of the same name and appends the others.
func joinProviders(have, more []*meshconfig.MeshConfig_ExtensionProvider) []*meshconfig.MeshConfig_ExtensionProvider {
	for _, p := range more {
		same := func(h *meshconfig.MeshConfig_ExtensionProvider) bool { return h.GetName() == p.GetName() }
		if i := slices.IndexFunc(have, same); i >= 0 {
			have[i] = p
			continue
		}
		have = append(have, p)
	}
	return have
}

// overlay is a ProxyConfig with what is set in another one laid over it. A zero number or text is
// not set, so it cannot override. The result shares its parts with both, which stay as they are.
func overlay(under, over *meshconfig.ProxyConfig) *meshconfig.ProxyConfig {
	out := &meshconfig.ProxyConfig{}
	under.ProtoReflect().Range(setIn(out))
	over.ProtoReflect().Range(setIn(out))
	out.ProxyMetadata = union(under.GetProxyMetadata(), over.GetProxyMetadata())
	return out
}

// setIn sets what it ranges over in a message.
func setIn(m proto.Message) func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
	into := m.ProtoReflect()
	return func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(field, v)
		return true
	}
}

// union is the entries of two maps, of which the second wins. It may be one of them.
func union(under, over map[string]string) map[string]string {
	if len(under) == 0 {
		return over
	}
	if len(over) == 0 {
		return under
	}
	out := maps.Clone(under)
	maps.Copy(out, over)
	return out
}

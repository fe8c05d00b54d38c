// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"
	"strings"
	"testing"

	"istio.io/api/annotation"
	"istio.io/api/label"
)

func TestKeysAreWhatTheReferenceNeeds(t *testing.T) {
	keys := Keys()
	if !slices.IsSortedFunc(keys, compareKeys) {
		t.Error("the keys are not sorted")
	}
	for i, k := range keys {
		if i > 0 && compareKeys(keys[i-1], k) == 0 {
			t.Errorf("%s stands twice as a %s", k.Name, k.Place)
		}
		if k.Place.String() == "" || k.Type == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: place %q, type %q, doc %q", k.Name, k.Place, k.Type, k.Doc)
		}
		if found, ok := lookup(k.Name, k.Place); !ok || found.Doc != k.Doc {
			t.Errorf("%s: lookup finds %v, %t", k.Name, found, ok)
		}
	}
	keys[0].Name = "changed"
	if registry[0].Name == "changed" {
		t.Error("the list is not the caller's own")
	}
	if Place(9).String() != "" {
		t.Error("a place that is none has a name")
	}
	if _, ok := lookup(injectKey, NamespaceLabel); ok {
		t.Error("a key is found at a place where it has no meaning")
	}
}

// A key under the mesh's domain is one that its API declares, or one of the few that only templates
// and the injector know.
func TestKeysAreSpeltAsTheAPISpellsThem(t *testing.T) {
	undeclared := []string{bindServiceKey, securePortKey, scrapeTargetsKey, tunnelKey, namespaceKey}
	var declared []string
	for _, a := range annotation.AllResourceAnnotations() {
		declared = append(declared, "annotation "+a.Name)
	}
	for _, l := range label.AllResourceLabels() {
		declared = append(declared, "label "+l.Name)
	}
	for _, k := range registry {
		if !ofMesh(k.Name) || slices.Contains(undeclared, k.Name) {
			continue
		}
		if !slices.Contains(declared, k.Place.kind()+" "+k.Name) {
			t.Errorf("%s is no declared %s", k.Name, k.Place.kind())
		}
	}
}

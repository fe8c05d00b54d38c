// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func FuzzChanges(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		before, layer := a.pod(), b.pod()
		after := Merge(pod.Schema(), before, layer)
		checkStranger(t, before, after)
		checkChanges(t, before, after)
		checkChanges(t, after, before)
		checkChanges(t, before, layer)
		messy := a.messy(before)
		checkChanges(t, messy, b.edited(messy))
		checkChanges(t, messy, b.messy(messy))
		checkChanges(t, b.messy(layer), messy)
	})
}

// checkChanges holds for any trees: what was changed can be undone, from the record too.
func checkChanges(t *testing.T, before, after any) {
	t.Helper()
	schema := pod.Schema()
	wasBefore, wasAfter := string(pod.Encode(before)), string(pod.Encode(after))
	changes := Changes(schema, before, after)
	if diff := cmp.Diff(changes, Changes(schema, before, after)); diff != "" {
		t.Errorf("the same trees give other changes:\n%s", diff)
	}
	got, err := Revert(schema, after, changes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(meaning(schema, before), meaning(schema, got)); diff != "" {
		t.Errorf("reverting does not give back (-before +got)\n%s\nbefore %s\nafter  %s\nrecord %s",
			diff, wasBefore, wasAfter, pod.Encode(Encode(changes)))
	}
	if string(pod.Encode(before)) != wasBefore || string(pod.Encode(after)) != wasAfter {
		t.Fatal("an argument was changed")
	}
	if len(changes) > 0 && changes[0].Path == "" {
		return // the whole document: there is no record of that
	}
	decoded, err := Decode(Encode(changes))
	if err != nil {
		t.Fatalf("decode: %v\nrecord %s", err, pod.Encode(Encode(changes)))
	}
	again, err := Revert(schema, after, decoded)
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("the record does not undo the same: %v (-want +got)\n%s", err, diff)
	}
}

// checkStranger holds for valid pods: what another writer adds after us stays when we go.
func checkStranger(t *testing.T, before, after any) {
	t.Helper()
	schema := pod.Schema()
	stranger := strangerTo(before)
	got, err := Revert(schema, Merge(schema, after, stranger), Changes(schema, before, after))
	if err != nil {
		t.Fatal(err)
	}
	want := Merge(schema, before, stranger)
	if diff := cmp.Diff(sorted(schema, meaning(schema, want)), sorted(schema, meaning(schema, got))); diff != "" {
		t.Errorf("(-want +got)\n%s\nbefore   %s\nafter    %s\nstranger %s", diff,
			pod.Encode(before), pod.Encode(after), pod.Encode(stranger))
	}
}

// strangerTo is a layer that adds to maps, to lists and to the containers that are there.
func strangerTo(before any) map[string]any {
	item := func(key string) any { return []any{map[string]any{key: "stranger"}} }
	labels := map[string]any{"stranger": "1"}
	containers := []any{map[string]any{"name": "stranger"}}
	if m, ok := before.(map[string]any); ok {
		spec, _ := m["spec"].(map[string]any)
		list, _ := spec["containers"].([]any)
		for _, c := range list {
			containers = append(containers, map[string]any{
				"name": c.(map[string]any)["name"], "env": item("name"), "volumeMounts": item("mountPath"),
				"resources": map[string]any{"limits": map[string]any{"stranger": "1"}},
				"ports":     []any{map[string]any{"containerPort": int64(9999), "protocol": "UDP"}},
			})
		}
	}
	return map[string]any{
		"metadata": map[string]any{"labels": labels, "annotations": labels, "finalizers": []any{"stranger"}},
		"spec":     map[string]any{"containers": containers, "volumes": item("name"), "hostAliases": item("ip")},
	}
}

func FuzzDecode(f *testing.F) {
	for _, record := range []string{
		`{}`, `null`, ` null`, `{"added":["/a","/spec/containers/app/ports/8080~1TCP"],"created":["/b"]}`,
		`{"restore":[{"path":"/a","old":1},{"path":"/b/c","old":{"name":"c"},"index":0}]}`,
		`{"added":["/spec/containers"],"restore":[{"path":"/spec/containers/app/image","old":"x"},{"path":"/spec/volumes/v","old":[],"index":9}]}`,
	} {
		f.Add([]byte(record))
	}
	tree := (&source{[]byte("\x02\x01\x04\x05\x03\x07\x09\x01\x06\x02\x08\x05\x01\x02\x04\x03\x01\x05\x09\x02\x04\x01")}).pod()
	f.Fuzz(func(t *testing.T, raw []byte) {
		record, err := pod.Decode(raw)
		if err != nil {
			return
		}
		changes, err := Decode(record)
		if err != nil {
			return
		}
		if len(changes) > maxChanges {
			t.Fatalf("%d changes", len(changes))
		}
		if diff := cmp.Diff(meaning(nil, record), Encode(changes)); diff != "" && record != nil && !hasEmpty(record) {
			t.Errorf("a record that Encode does not write (-read +written)\n%s", diff)
		}
		was := string(pod.Encode(tree))
		if _, err := Revert(pod.Schema(), tree, changes); err != nil {
			t.Errorf("a decoded record does not revert: %v", err)
		}
		if string(pod.Encode(tree)) != was {
			t.Error("the tree was changed")
		}
	})
}

// hasEmpty tells that a record spells out an empty list, or holds a null in an old value.
func hasEmpty(record any) bool {
	m, _ := record.(map[string]any)
	for _, list := range m {
		if list, _ := list.([]any); len(list) == 0 || hasNull(list) {
			return true
		}
	}
	return false
}

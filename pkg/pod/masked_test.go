// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// places are where hidden values stand: pointers with ~* for every item of a list.
var places = map[string]Hidden{
	"/metadata/name":                                                  HideName,
	"/metadata/uid":                                                   HideIdentity,
	"/metadata/resourceVersion":                                       HideIdentity,
	"/metadata/creationTimestamp":                                     HideIdentity,
	"/metadata/managedFields~*/time":                                  HideIdentity,
	"/metadata/ownerReferences~*/uid":                                 HideIdentity,
	"/spec/hostname":                                                  HideHostname,
	"/spec/volumes~*/name":                                            HideToken,
	"/spec/containers~*/volumeMounts~*/name":                          HideToken,
	"/spec/initContainers~*/volumeMounts~*/name":                      HideToken,
	"/spec/ephemeralContainers~*/volumeMounts~*/name":                 HideToken,
	"/spec/volumes~*/persistentVolumeClaim/claimName":                 HideClaim,
	"/metadata/labels/statefulset.kubernetes.io~1pod-name":            HideOrdinal,
	"/metadata/labels/apps.kubernetes.io~1pod-index":                  HideOrdinal,
	"/metadata/labels/batch.kubernetes.io~1job-completion-index":      HideOrdinal,
	"/metadata/annotations/batch.kubernetes.io~1job-completion-index": HideIndex,
	"/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms~*/matchFields~*/values~*": HideNode,
}

var tokenName = regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`)

// masker puts something else in the place of each hidden value of a tree, slowly and by the book.
type masker struct {
	hide   Hidden
	with   func(kind Hidden, number int, text string) any
	tokens []string
	texts  []string
}

func (m *masker) mask(value any, at string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key] = m.mask(v[key], string(AppendToken([]byte(at), key)))
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, m.mask(item, at+"~*"))
		}
		return out
	case string:
		if kind := places[at]; kind&m.hide != 0 {
			return m.text(kind, at, v)
		}
	}
	return value
}

func (m *masker) text(kind Hidden, at, text string) any {
	if kind == HideToken {
		return m.token(text)
	}
	if strings.HasSuffix(at, "/time") || strings.HasSuffix(at, "Timestamp") {
		const form = "2006-01-02T15:04:05Z"
		if when, err := time.Parse(form, text); err != nil || when.Format(form) != text {
			return text
		}
	}
	m.texts = append(m.texts, text)
	return m.with(kind, 0, text)
}

func (m *masker) token(text string) any {
	number := slices.Index(m.tokens, text)
	if number < 0 && (len(m.tokens) == maxTokens || !tokenName.MatchString(text)) {
		return text
	}
	if number < 0 {
		number = len(m.tokens)
		m.tokens, m.texts = append(m.tokens, text), append(m.texts, text)
	}
	return m.with(HideToken, number, text)
}

type masked struct {
	Kind   Hidden
	Number int
}

// byTheBook is the tree without what is hidden of it, and that.
func byTheBook(tree any, hide Hidden) (any, []string) {
	m := masker{hide: hide, with: func(kind Hidden, number int, _ string) any { return masked{kind, number} }}
	return m.mask(tree, ""), m.texts
}

// other is a value of the same form: the tokens are exchanged one for one.
func other(_ Hidden, _ int, text string) any {
	if tokenName.MatchString(text) {
		return TokenVolume + strings.Map(func(r rune) rune {
			return rune("bcdefghijklmnopqrstuvwxyz0123456789a"[strings.IndexRune("abcdefghijklmnopqrstuvwxyz0123456789", r)])
		}, text[len(TokenVolume):])
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return "2020-02-29T00:00:00Z"
	}
	return text + "\"<é"
}

// slot is a place in a tree that can be set.
type slot struct {
	in  map[string]any
	key string
	of  []any
	at  int
}

func (s slot) get() any {
	if s.in != nil {
		return s.in[s.key]
	}
	return s.of[s.at]
}

func (s slot) set(value any) {
	if s.in != nil {
		s.in[s.key] = value
		return
	}
	s.of[s.at] = value
}

func slots(value any) []slot {
	var out []slot
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(append(out, slot{in: v, key: key}), slots(v[key])...)
		}
	case []any:
		for i := range v {
			out = append(append(out, slot{of: v, at: i}), slots(v[i])...)
		}
	}
	return out
}

// change changes places of a tree: two bytes choose one, a third what becomes of it.
func change(tree any, how []byte) {
	values := []any{
		"", "x", TokenVolume + "aaaaa", TokenVolume + "bbbbb", TokenVolume + "abcdef", "2026-01-02T03:04:05Z", "2020-02-29T00:00:00Z",
		"2026-02-30T00:00:00Z", nil, int64(1), true, map[string]any{"name": "x"}, []any{"x"},
	}
	for ; len(how) >= 3; how = how[3:] {
		all := slots(tree)
		if len(all) == 0 {
			return
		}
		s := all[(int(how[0])<<8+int(how[1]))%len(all)]
		chosen := int(how[2])
		if from, ok := all[chosen*7%len(all)].get().(string); ok && chosen > 2*len(values) {
			s.set(from)
			continue
		}
		if s.in != nil && chosen > 2*len(values) {
			delete(s.in, s.key)
			continue
		}
		s.set(Clone(values[chosen%len(values)]))
	}
}

func shapeOfTree(t *testing.T, tree any, hide Hidden, indent bool) (string, []string) {
	raw := jsontext.Value(Encode(tree))
	if indent {
		if err := raw.Indent(); err != nil {
			t.Fatal(err)
		}
	}
	doc := Doc{raw: raw}
	return shapeOf(doc, hide), doc.HiddenTexts(hide)
}

// FuzzShape holds the shape to the tree: two pods have equal shapes exactly where their trees are equal
// without what is hidden.
func FuzzShape(f *testing.F) {
	for _, c := range hiding {
		f.Add([]byte(c.pod), []byte{0, 4, 1}, uint16(c.hide), false)
	}
	for n := range byte(60) {
		f.Add([]byte(replica(1)), []byte{0, n, 1, 0, 3 * n, 40 + n}, uint16(HideAll), n%2 == 0)
		f.Add([]byte(deploymentPod), []byte{0, 5 * n, 2, 1, n, 3}, uint16(HideAll), n%2 == 0)
	}
	f.Fuzz(func(t *testing.T, raw, how []byte, mask uint16, indent bool) {
		one, err := Decode(raw)
		if err != nil || len(raw) > 8<<10 || len(how) > 30 {
			return
		}
		hide, two := Hidden(mask)&HideAll, Clone(one)
		change(two, how)
		shape1, texts1 := shapeOfTree(t, one, hide, indent)
		shape2, texts2 := shapeOfTree(t, two, hide, indent)
		book1, want1 := byTheBook(one, hide)
		book2, want2 := byTheBook(two, hide)
		if diff := cmp.Diff([][]string{want1, want2}, [][]string{texts1, texts2}); diff != "" {
			t.Fatalf("%s: hidden texts, -want +got:\n%s", Encode(two), diff)
		}
		if want := reflect.DeepEqual(book1, book2); want != (shape1 == shape2) {
			t.Fatalf("%s and %s: alike is %v, want %v", Encode(one), Encode(two), !want, want)
		}
		varied := &masker{hide: hide, with: other}
		if shape, _ := shapeOfTree(t, varied.mask(one, ""), hide, indent); shape != shape1 && len(varied.tokens) < maxTokens {
			t.Fatalf("%s: other hidden values of the same form make another shape", raw)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func docOf(tb testing.TB, text string) Doc {
	tb.Helper()
	doc, err := Read([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return doc
}

func shapeOf(d Doc, hide Hidden) string {
	var b strings.Builder
	d.WriteShape(&b, hide)
	return b.String()
}

var kinds = map[string]Hidden{
	"name": HideName, "identity": HideIdentity, "ordinal": HideOrdinal, "hostname": HideHostname, "node": HideNode, "token": HideToken, "claim": HideClaim, "index": HideIndex,
}

func TestShapeWithoutHidingIsTheBytes(t *testing.T) {
	for _, text := range []string{deploymentPod, replica(1)} {
		if got := shapeOf(docOf(t, text), 0); got != text {
			t.Errorf("got %s", got)
		}
		if got := docOf(t, text).HiddenTexts(0); got != nil {
			t.Errorf("got %q", got)
		}
	}
	if got := shapeOf(Doc{}, HideAll); got != "" {
		t.Errorf("no pod has the shape %q", got)
	}
}

func TestReplicasAreAlike(t *testing.T) {
	one, two := docOf(t, replica(1)), docOf(t, replica(2))
	if a, b := shapeOf(one, HideAll), shapeOf(two, HideAll); a != b {
		t.Errorf("%q\n%q", a, b)
	}
	for name, kind := range kinds {
		if shapeOf(one, HideAll&^kind) == shapeOf(two, HideAll&^kind) {
			t.Errorf("the %s is hidden by another kind", name)
		}
	}
}

func TestMarksDiffer(t *testing.T) {
	seen := map[string]bool{}
	note := func(kind Hidden, number int) {
		m := string(mark(kind, number))
		if seen[m] || m[0] != 0 {
			t.Errorf("%q stands for two", m)
		}
		seen[m] = true
	}
	for _, kind := range kinds {
		for n := range maxTokens {
			if n == 0 || kind == HideToken {
				note(kind, n)
			}
		}
	}
}

// hiding are objects with what is hidden of them.
var hiding = map[string]struct {
	hide  Hidden
	pod   string
	texts []string
}{
	"name":                  {HideName, `{"metadata":{"name":"a\"b\u00e9"}}`, []string{"a\"b\u00e9"}},
	"no string":             {HideAll, `{"metadata":{"name":1,"uid":null,"labels":{"apps.kubernetes.io/pod-index":0},"creationTimestamp":null},"spec":{"hostname":{"name":"x"}}}`, nil},
	"escaped names":         {HideAll, `{"metadata":{"n\u0061me":"a","\u0075id":"a"},"spec":{"h\u006fstname":"a","volumes":[{"n\u0061me":"kube-api-access-abcde"}]}}`, nil},
	"escaped ways":          {HideAll, `{"m\u0065tadata":{"name":"a"},"sp\u0065c":{"hostname":"a"}}`, nil},
	"whitespace":            {HideAll, "{ \"metadata\" : { \"name\" : \"a\" , \"uid\"\n: \"b\" } ,\"spec\":\t{ \"hostname\" : \"c\" } }", []string{"a", "b", "c"}},
	"other names":           {HideAll, `{"name":"a","hostname":"a","metadata":{"generateName":"a","namespace":"a","Name":"a","name ":"a","spec":{"hostname":"a"}},"Metadata":{"name":"a"},"spec":{"nodeName":"a","metadata":{"name":"a"}}}`, nil},
	"lists for objects":     {HideAll, `{"metadata":[{"name":"a"}],"spec":[{"hostname":"a"}]}`, nil},
	"objects for lists":     {HideAll, `{"metadata":{"ownerReferences":{"uid":"a"},"managedFields":{"time":"2026-01-02T03:04:05Z"}},"spec":{"volumes":{"name":"kube-api-access-abcde"},"containers":{"volumeMounts":[{"name":"kube-api-access-abcde"}]}}}`, nil},
	"empty":                 {HideAll, `{"metadata":{"name":""},"spec":{"hostname":""}}`, []string{"", ""}},
	"identity":              {HideIdentity, `{"metadata":{"uid":"a","resourceVersion":"b","ownerReferences":[{"name":"x","uid":"c"},{"uid":"d","controller":true},"uid"],"managedFields":[{"uid":"x","time":"2026-01-02T03:04:05Z"}]}}`, []string{"a", "b", "c", "d", "2026-01-02T03:04:05Z"}},
	"times":                 {HideIdentity, `{"metadata":{"creationTimestamp":"2024-02-29T23:59:59Z","managedFields":[{"time":"2023-02-29T23:59:59Z"},{"time":"2026-01-02T03:04:60Z"},{"time":"2026-01-02T24:04:00Z"},{"time":"2026-01-02T03:04:05.5Z"},{"time":"2026-01-02T03:04:05+00:00"},{"time":"2026-01-02 03:04:05Z"},{"time":"2026-01-02T03:04:05z"},{"time":"2026-1-02T03:04:005Z"},{"time":""},{"time":"02026-01-02T03:04:0Z"},{"time":"2026-01-02T03:04:05\u005a"},{"time":"\u0032026-01-02T03:Z"},{"time":"abcdefghijklmnopqrsZ"}]}}`, []string{"2024-02-29T23:59:59Z"}},
	"ordinals":              {HideOrdinal, `{"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":"a","apps.kubernetes.io/pod-index":"b","batch.kubernetes.io/job-completion-index":"c","batch.kubernetes.io/job-name":"x"}}}`, []string{"a", "b", "c"}},
	"index":                 {HideIndex, `{"metadata":{"annotations":{"batch.kubernetes.io/job-completion-index":"d","x":"x"}}}`, []string{"d"}},
	"labels as annotations": {HideOrdinal, `{"metadata":{"annotations":{"statefulset.kubernetes.io/pod-name":"x","apps.kubernetes.io/pod-index":"x"}},"labels":{"apps.kubernetes.io/pod-index":"x"},"spec":{"nodeSelector":{"apps.kubernetes.io/pod-index":"x"}}}`, nil},
	"node":                  {HideNode, `{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"values":["x"]}],"matchFields":[{"key":"x","values":["a",1,"b"]},{"values":["c"]}]},{"matchFields":[{"values":["d"]}]}]},"preferredDuringSchedulingIgnoredDuringExecution":[{"preference":{"matchFields":[{"values":["x"]}]}}]},"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"values":["x"]}]}]}}}}}`, []string{"a", "b", "c", "d"}},
	"claim":                 {HideClaim, `{"spec":{"volumes":[{"name":"x","persistentVolumeClaim":{"claimName":"a","readOnly":true}},{"persistentVolumeClaim":{"claimName":"b"},"claimName":"x"},{"persistentVolumeClaim":"claimName"}]}}`, []string{"a", "b"}},
	"claim templates":       {HideAll, `{"spec":{"volumes":[{"name":"x","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"x","uid":"x","labels":{"apps.kubernetes.io/pod-index":"x"}},"spec":{"hostname":"x"}}}}]}}`, nil},
	"tokens": {HideToken, `{"spec":{"containers":[{"name":"kube-api-access-00000","volumeMounts":[{"name":"kube-api-access-abcde"},{"name":"data"}]}],"initContainers":[{"volumeMounts":[{"name":"kube-api-access-09z4a"}]}],"ephemeralContainers":[{"volumeMounts":[{"name":"kube-api-access-abcde"}]}],"volumes":[{"name":"kube-api-access-abcde"},{"name":"kube-api-access-vwxyz"}]}}`,
		[]string{"kube-api-access-abcde", "kube-api-access-09z4a", "kube-api-access-vwxyz"}},
	"no tokens": {HideToken, `{"spec":{"volumes":[{"name":"kube-api-access-abcdef"},{"name":"kube-api-access-abcd"},{"name":"kube-api-access-Abcde"},{"name":"kube-api-access-ab-de"},{"name":"kube-api-access-"},{"name":"kube-api-acces-abcdef"},{"name":"xkube-api-access-abcde"},{"name":"kube-api-access-ab\u0063de"},{"name":"kube-api-access-abcdé"},{"configMap":{"name":"kube-api-access-abcde"}}],"containers":[{"volumeDevices":[{"name":"kube-api-access-abcde"}],"env":[{"name":"kube-api-access-abcde"}],"volumeMounts":[{"mountPath":"kube-api-access-abcde"}]}]}}`, nil},
}

func TestHiddenTexts(t *testing.T) {
	for name, c := range hiding {
		t.Run(name, func(t *testing.T) {
			raw := []byte(c.pod)
			if value, err := Decode(raw); err != nil {
				t.Fatal(value, err)
			}
			doc := Doc{raw: raw}
			if diff := cmp.Diff(c.texts, doc.HiddenTexts(c.hide)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got := shapeOf(doc, c.hide); (got == c.pod) != (c.texts == nil) {
				t.Errorf("the shape is %q", got)
			}
			if got := shapeOf(doc, HideAll&^c.hide); c.hide != HideAll && got != c.pod {
				t.Errorf("another kind hides: %q", got)
			}
		})
	}
}

func TestTokensAreExchangedOneForOne(t *testing.T) {
	of := func(tokens ...string) Doc {
		return docOf(t, fmt.Sprintf(`{"spec":{"volumes":[{"name":"kube-api-access-%s"},{"name":"kube-api-access-%s","emptyDir":{}}],"containers":[{"volumeMounts":[{"name":"kube-api-access-%s"}]}]}}`, tokens[0], tokens[1], tokens[2]))
	}
	first := shapeOf(of("aaaaa", "bbbbb", "aaaaa"), HideToken)
	for alike, docs := range map[bool][]Doc{
		true:  {of("bbbbb", "aaaaa", "bbbbb"), of("xxxxx", "yyyyy", "xxxxx"), of("bbbbb", "xxxxx", "bbbbb")},
		false: {of("aaaaa", "bbbbb", "bbbbb"), of("bbbbb", "aaaaa", "aaaaa"), of("aaaaa", "aaaaa", "aaaaa"), of("aaaaa", "bbbbb", "ccccc")},
	} {
		for _, doc := range docs {
			if (shapeOf(doc, HideToken) == first) != alike {
				t.Errorf("%s: alike is %v", doc.Raw(), !alike)
			}
		}
	}
}

func TestTokensBeyondTheBoundStay(t *testing.T) {
	var names []string
	for n := range maxTokens + 2 {
		names = append(names, fmt.Sprintf(`{"name":"%s%05d"}`, TokenVolume, n))
	}
	doc := docOf(t, `{"spec":{"volumes":[`+strings.Join(append(names, names...), ",")+`]}}`)
	if got := doc.HiddenTexts(HideAll); len(got) != maxTokens {
		t.Errorf("%d hidden", len(got))
	}
	if got := shapeOf(doc, HideAll); strings.Count(got, TokenVolume) != 4 || strings.Count(got, "\x000") != 2 {
		t.Errorf("got %q", got)
	}
}

// Whatever the bytes: what is hidden are strings, one behind the other, and the rest is written as it is.
func FuzzShapeOfAnything(f *testing.F) {
	for _, c := range hiding {
		f.Add([]byte(c.pod))
	}
	for _, seed := range []string{deploymentPod, replica(1), `{"metadata":{"name":"a`, `{"metadata":{"name":"`, `{"metadata":{"creationTimestamp":"\`, `{"spec":{"volumes":[{"name":"kube-api-access-abcd\"`, `{"metadata":{"name"}`, `{"metadata":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rest, end := shapeOf(Doc{raw: raw}, HideAll), 0
		find := finder{scanner: scanner{raw: raw}, hide: HideAll}
		find.tell = func(kind Hidden, number int, at span) {
			if at.from < end || at.to < at.from+2 || at.to > len(raw) || raw[at.from] != '"' {
				t.Fatalf("%q: %v is no string behind %d", raw, at, end)
			}
			var ok bool
			if rest, ok = strings.CutPrefix(rest, string(raw[end:at.from])+string(mark(kind, number))); !ok {
				t.Fatalf("%q: no mark for %v", raw, at)
			}
			end = at.to
		}
		if find.pod(); rest != string(raw[end:]) {
			t.Fatalf("%q: the shape ends in %q", raw, rest)
		}
		_ = Doc{raw: raw}.HiddenTexts(HideAll)
	})
}

func BenchmarkShape(b *testing.B) {
	digest := sha256.New()
	for name, text := range map[string]string{"deployment": deploymentPod, "statefulset": replica(1), "large": crowded()} {
		doc := docOf(b, text)
		for way, write := range map[string]func(){
			"shape":  func() { doc.WriteShape(digest, HideAll) },
			"digest": func() { digest.Write(doc.Raw()) },
		} {
			b.Run(name+"/"+way, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					digest.Reset()
					write()
				}
			})
		}
	}
}

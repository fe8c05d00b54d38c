// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

func TestParseNamesTheField(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"nothing":       {``, "no object"},
		"null":          {`null`, "no object"},
		"label number":  {`{"metadata":{"labels":{"a/b":1}}}`, "metadata.labels[a/b]: a JSON number cannot be read as a string"},
		"host network":  {`{"spec":{"hostNetwork":"yes"}}`, "spec.hostNetwork: a JSON string cannot be read as a boolean"},
		"metadata list": {`{"metadata":[]}`, "metadata: a JSON array cannot be read as an object"},
		"duplicate key": {`{"spec":{},"spec":{}}`, "spec: duplicate object member name"},
	}
	for name, c := range cases {
		_, err := Parse([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestParseReadsNullsAsAbsent(t *testing.T) {
	d, err := Parse([]byte(`{"metadata":{"labels":null,"annotations":null,"ownerReferences":null},"spec":{"nodeSelector":null,"os":null,"affinity":null}}`))
	if err != nil || d.Head().Metadata.Labels != nil {
		t.Fatalf("got %+v, %v", d.Head(), err)
	}
}

func TestTypedReadsWhatTheAPIWrites(t *testing.T) {
	in := `{"metadata":{"name":"a","creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}},"livenessProbe":{"httpGet":{"port":"http"}}}],"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}]}}`
	tree, err := Decode([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Typed(tree.(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	var want corev1.Pod
	if err := json.Unmarshal([]byte(in), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

// The API's own decoder would not return from this quantity.
func TestTypedGuardsQuantities(t *testing.T) {
	for _, in := range []string{
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":"1e-999999999"}}}]}}`,
		`{"spec":{"overhead":{"memory":"1e999999999"}}}`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":1e-999999999}}]}}`,
	} {
		tree, err := Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Typed(tree.(map[string]any)); err == nil || !strings.Contains(err.Error(), "quantity") {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	in := `[0,-1,9223372036854775807,9223372036854775808,1e3,1.0,-0,0.10]`
	value, err := Decode([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(Encode(value)); got != in {
		t.Errorf("got %s, want %s", got, in)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	value, _ := Decode([]byte(`{"a":{"b":[1,{"c":2}]},"n":null}`))
	was := string(Encode(value))
	c := Clone(value).(map[string]any)
	c["a"].(map[string]any)["b"].([]any)[1].(map[string]any)["c"] = int64(3)
	if got := string(Encode(value)); got != was {
		t.Errorf("the original changed to %s", got)
	}
}

// FuzzDecode holds the tree to encoding/json: what both read is the same document.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true]}`, `{"a":1,"a":2}`, `"\ud800"`, `[1`, `{} {}`, `{"metadata":{"name":"x"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		_, _ = Parse(in)
		value, err := Decode(in)
		if err != nil {
			return
		}
		out := Encode(value)
		again, err := Decode(out)
		if err != nil || !Equal(value, again) {
			t.Fatalf("%q was written as %q, which reads as something else: %v", in, out, err)
		}
		var a, b any
		if json.Unmarshal(in, &a) == nil {
			if err := json.Unmarshal(out, &b); err != nil || !cmp.Equal(a, b) {
				t.Fatalf("%q and %q differ: %v", in, out, err)
			}
		}
	})
}

// FuzzCheck holds the schema to the API's own strict decoder: Check complains exactly where the
// decoder does.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":80}]}]}}`,
		`{"spec":{"contaiers":[]}}`, `{"spec":{"containers":{}}}`, `{"spec":{"containers":[{"name":1}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":1,"memory":"1Gi"}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":"http"},"periodSeconds":1.5}}]}}`,
		`{"spec":{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"x"}}],"terminationGracePeriodSeconds":"1"}}`,
		`{"spec":{"hostNetwork":1,"tolerations":[null],"overhead":{"cpu":null}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		value, err := Decode(in)
		tree, ok := value.(map[string]any)
		if err != nil || !ok || len(in) > 4096 || strings.Contains(string(in), "creationTimestamp") || strings.Contains(string(in), "Time") {
			return // times have a grammar of their own, which the schema does not judge
		}
		faults := Schema().Check(tree)
		if hasQuantityFault(faults) {
			return // the guard is stricter than the parser, which may not return
		}
		var typed corev1.Pod
		strict, err := kjson.UnmarshalStrict(in, &typed)
		if (err != nil || len(strict) > 0) != (len(faults) > 0) {
			t.Fatalf("%s: the decoder says %v %v, the schema %v", in, err, strict, faults)
		}
	})
}

func hasQuantityFault(faults []Fault) bool {
	for _, f := range faults {
		if strings.Contains(f.Detail, "quantity") || strings.Contains(f.Detail, "exponent") {
			return true
		}
	}
	return false
}

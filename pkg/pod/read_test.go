// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// odd are documents that Read leaves to Parse.
var odd = []string{
	``, ` `, `null`, ` null `, `[]`, `"x"`, `1`, `true`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":"x"}`, `{"spec":1}`, `{"spec":null}`,
	`{"metadata":{"labels":{"a/b":1}}}`, `{"metadata":{"labels":{"a":null}}}`, `{"metadata":{"labels":null,"annotations":null,"ownerReferences":null}}`,
	`{"metadata":{"labels":[]}}`, `{"metadata":{"name":null,"namespace":null}}`, `{"metadata":{"name":{}}}`, `{"metadata":{"generateName":[1,"x"]}}`,
	`{"metadata":{"ownerReferences":{}}}`, `{"metadata":{"ownerReferences":[null]}}`, `{"metadata":{"ownerReferences":[{"controller":null}]}}`,
	`{"metadata":{"ownerReferences":[{"controller":"true"}]}}`, `{"metadata":{"ownerReferences":[{"uid":1}]}}`, `{"metadata":{"ownerReferences":[["x"]]}}`,
	`{"spec":{"hostNetwork":"yes"}}`, `{"spec":{"hostNetwork":null}}`, `{"spec":{"nodeName":1}}`, `{"spec":{"nodeSelector":null,"os":null,"affinity":null}}`,
	`{"spec":{"os":"linux"}}`, `{"spec":{"os":{"name":null}}}`, `{"spec":{"affinity":"x"}}`, `{"spec":{"affinity": [ 1 ]}}`,
	`{"met\u0061data":{"name":"a"}}`, `{"metadata":{"n\u0061me":"a"}}`, `{"spec":{"host\u004eetwork":true}}`, `{"spec":{"os":{"n\u0061me":"linux"}}}`,
	`{"metadata":{"ownerReferences":[{"\u0075id":"a"}]}}`, `{"metadata":{"\n":1}}`,
}

// regular are documents that Read reads by itself.
var regular = []string{
	deploymentPod, replica(1), `{}`, ` { } `, `{"metadata":{},"spec":{}}`, `{"status":{"metadata":{"name":1}},"kind":"Pod"}`,
	`{"metadata":{"labels":{},"annotations":{},"ownerReferences":[]},"spec":{"nodeSelector":{},"os":{},"affinity":{}}}`,
	"\n{\t\"metadata\" :\r{ \"labels\" : { \"a\" : \"b\" , \"c\":\"d\" } , \"name\":\"x\" } , \"spec\": { \"hostNetwork\" : true , \"affinity\" : { \"a\" : [ 1 ] } } } \n",
	`{"metadata":{"annotations":{"a\u002fb":"\ud83d\ude00\n\"\\","é":"\u0000"},"name":"caf\u00e9"}}`,
	`{"metadata":{"managedFields":[{"fieldsV1":{"k:{\"name\":\"a\\\\\"}":{}}}],"name":"late"}}`,
	`{"metadata":{"Name":1,"LABELS":2,"creationTimestamp":null}}`, `{"metadata":{"labels":{"":""}}}`,
	`{"metadata":{"ownerReferences":[{},{"controller":false,"name":"a","kind":"b","apiVersion":"c","uid":"d","x":[{}]},{"controller":true}]}}`,
	`{"spec":{"nodeName":"n","hostNetwork":false,"os":{"name":"windows","x":{"name":1}},"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}}`,
}

// same tells how Read and Parse differ in what they make of valid bytes.
func same(raw []byte) error {
	want, wanted := Parse(raw)
	got, err := Read(raw)
	if fmt.Sprint(err) != fmt.Sprint(wanted) {
		return fmt.Errorf("Read says %v, Parse %v", err, wanted)
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("Read gives %+v, Parse %+v", got.Head(), want.Head())
	}
	return nil
}

func TestReadIsParse(t *testing.T) {
	for _, doc := range append(odd, regular...) {
		if err := same([]byte(doc)); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestReadLeavesOnlyWhatIsOddToParse(t *testing.T) {
	for want, docs := range map[bool][]string{true: odd, false: regular} {
		for _, doc := range docs {
			r := reader{scanner: scanner{raw: []byte(doc)}, head: new(Head)}
			if r.pod(); r.odd != want {
				t.Errorf("%s: odd is %v", doc, r.odd)
			}
		}
	}
}

// crowded has 10,000 annotations, a long one full of escapes among them, and 1.5 MB.
func crowded() string {
	var b strings.Builder
	b.WriteString(`{"metadata":{"annotations":{"long":"` + strings.Repeat(`\"\\\n{`, 100_000) + `"`)
	for i := range 10_000 {
		fmt.Fprintf(&b, `,"example.com/annotation-%d":"%s"`, i, strings.Repeat("v", 40))
	}
	b.WriteString(`}},"spec":{"containers":[`)
	for i := range 10_000 {
		fmt.Fprintf(&b, `{"volumeMounts":[{"name":"%s%05d"}]},`, TokenVolume, i)
	}
	return b.String() + `{}]}}`
}

func TestReadNoticesWhatIsNoPod(t *testing.T) {
	for _, doc := range []string{
		`{} {}`, `{`, `{"metadata":{"name":"a"}`, `{"metadata":{"labels":{"a"}}}`, `{"metadata":{"name":"\ud800"}}`, `{"metadata":{"name" "a"}}`,
		`{"metadata":{"ownerReferences":[{"x":1","]],":":0","uid":"found behind the list"}}`,
	} {
		if _, err := Read([]byte(doc)); err == nil {
			t.Errorf("%s was read", doc)
		}
	}
}

func TestReadOfALargePod(t *testing.T) {
	if raw := []byte(crowded()); len(raw) < 3<<19 {
		t.Errorf("only %d bytes", len(raw))
	} else if err := same(raw); err != nil {
		t.Error(err)
	}
}

// FuzzRead holds Read to Parse: equal heads of what Parse accepts, equal errors where the JSON is valid, and
// no panic in any case.
func FuzzRead(f *testing.F) {
	for _, seed := range append(odd, regular...) {
		f.Add([]byte(seed))
	}
	for _, seed := range []string{
		`{"metadata":{"name":"\ud800"}}`, `{"metadata":{"name":"\xff"}}`, `{"metadata":{"name":"a"}`, `{"metadata":{"labels":{"a"`, `{"metadata":{"name":"a","name":"b"}}`,
		`{"metadata":{"ownerReferences":[{\"],"name":"a"}}`, `{"metadata":{"ownerReferences":[{"x":1","]],":":0","uid":"found behind the list"}}`, `{} {}`, `{,}`, `{"a"}`, `{"spec":{"os":{"name":tru`, `{"spec":{"affinity":{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := Parse(raw)
		if err != nil && !jsontext.Value(raw).IsValid() {
			_, _ = Read(raw)
			return
		}
		if err := same(raw); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	large := crowded()
	for name, doc := range map[string]string{"typical": deploymentPod, "large": large} {
		for way, read := range map[string]func([]byte) (Doc, error){"read": Read, "parse": Parse} {
			b.Run(name+"/"+way, func(b *testing.B) {
				raw := []byte(doc)
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := read(raw); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

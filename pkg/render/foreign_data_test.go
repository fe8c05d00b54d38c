// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// paint is an enumeration with a name for each value, as generated code has them.
type paint int32

func (p paint) String() string { return []string{"RED", "GREEN", "BLUE"}[p] }

type wheel struct {
	Size  int64
	Spare *wheel
	Names []string
}

func (w *wheel) GetSize() int64 {
	if w == nil {
		return -1
	}
	return w.Size
}

func (w *wheel) GetSpare() *wheel {
	if w == nil {
		return nil
	}
	return w.Spare
}

func (w wheel) Half() (int64, error) {
	if w.Size%2 == 1 {
		return 0, errors.New("odd")
	}
	return w.Size / 2, nil
}

func (w *wheel) Grow()             { w.Size++ }
func (w *wheel) With(n int) *wheel { return &wheel{Size: n64(n)} }

func n64(n int) int64 { return int64(n) }

type label string

type frame struct {
	Material string
	hidden   int
}

// bike is data as a dialect may have it.
type bike struct {
	frame
	Frame   *frame
	Front   *wheel
	Rear    wheel
	None    *wheel
	Wheels  []wheel
	Paint   paint
	Paints  []paint
	ByPaint map[string]paint
	Values  map[string]any
	Labels  map[string]string
	NoText  map[string]string
	ByLabel map[label]int
	ByInt   map[int]string
	ByBool  map[bool]string
	Any     any
	Empty   any
	Speaker fmt.Stringer
	Silent  fmt.Stringer
	Name    label
	Text    string
	Count   int
	Long    int64
	Small   int8
	Unsized uint16
	Ratio   float64
	Thin    float32
	Yes     bool
	PtrInt  *int64
	PtrText *string
	NilText *string
	Words   []string
	Items   []any
	Matrix  [2][2]int
	Wait    time.Duration
	Weight  resource.Quantity
	Meta    metav1.ObjectMeta
	Spec    *corev1.PodSpec
	Call    func() string
}

func (b *bike) Revision() string { return "r1" }

func newBike() *bike {
	n, text := int64(42), "pointed"
	front := &wheel{Size: 28, Spare: &wheel{Size: 7, Names: []string{"s"}}, Names: []string{"b", "a"}}
	return &bike{
		frame: frame{"steel", 1}, Frame: &frame{Material: "brass"}, Front: front, Rear: wheel{Size: 26}, Wheels: []wheel{{Size: 4}, {Size: 5}},
		Paint: 1, Paints: []paint{0, 2}, ByPaint: map[string]paint{"x": 2},
		Values: map[string]any{
			"text": "hello", "n": int64(2), "float": 2.0, "big": 15020000.0, "yes": true, "no": false, "null": nil, "empty": "", "zero": 0.0,
			"list": []any{"b", 1.0, nil, []any{"x"}}, "map": map[string]any{"k": "v", "l": map[string]any{"m": 3.5, "null": nil}}, "words": []any{"b", "a"},
			"pilot": map[string]any{"env": map[string]any{"FOO": "bar"}}, "labels": map[string]string{"a": "b"}, "quoted": `say "hi" & <go>`, "url": "https://u:p@host.example:1/p?q#f",
		},
		Labels: map[string]string{"app": "web", "b/c": "d"}, ByLabel: map[label]int{"a": 1}, ByInt: map[int]string{2: "two", 10: "ten", -1: "minus"}, ByBool: map[bool]string{true: "t", false: "f"},
		Any: front, Speaker: paint(2), Name: "named", Text: "some Text, here", Count: 3, Long: 4, Small: 5, Unsized: 6, Ratio: 0.25, Thin: 1.5, Yes: true,
		PtrInt: &n, PtrText: &text, Words: []string{"z", "y"}, Items: []any{int64(1), "two", 3.5, nil, true}, Matrix: [2][2]int{{1, 2}, {3, 4}},
		Wait: 90 * time.Second, Weight: resource.MustParse("128Mi"),
		Meta: metav1.ObjectMeta{Name: "web-1", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a/b": "c"}},
		Spec: &corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}, {Name: "side"}}},
		Call: func() string { return "called" },
	}
}

// everyMethod permits what text/template would call.
func everyMethod(t reflect.Type, name string) bool { return true }

// bikes is a dialect that permits what text/template permits.
func bikes() *Foreign { return &Foreign{Method: everyMethod, Makes: []string{"fresh"}} }

// foreignTemplate compiles a template with some functions of its own.
func foreignTemplate(tb testing.TB, text string) *Template {
	tb.Helper()
	t, findings := Compile(Source{Name: "main", Text: text, Funcs: ownFuncs(), Foreign: bikes()})
	if len(findings) > 0 {
		tb.Fatalf("%s: %v", text, findings)
	}
	return t
}

func ownFuncs() map[string]any {
	return map[string]any{
		"env":     func(key, otherwise string) string { return otherwise },
		"strdict": func(pairs ...string) map[string]string { return map[string]string{"n": fmt.Sprint(len(pairs))} },
		"isset":   func(m map[string]string, key string) bool { _, ok := m[key]; return ok },
		"meta":    func(m metav1.ObjectMeta, key string, otherwise any) string { return m.Name + fmt.Sprint(otherwise) },
		"note": func(m *metav1.ObjectMeta, key string, otherwise any) string {
			return m.Annotations[key] + fmt.Sprint(otherwise)
		},
		"port":    func(port any, list string) string { return fmt.Sprint(port) + list },
		"metaPtr": func(m *metav1.ObjectMeta) string { return fmt.Sprint(m == nil) },
		"spoken":  func(s fmt.Stringer) string { return fmt.Sprint(s) },
		"count":   func(c []corev1.Container) int { return len(c) },
		"half":    func(n float64) (float64, error) { return n / 2, nil },
		"small":   func(n int8, u uint32) string { return fmt.Sprint(n, u) },
		"raw":     func(v reflect.Value, more ...reflect.Value) reflect.Value { return v },
		"kind":    func(v any) string { return fmt.Sprintf("%T", v) },
		"broken":  func() (string, error) { return "", errors.New("it broke") },
		"panics":  func() string { panic("at the disco") },
		"fresh":   func() map[string]any { return map[string]any{"a": 1} },
		"shared":  func(m map[string]any) map[string]any { return m },
	}
}

// theirText is what text/template with Sprig renders.
func theirText(text string, data any) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	t, err := template.New("main").Funcs(sprig.TxtFuncMap()).Funcs(ownFuncs()).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, data)
	return b.String(), err
}

// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// seenData is what a foreign template reads in these tests.
type seenData struct {
	ObjectMeta     metav1.ObjectMeta
	Spec           corev1.PodSpec
	DeploymentMeta metav1.ObjectMeta
	Values         map[string]any
}

const podName = "statefulset.kubernetes.io/pod-name"

// secrets are the paths that the tests ask for, with the place of each in the data.
var secrets = []struct {
	path []string
	set  func(d *seenData, text string)
}{
	{[]string{"ObjectMeta", "Name"}, func(d *seenData, text string) { d.ObjectMeta.Name = text }},
	{[]string{"ObjectMeta", "UID"}, func(d *seenData, text string) { d.ObjectMeta.UID = types.UID(text) }},
	{[]string{"ObjectMeta", "Labels", podName}, func(d *seenData, text string) { d.ObjectMeta.Labels[podName] = text }},
	{[]string{"ObjectMeta", "Labels", "app"}, func(d *seenData, text string) { d.ObjectMeta.Labels["app"] = text }},
	{[]string{"ObjectMeta", "Annotations"}, func(d *seenData, text string) { d.ObjectMeta.Annotations["a"] = text }},
	{[]string{"Spec", "Hostname"}, func(d *seenData, text string) { d.Spec.Hostname = text }},
	{[]string{"Spec", "Volumes"}, func(d *seenData, text string) { d.Spec.Volumes[0].Name = text }},
	{[]string{"Spec", "Containers", "Name"}, func(d *seenData, text string) { d.Spec.Containers[0].Name = text }},
	{[]string{"Spec", "Containers", "VolumeMounts"}, func(d *seenData, text string) { d.Spec.Containers[0].VolumeMounts[0].Name = text }},
}

func newSeenData() *seenData {
	d := &seenData{
		ObjectMeta: metav1.ObjectMeta{
			Name: "name", UID: "uid", Labels: map[string]string{podName: "zero", "app": "web"}, Annotations: map[string]string{"a": "b"},
		},
		DeploymentMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}},
		Values:         map[string]any{"a": map[string]any{"Name": "value"}},
	}
	d.Spec.Hostname = "host"
	d.Spec.Volumes = []corev1.Volume{{Name: "volume"}}
	d.Spec.Containers = []corev1.Container{{Name: "app", VolumeMounts: []corev1.VolumeMount{{Name: "volume"}}}, {Name: "other"}}
	return d
}

func seenTemplate(t testing.TB, text string) *Template {
	t.Helper()
	code, findings := Compile(Source{
		Name: "main", Text: text,
		Funcs: map[string]any{
			"annotation": func(m metav1.ObjectMeta, key string) string { return m.Annotations[key] },
			"names": func(list []corev1.Container) string {
				var out []string
				for _, c := range list {
					out = append(out, c.Name)
				}
				return strings.Join(out, ",")
			},
			"dump": func(v any) string { return fmt.Sprintf("%+v", v) },
		},
		Narrow: map[string]map[int][]string{"annotation": {0: {"Annotations"}}, "names": {0: {"Name"}}},
		Foreign: &Foreign{Method: func(t reflect.Type, name string) bool {
			return t == reflect.TypeFor[metav1.ObjectMeta]() && name == "GetName"
		}},
	})
	if len(findings) > 0 {
		return nil
	}
	return code
}

func TestSees(t *testing.T) {
	name := func(i int) string { return strings.Join(secrets[i].path, ".") }
	all := make([]string, len(secrets))
	for i := range secrets {
		all[i] = name(i)
	}
	tests := map[string]struct {
		reason, text string
		want         []string // of secrets
	}{
		"nothing":    {"literal text", `a {{ "b" }} {{ 1 }}`, nil},
		"owner":      {"a name of something else", `{{ .DeploymentMeta.Name }}{{ .Values.a.Name }}`, nil},
		"field":      {"a field", `{{ .ObjectMeta.Name }}`, all[:1]},
		"dollar":     {"the data by its variable", `{{ with "x" }}{{ $.Spec.Hostname }}{{ end }}`, all[5:6]},
		"if":         {"empty or not", `{{ if .Spec.Hostname }}x{{ end }}`, all[5:6]},
		"if map":     {"a map is there, whatever it holds", `{{ if .ObjectMeta.Labels }}x{{ end }}`, nil},
		"key":        {"one key of a map", `{{ index .ObjectMeta.Labels "app" }}`, all[3:4]},
		"dotted":     {"one key as a field", `{{ .ObjectMeta.Labels.app }}`, all[3:4]},
		"any key":    {"a key that is not known", `{{ index .ObjectMeta.Labels .DeploymentMeta.Name }}`, all[2:4]},
		"piped key":  {"a key through a pipe", `{{ "app" | index .ObjectMeta.Labels }}`, all[2:4]},
		"map":        {"a map as a whole", `{{ dump .ObjectMeta.Labels }}`, all[2:4]},
		"meta":       {"all metadata", `{{ dump .ObjectMeta }}`, all[:5]},
		"all":        {"everything", `{{ dump . }}`, all},
		"print":      {"everything, printed", `{{ . }}`, all},
		"range":      {"a field of each item", `{{ range .Spec.Containers }}{{ .Name }}{{ end }}`, all[7:8]},
		"range item": {"each item as a whole", `{{ range .Spec.Containers }}{{ . }}{{ end }}`, all[7:9]},
		"range vars": {"index and item", `{{ range $i, $c := .Spec.Containers }}{{ $i }}{{ $c.Name }}{{ end }}`, all[7:8]},
		"range map":  {"each value of a map", `{{ range $k, $v := .ObjectMeta.Labels }}{{ $v }}{{ end }}`, all[2:4]},
		"range test": {"whether a value of a map is empty", `{{ range $k, $v := .ObjectMeta.Labels }}{{ if $v }}{{ $k }}{{ end }}{{ end }}`, all[2:4]},
		"range len":  {"how long a value of a map is", `{{ range .ObjectMeta.Labels }}{{ len . }}{{ end }}`, all[2:4]},
		"range with": {"a value of a map as the dot", `{{ range .ObjectMeta.Labels }}{{ with . }}x{{ end }}{{ end }}`, all[2:4]},
		"range keys": {"only the keys", `{{ range $k, $v := .ObjectMeta.Labels }}{{ $k }}{{ end }}`, nil},
		"with":       {"another dot", `{{ with .Spec }}{{ .Hostname }}{{ end }}`, all[5:6]},
		"else":       {"the old dot again", `{{ with .Spec.Hostname }}{{ else }}{{ .ObjectMeta.Name }}{{ end }}`, []string{all[0], all[5]}},
		"variable":   {"a variable", `{{ $m := .ObjectMeta }}{{ $m.Name }}`, all[:1]},
		"assigned":   {"one of two values", `{{ $m := .DeploymentMeta }}{{ if .Values }}{{ $m = .ObjectMeta }}{{ end }}{{ $m.Name }}`, all[:1]},
		"or":         {"one of several", `{{ (or .DeploymentMeta .ObjectMeta).Name }}`, all[:1]},
		"default":    {"a function's argument", `{{ .Spec.Hostname | default "x" }}`, all[5:6]},
		"len":        {"how many", `{{ len .Spec.Volumes }}`, all[6:7]},
		"length":     {"how long", `{{ len .Spec.Hostname }}`, all[5:6]},
		"item":       {"an item by its number", `{{ (index .Spec.Volumes 0).Name }}`, all[6:7]},
		"byte":       {"a byte of a text", `{{ index .Spec.Hostname 0 }}`, all[5:6]},
		"compare":    {"a comparison", `{{ if eq .ObjectMeta.Name "a" }}x{{ end }}`, all[:1]},
		"narrow":     {"a function that reads a part", `{{ annotation .ObjectMeta "a" }}{{ names .Spec.Containers }}`, []string{all[4], all[7]}},
		"method":     {"a getter", `{{ .ObjectMeta.GetName }}`, all[:5]},
		"define":     {"through another template", `{{ define "x" }}{{ .Name }}{{ end }}{{ template "x" .ObjectMeta }}`, all[:1]},
		"define all": {"through another template, all", `{{ define "x" }}{{ .ObjectMeta.Name }}{{ end }}{{ template "x" . }}`, all[:1]},
		"recursion":  {"a template that invokes itself", `{{ define "x" }}{{ .Name }}{{ template "x" .Child }}{{ end }}{{ template "x" .Spec }}`, all[7:8]},
		"unused":     {"a variable that nobody reads", `{{ $m := .ObjectMeta.Name }}`, nil},
		"dead":       {"a template that nobody invokes", `{{ define "x" }}{{ .ObjectMeta.Name }}{{ end }}`, nil},
		"chain":      {"a chain", `{{ (.ObjectMeta).Name }}`, all[:1]},
	}
	for test, tt := range tests {
		t.Run(test, func(t *testing.T) {
			code := seenTemplate(t, tt.text)
			if code == nil {
				t.Fatal("it does not compile")
			}
			for i, s := range secrets {
				if got, want := code.Sees(s.path...), slices.Contains(tt.want, name(i)); got != want {
					t.Errorf("%s: sees %s: %t", tt.reason, name(i), got)
				}
			}
		})
	}
}

// seenGrammar are pieces of templates; X and Y stand for further ones.
var seenGrammar = map[byte][]string{
	'T': {"", "{{ E }}", "{{ E }}", "T T", "{{ if E }}T{{ else }}T{{ end }}", "{{ with E }}T{{ else }}T{{ end }}", "{{ range E }}T{{ end }}", "{{ range $i, $v := E }}T{{ $v }}{{ end }}",
		"{{ $v := E }}T{{ $v.Name }}", "{{ $v = E }}T", `{{ template "x" E }}`, "{{ $w := E }}{{ range $w }}T{{ end }}"},
	'E': {".", "$", "$v", "$v.Name", ".Name", ".ObjectMeta", "$.ObjectMeta.Name", ".ObjectMeta.Labels", "$.ObjectMeta.Labels.app", "$.Spec", ".Hostname", "$.Spec.Hostname", "$.Spec.Containers", "$.Spec.Volumes", ".VolumeMounts",
		"(index E K)", "(or E E)", "(and E E)", "(len E)", "(dump E)", "(names E)", "(annotation E `a`)", "(E | default E)", "(eq E E)", "(printf `%v` E)", "(not E)", "$.DeploymentMeta", "$.DeploymentMeta.Name", "$.Values", "(first E)", "(dict `Name` E)"},
	'K': {"`app`", "`Name`", "0", "`" + podName + "`", "E"},
}

// grow makes a template, deterministic by the source of numbers.
func grow(r *rand.Rand, symbol byte, depth int) string {
	options := seenGrammar[symbol]
	if depth == 0 {
		options = options[:3]
	}
	var b strings.Builder
	for _, c := range []byte(options[r.IntN(len(options))]) {
		if _, ok := seenGrammar[c]; ok {
			b.WriteString(grow(r, c, max(0, depth-1)))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// FuzzSees: what a template does not see makes no difference.
func FuzzSees(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, "other")
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		r := rand.New(rand.NewPCG(seed, 0))
		// Symbols are single letters, so the pieces spell no word with one of them in capitals alone.
		source := `{{ $v := "" }}` + grow(r, 'T', 6) + `{{ define "x" }}` + `{{ $v := "" }}` + grow(r, 'T', 4) + `{{ end }}`
		code := seenTemplate(t, source)
		if code == nil {
			return
		}
		want, wantErr := seenText(code, newSeenData())
		for _, s := range secrets {
			if code.Sees(s.path...) {
				continue
			}
			d := newSeenData()
			s.set(d, text+"x")
			if got, err := seenText(code, d); got != want || err != wantErr {
				t.Fatalf("%s\nshould not see %v, renders\n%s %s\nand\n%s %s", source, s.path, want, wantErr, got, err)
			}
		}
	})
}

func seenText(code *Template, d *seenData) (text, fault string) {
	text, _, err := code.Text(d)
	if err != nil {
		fault = err.Error()
	}
	return text, fault
}

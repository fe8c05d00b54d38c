// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// writer makes templates out of bytes, such that most of them run.
type writer struct {
	bytes []byte
	depth int
	vars  int
	defs  int
	out   strings.Builder

	other func(*writer) string // makes the expressions in place of expr
}

func (w *writer) pick(n int) int {
	if len(w.bytes) == 0 {
		return 0
	}
	b := w.bytes[0]
	w.bytes = w.bytes[1:]
	return int(b) % n
}

func (w *writer) expr() string {
	if w.other != nil {
		return w.other(w)
	}
	atoms := []string{`"x"`, "3", "0", "true", "1.5", `""`, ".Values.text", ".Values.n", ".Values.yes", "$.Values.map.k", `(index $.Values.list 1)`, "$.Revision", "$.Values.list", "$.Values.map", ".", "$", "'c'", "0x1F", "1e3", "$.Values.none"}
	if w.vars > 0 {
		atoms = append(atoms, fmt.Sprintf("$v%d", w.pick(w.vars)))
	}
	if w.depth > 3 {
		return atoms[w.pick(len(atoms))]
	}
	w.depth++
	defer func() { w.depth-- }()
	a, b := func() string { return w.expr() }, func() string { return "(" + w.expr() + ")" }
	switch w.pick(24) {
	case 0:
		return "eq " + b() + " " + b()
	case 1:
		return "ne " + b() + " " + b()
	case 2:
		return "lt " + b() + " " + b()
	case 3:
		return "and " + b() + " " + b()
	case 4:
		return "or " + b() + " " + b() + " " + b()
	case 5:
		return "not " + b()
	case 6:
		return "len " + b()
	case 7:
		return "print " + b() + " " + b()
	case 8:
		return `printf "%v-%v" ` + b() + " " + b()
	case 9:
		return a() + " | default " + b()
	case 10:
		return a() + " | or " + b()
	case 11:
		return a() + " | toString | upper"
	case 12:
		return "list " + b() + " " + b()
	case 13:
		return "index " + b() + " " + b()
	case 14:
		return "list " + b() + " " + b() + " | first"
	case 15:
		return `dict "k" ` + b()
	case 16:
		return `(dict "k" ` + b() + ").k"
	case 17:
		return "ge " + b() + " " + b()
	case 18:
		return a() + " | toJson"
	case 19:
		return `list ` + b() + ` | join ","`
	case 20:
		return "ternary " + b() + " " + b() + " " + b()
	}
	return atoms[w.pick(len(atoms))]
}

func (w *writer) statements() {
	for range 1 + w.pick(3) {
		w.statement()
	}
}

func (w *writer) statement() {
	if w.depth > 3 {
		w.out.WriteString("t")
		return
	}
	w.depth++
	vars := w.vars
	switch w.pick(10) {
	case 0:
		w.block("{{if " + w.expr() + "}}")
	case 1:
		w.block("{{with " + w.expr() + "}}")
	case 2:
		w.block("{{range " + w.expr() + "}}")
	case 3:
		pipe := w.expr()
		w.vars += 2
		w.block(fmt.Sprintf("{{range $v%d, $v%d := %s}}", w.vars-2, w.vars-1, pipe))
	case 4:
		pipe := w.expr()
		w.vars++
		w.block(fmt.Sprintf("{{with $v%d := %s}}", w.vars-1, pipe))
	case 5:
		fmt.Fprintf(&w.out, "{{$v%d := %s}}", w.vars, w.expr())
		vars, w.vars = w.vars+1, w.vars+1
	case 6:
		if w.vars > 0 {
			fmt.Fprintf(&w.out, "{{$v%d = %s}}", w.pick(w.vars), w.expr())
		}
	case 7:
		w.defs++
		inner := w.vars
		w.vars = 0
		fmt.Fprintf(&w.out, "{{block \"b%d\" %s}}", w.defs, w.exprWith(inner))
		w.statements()
		w.vars = inner
		w.out.WriteString("{{end}}")
	case 8:
		w.out.WriteString(" a {{- /* c */ -}} b")
	default:
		w.out.WriteString("{{" + w.expr() + "}};")
	}
	w.vars = vars
	w.depth--
}

func (w *writer) exprWith(vars int) string {
	held := w.vars
	w.vars = vars
	defer func() { w.vars = held }()
	return w.expr()
}

func (w *writer) block(head string) {
	w.out.WriteString(head)
	w.statements()
	if strings.HasPrefix(head, "{{range") && w.pick(4) == 0 {
		w.out.WriteString([]string{"{{break}}", "{{continue}}"}[w.pick(2)] + "z")
	}
	if w.pick(2) == 0 {
		w.out.WriteString("{{else}}")
		w.statements()
	}
	w.out.WriteString("{{end}}")
}

// Law: what runs in text/template and here renders the same.
func FuzzLikeTextTemplate(f *testing.F) {
	for i := range 64 {
		f.Add([]byte(strings.Repeat(string(rune(i*4))+string(rune(255-i))+string(rune(i*7%256)), 20)))
	}
	d := shop()
	d.Values = map[string]any{
		"text": "hello", "n": int64(2), "yes": true, "list": []any{"a", int64(1), []any{}}, "map": map[string]any{"k": "v", "l": int64(9)},
	}
	functions := sprig.TxtFuncMap()
	f.Fuzz(func(t *testing.T, bytes []byte) {
		w := writer{bytes: bytes}
		w.statements()
		text := w.out.String()
		ours, findings := Compile(Source{Name: "main", Text: text, Bare: true})
		theirs, err := template.New("main").Funcs(functions).Parse(text)
		if len(findings) > 0 || err != nil {
			if err != nil && len(findings) == 0 {
				t.Fatalf("%s\nwe take what text/template does not: %v", text, err)
			}
			return
		}
		var want strings.Builder
		theirErr := theirs.Execute(&want, d)
		r := ours.begin()
		ourErr := ours.main.exec(r, d)
		if theirErr != nil || ourErr != nil {
			return
		}
		if got := string(r.out); got != want.String() {
			t.Errorf("%s\ngot  %q\nwant %q", text, got, want.String())
		}
	})
}

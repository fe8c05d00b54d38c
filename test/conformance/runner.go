// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/webhook"
	"github.com/pillion-dev/pillion/test/reuse"
)

// setup is a configuration. Each is compiled once.
type setup struct {
	config, values, mesh, native, platform, compliance, revision string
	env                                                          string // NAME=value, each ended by a zero byte but the last
}

// compile makes an engine of the configuration, which may keep so many bytes of outcomes. The error stands
// for a configuration that is refused.
func (s setup) compile(keep int64) (*inject.Engine, error) {
	files := map[string][]byte{"config": []byte(s.config), "values": []byte(s.values)}
	if s.mesh != "" {
		files["mesh"] = []byte(s.mesh)
	}
	c, err := istio.Parse(files)
	if err != nil {
		return nil, err
	}
	c.NativeSidecars, c.Platform, c.CompliancePolicy, c.Env = s.native, s.platform, s.compliance, s.environment()
	c.Cluster = "Kubernetes" // the recorded injector watched the nodes of a cluster of this name
	return istio.New(c, inject.Options{Revision: s.revision, Reuse: keep})
}

func (s setup) environment() map[string]string {
	out := map[string]string{}
	for _, entry := range strings.Split(s.env, "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			out[name] = value
		}
	}
	return out
}

// compiled is what came of a configuration, once it is known.
type compiled struct {
	once   sync.Once
	engine *inject.Engine
	err    error

	keeping sync.Once
	law     *reuse.Law
	broken  error
}

// runner runs cases; several may run at a time.
type runner struct {
	rules   []rule
	command func() (string, error) // gives the command line's binary

	mu      sync.Mutex
	engines map[setup]*compiled
	asks    []ask // the pods to be shown to an API server; nil where none is asked
	asking  bool
}

func (r *runner) engine(s setup) (*inject.Engine, error) {
	c := r.compiled(s)
	c.once.Do(func() { c.engine, c.err = s.compile(0) })
	return c.engine, c.err
}

// law holds the configuration to the law that keeping outcomes changes none.
func (r *runner) law(s setup) (*reuse.Law, error) {
	c := r.compiled(s)
	c.keeping.Do(func() { c.law, c.broken = reuse.New(s.compile) })
	return c.law, c.broken
}

func (r *runner) compiled(s setup) *compiled {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engines == nil {
		r.engines = map[setup]*compiled{}
	}
	c := r.engines[s]
	if c == nil {
		c = &compiled{}
		r.engines[s] = c
	}
	return c
}

// The kinds of an outcome.
const (
	injected = "injected"
	skipped  = "skipped"
	failed   = "error"
)

// outcome is what becomes of a pod. Manifests of the command line end as "ok" or as an error.
type outcome struct {
	kind string
	text string // of an error
	tree any    // the pod, or the documents, afterwards
}

// verdict is the end of a case.
type verdict struct {
	known    string   // the ids of the rules that explain it; empty where it is as the original's
	problems []string // empty: it passes
}

func problem(format string, args ...any) verdict {
	return verdict{problems: []string{fmt.Sprintf(format, args...)}}
}

// pod runs a pod through the engine and the HTTP handler.
func (r *runner) pod(in *input, want outcome) verdict {
	got, problems := r.both(in)
	if got.kind == skipped && got.text == reason.AlreadyInjected.String() {
		got = outcome{kind: injected, tree: in.pod} // the original sends an empty patch
	}
	v := r.judge(pair{in: in, want: want, got: got})
	v.problems = append(v.problems, problems...)
	if got.kind == injected {
		r.ask(in.name, in.pod, got.tree)
	}
	return v
}

// both gives the engine's outcome, and tells what is wrong whatever the original did: a patch that does
// not hold, a second pass that finds something to do, a handler that answers otherwise.
func (r *runner) both(in *input) (outcome, []string) {
	e, err := r.engine(in.setup())
	if err != nil {
		return outcome{kind: failed, text: err.Error()}, nil
	}
	f, err := in.facts()
	if err != nil {
		return outcome{kind: failed, text: err.Error()}, []string{"the case's cluster cannot be read: " + err.Error()}
	}
	got, raw, problems := once(e, in, f)
	for _, p := range sameByHTTP(e, in, got) {
		problems = append(problems, "HTTP: "+p)
	}
	problems = append(problems, r.reuse(in, f)...)
	if got.kind != injected {
		return got, problems
	}
	again, err := in.withObject(raw)
	if err != nil {
		return got, append(problems, err.Error())
	}
	second, _, more := once(e, again, f)
	switch {
	case second.kind == injected:
		changes := diff(norm(second.tree, ""), norm(got.tree, ""), "")
		problems = append(problems, fmt.Sprintf("second pass changes %d places: %s", len(changes), strings.Join(changes[:min(3, len(changes))], "; ")))
	case second.kind == failed:
		problems = append(problems, "second pass is refused: "+second.text)
	}
	return got, append(problems, more...)
}

// reuse tells where the outcome differs once one is kept: of the case itself or of one before it.
func (r *runner) reuse(in *input, f inject.Facts) []string {
	law, err := r.law(in.setup())
	for range 2 {
		if err == nil {
			_, err = law.Hold(in.raw, f)
		}
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// once asks the engine, and applies its patch to the bytes that came as the API server would.
func once(e *inject.Engine, in *input, f inject.Facts) (outcome, []byte, []string) {
	doc, err := pod.Parse(in.raw)
	if err != nil {
		return outcome{kind: failed, text: err.Error()}, nil, nil
	}
	result, err := e.Inject(doc, f)
	if err != nil {
		var refusal *reason.Refusal
		if !errors.As(err, &refusal) {
			return outcome{kind: failed, text: err.Error()}, nil, []string{"broken, not refused: " + err.Error()}
		}
		return outcome{kind: failed, text: err.Error()}, nil, nil
	}
	if len(result.Patch) == 0 {
		return outcome{kind: skipped, text: result.Decision.Reason.String()}, nil, nil
	}
	var problems []string
	if err := result.Prove(doc); err != nil {
		problems = append(problems, err.Error())
	}
	raw, err := apply(in.raw, patch.Marshal(result.Patch))
	if err != nil {
		return outcome{kind: injected}, nil, append(problems, err.Error())
	}
	tree, err := decode(raw)
	if err != nil {
		problems = append(problems, err.Error())
	}
	return outcome{kind: injected, tree: tree}, raw, problems
}

// facts is a case's cluster to the webhook.
type facts struct {
	inject.Facts
	nodes []node
}

func (c facts) Namespace(string) (labels, annotations map[string]string, known bool) {
	return c.NamespaceLabels, c.NamespaceAnnotations, true
}

func (c facts) OldNodes() []inject.Node { return c.Facts.OldNodes }

func (c facts) NodeKnown(name string) bool {
	return slices.ContainsFunc(c.nodes, func(n node) bool { return n.Name == name })
}

// handler is the webhook's own handler.
func (in *input) handler(e *inject.Engine) (http.Handler, error) {
	f, err := in.facts()
	if err != nil {
		return nil, err
	}
	m := &webhook.Mutator{
		Engine: func() *inject.Engine { return e }, Facts: facts{f, in.file.Nodes}, Proof: &webhook.Proof{},
		More: func() any { return f.More },
	}
	return admission.Handler(m, admission.Options{Mount: "/inject"}), nil
}

// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/measure"
)

// limit bounds a path. Zero bounds nothing.
type limit struct {
	ratio, allocs float64

	like  string  // another path, whose
	times float64 // allocations this one may take so many times
}

// A path is one way of a review through the injector.
type path struct {
	name, what string

	floor     string // of which floor it is a multiple
	gate, aim limit

	run     func()
	harness func() // what of run is not the injector's; nil for nothing
	broken  string // why the path cannot be gone; empty: it can
}

// paths are built from the two dialects.
type paths struct {
	native, foreign setup
	list            []path
	err             error
}

const (
	sampled = "sampled"
	always  = "always"
)

var (
	reusedGate, reusedAim = limit{ratio: 3, allocs: 150}, limit{ratio: 2, allocs: 120}
	freshGate, freshAim   = limit{ratio: 40, allocs: 6000}, limit{ratio: 10, allocs: 1500}
	skipGate              = limit{ratio: 1.2, allocs: 40}
)

// allPaths are those of the table, in its order. Each floor stands before what is held to it.
func allPaths(corpus string) ([]path, error) {
	p := &paths{}
	p.native, p.err = native()
	if p.err == nil {
		p.foreign, p.err = foreign(corpus)
	}
	if p.err != nil {
		return nil, p.err
	}
	p.floor("floor", "decode the envelope, send a patch that is at hand", p.foreign)
	p.skip("skip", "Istio, a label says no", p.foreign).hold(skipGate, limit{})
	p.reused("reused", "Istio, another replica", p.foreign, sampled).hold(reusedGate, reusedAim)
	p.reused("reused-proof", "the same, each patch proved", p.foreign, always)
	p.fresh("fresh", "Istio, another shape each time", p.foreign, sampled).hold(freshGate, freshAim)
	p.fresh("fresh-proof", "the same, each patch proved", p.foreign, always).hold(limit{allocs: freshGate.allocs}, limit{})
	p.http("handler", "reused, through ServeHTTP without TLS", p.foreign)
	p.skip("native-skip", "shipped templates, a label says no", p.native).hold(limit{}, skipGate)
	p.reused("native-reused", "shipped templates, another replica", p.native, sampled).hold(reusedGate, reusedAim)
	p.fresh("native-fresh", "shipped templates, another shape each time", p.native, sampled).hold(freshGate, freshAim)
	many := p.foreign.variables(2000)
	p.reused("env-2000-reused", "2,000 environment variables", many, sampled).hold(limit{like: "reused", times: 20}, limit{})
	p.fresh("env-2000-fresh", "2,000 environment variables", many, sampled).hold(limit{like: "fresh", times: 20}, limit{})
	large, noted := p.foreign.large(), p.foreign.annotations(10_000)
	p.floor("floor-large", "of a pod of 1.5 MB", large)
	p.reused("large-reused", "a pod of 1.5 MB", large, sampled).over("floor-large").hold(limit{ratio: 4}, limit{})
	p.floor("floor-annotations", "of a pod with 10,000 annotations", noted)
	p.reused("annotations-reused", "10,000 annotations", noted, sampled).over("floor-annotations").hold(limit{ratio: 4}, limit{})
	return p.list, p.err
}

func (p *path) hold(gate, aim limit) *path {
	p.gate, p.aim = gate, aim
	return p
}

func (p *path) over(floor string) *path {
	p.floor = floor
	return p
}

func (p *paths) add(one path) *path {
	if one.floor == "" {
		one.floor = "floor"
	}
	p.list = append(p.list, one)
	return &p.list[len(p.list)-1]
}

// open is a door of the setup.
func (p *paths) open(s setup, proof string) *door {
	d, err := s.open(proof, inject.Options{Reuse: reuseMemory})
	if p.err == nil {
		p.err = err
	}
	return d
}

func (p *paths) floor(name, what string, s setup) {
	d, b := p.open(s, sampled), s.replicas()
	if p.err != nil {
		return
	}
	resp := d.ask(b.next())
	p.add(path{name: name, what: what, floor: name, run: measure.Floor(b.bytes, resp.Patch), broken: unpatched(resp)})
}

func (p *paths) skip(name, what string, s setup) *path {
	d, b := p.open(s, sampled), s.says(s.no).replicas()
	return p.add(path{name: name, what: what, run: func() {
		if resp := d.ask(b.next()); resp.Patch != nil {
			panic(name + ": the pod was injected")
		}
	}})
}

// reused finds the outcome of the first replica.
func (p *paths) reused(name, what string, s setup, proof string) *path {
	d, b := p.open(s, proof), s.replicas()
	broken := ""
	if p.err == nil {
		broken = unpatched(d.ask(b.next()))
	}
	return p.add(path{name: name, what: what, broken: broken, run: func() {
		if resp := d.ask(b.next()); !resp.Reused {
			panic(name + ": the pod's outcome was not reused: " + unpatched(resp))
		}
	}})
}

// unpatched tells why a pod got no patch; empty where it got one.
func unpatched(resp admission.Response) string {
	if resp.Patch != nil {
		return ""
	}
	return resp.Reason.String()
}

// fresh never finds one.
func (p *paths) fresh(name, what string, s setup, proof string) *path {
	d, b := p.open(s, proof), s.shapes()
	return p.add(path{name: name, what: what, run: func() {
		if resp := d.ask(b.next()); resp.Reused || resp.Patch == nil {
			panic(name + ": the pod's outcome was reused, or there is none: " + unpatched(resp))
		}
	}})
}

// http is reused through the handler. What the test's own request and answer cost is told apart by a
// handler that does nothing.
func (p *paths) http(name, what string, s setup) *path {
	d, b := p.open(s, sampled), s.replicas()
	through := func(h http.Handler) func() {
		a := &answer{header: http.Header{}}
		return func() {
			clear(a.header)
			req := httptest.NewRequest(http.MethodPost, "/inject?timeout=5s", bytes.NewReader(b.next()))
			req.Header.Set("Content-Type", "application/json")
			if h.ServeHTTP(a, req); a.status != http.StatusOK {
				panic(fmt.Sprintf("%s: HTTP %d", name, a.status))
			}
		}
	}
	nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return p.add(path{
		name: name, what: what,
		run: through(admission.Handler(d, admission.Options{Mount: "/inject"})), harness: through(nothing),
	})
}

// answer is a ResponseWriter that keeps only the status.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }

// named finds a path.
func named(list []path, name string) path {
	i := slices.IndexFunc(list, func(p path) bool { return p.name == name })
	if i < 0 {
		panic("there is no path " + name)
	}
	return list[i]
}

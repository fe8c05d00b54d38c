// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"maps"
	"slices"
	"strings"
)

// maxProblems bounds what Warn tells: a reader mends the first few and asks again.
const maxProblems = 16

// Problem is one key of a pod that does nothing, although its author most probably thinks it does.
type Problem struct {
	Key       string
	Kind      Kind   // what it was given as
	WrongKind bool   // a label given as an annotation, or the reverse; else the key is unknown
	Nearest   string // the known key that was probably meant; may be empty
	Detail    string // a sentence without the key
}

// Path is where the key stands in the pod, such as metadata.labels[pillion.dev/templates].
func (p Problem) Path() string { return "metadata." + p.Kind.String() + "s[" + p.Key + "]" }

// Nearest finds the word among the known ones that differs from word by at most the given number of
// letters, or returns an empty text.
type Nearest func(word string, known []string, most int) string

// Warn tells which of a pod's keys do nothing: unknown ones of our domain and those below it, keys
// of the wrong kind, and near misses of the annotations that parameters declare elsewhere. Labels
// come first, each kind in the order of the keys, 16 problems at most.
func Warn(labels, annotations map[string]string, declared []string, nearest Nearest) []Problem {
	w := warner{declared: declared, nearest: nearest}
	w.keys(labels, Label)
	w.keys(annotations, Annotation)
	return w.problems
}

type warner struct {
	declared []string
	nearest  Nearest
	known    []string // every key that a person may set; made when the first suspect is met
	problems []Problem
}

func (w *warner) keys(given map[string]string, kind Kind) {
	var suspects []string
	for key := range given {
		if w.suspect(key) && w.kindOf(key) != kind {
			suspects = append(suspects, key)
		}
	}
	slices.Sort(suspects)
	if len(suspects) > 0 && w.known == nil {
		w.known = settable(w.declared)
	}
	for _, key := range suspects {
		if len(w.problems) == maxProblems {
			return
		}
		w.key(key, kind)
	}
}

// suspect tells, at the price of a few comparisons, whether a key can be of interest at all.
func (w *warner) suspect(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	return ok && (ours(domain) || slices.ContainsFunc(w.declared, func(d string) bool { return strings.HasPrefix(d, domain+"/") }))
}

func (w *warner) key(key string, kind Kind) {
	wanted := w.kindOf(key)
	p := Problem{Key: key, Kind: kind}
	if wanted != 0 {
		p.WrongKind, p.Nearest = true, key
		p.Detail = "this key belongs among the " + wanted.String() + "s"
		w.problems = append(w.problems, p)
		return
	}
	p.Nearest = w.nearest(key, w.known, most(key))
	if domain, _, _ := strings.Cut(key, "/"); p.Nearest == "" && !ours(domain) {
		return
	}
	p.Detail = "no such key"
	if p.Nearest != "" {
		p.Detail += ", did you mean " + p.Nearest + "?"
	}
	w.problems = append(w.problems, p)
}

// most is how many letters may differ. Below our domain every unknown key is a slip, so the nearest
// one helps; elsewhere the domain's owner may well have keys of their own.
func most(key string) int {
	domain, name, _ := strings.Cut(key, "/")
	if ours(domain) {
		return max(2, len(key)/3)
	}
	return min(2, len(name)/3)
}

func (w *warner) kindOf(key string) Kind {
	if k, ok := Lookup(key); ok {
		return k.Kind
	}
	if slices.Contains(w.declared, key) {
		return Annotation
	}
	return 0
}

// settable is every key that a person may set, sorted, so that the order of the configuration does
// not choose between equally near ones.
func settable(declared []string) []string {
	set := map[string]bool{}
	for _, k := range registry {
		if !k.Written {
			set[k.Name] = true
		}
	}
	for _, d := range declared {
		set[d] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func ours(domain string) bool {
	return domain == Domain || strings.HasSuffix(domain, "."+Domain)
}

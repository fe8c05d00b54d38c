// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// pair is a case's two outcomes. Rules strike what they judged from both, so that the rest can still be
// compared: their trees are normal forms of its own.
type pair struct {
	in        *input
	want, got outcome
}

// judge compares, and lets the rules for known differences speak.
func (r *runner) judge(p pair) verdict {
	p.want.tree, p.got.tree = norm(p.want.tree, ""), norm(p.got.tree, "")
	left := p.compare()
	if p.want.kind == failed && p.got.kind == failed {
		return verdict{problems: left} // whatever is wrong, both say so
	}
	if p.want.kind == skipped && p.got.kind == skipped {
		return verdict{problems: left} // nothing was made that could be wrong
	}
	var v verdict
	var known []string
	for _, rule := range r.rules {
		if p.in == nil || !rule.applies(r, p.in) {
			continue
		}
		before := len(left)
		if before == 0 {
			v.problems = append(v.problems, fmt.Sprintf("rule %s is stale: it matches, but there is no difference left to explain", rule.id))
			continue
		}
		if err := rule.holds(r, &p); err != nil {
			v.problems = append(v.problems, fmt.Sprintf("rule %s does not hold: %v", rule.id, err))
			continue
		}
		known = append(known, rule.id)
		if left = p.compare(); len(left) >= before {
			v.problems = append(v.problems, fmt.Sprintf("rule %s explains nothing", rule.id))
		}
	}
	v.known = strings.Join(known, " ")
	v.problems = append(v.problems, left...)
	return v
}

// compare tells the differences between the two outcomes.
func (p *pair) compare() []string {
	switch {
	case p.want.kind != p.got.kind:
		out := fmt.Sprintf("want %s, got %s", p.want.kind, p.got.kind)
		if p.want.text != "" {
			out += "; the original: " + brief(p.want.text)
		}
		if p.got.text != "" {
			out += "; we: " + brief(p.got.text)
		}
		return []string{out}
	case p.want.kind == failed:
		return unnamed(p.want.text, p.got.text)
	}
	return diff(p.got.tree, p.want.tree, "")
}

// blamed finds the values and annotations that the original's error names.
var blamed = regexp.MustCompile(`(?s)invalid value '(.*?)' for annotation '([^']*)'`)

// unnamed tells which annotations and values of the original's error are missing in ours.
func unnamed(original, our string) []string {
	var out []string
	for _, m := range blamed.FindAllStringSubmatch(original, -1) {
		if !strings.Contains(our, m[2]) {
			out = append(out, fmt.Sprintf("the refusal does not name the annotation %s: %s", m[2], brief(our)))
		}
		if !tells(our, m[1]) {
			out = append(out, fmt.Sprintf("the refusal does not name the value %s: %s", strconv.Quote(m[1]), brief(our)))
		}
	}
	return out
}

// shown is how much of a long value an error must show.
const shown = 24

// tells tells whether a text shows a value, as it is, quoted, or the beginning of a long one.
func tells(text, value string) bool {
	quoted := strconv.Quote(value)
	for _, v := range []string{value, quoted, strings.ReplaceAll(quoted, `\"`, `"`), brief(value)} {
		v = strings.Trim(v, `"`)
		if strings.Contains(text, v) {
			return true
		}
		if runes := []rune(v); len(runes) > shown && strings.Contains(text, string(runes[:shown])) {
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxErrors bounds the faults that are told at once.
const maxErrors = 100

// Error is one fault of a configuration.
type Error struct {
	File   string
	Line   int    // from 1; 0 when the fault has no line
	Field  string // such as templates[0].name; may be empty
	Detail string
	Hint   string // what would mend it; may be empty

	// For a misspelt name: the name, and those that would have been right. See Errors.Suggest.
	Unknown string
	Known   []string
}

// Error is file:line: field: detail, without the parts that are empty.
func (e Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
		if e.Line > 0 {
			fmt.Fprintf(&b, "%d:", e.Line)
		}
		b.WriteByte(' ')
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Detail)
	return b.String()
}

// Errors is every fault of a configuration, in the order of file and line. It is never empty where
// it is returned as an error.
type Errors []Error

// Error is one line for each fault.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Suggest is a copy in which a misspelt name without a hint has one, with the name that nearest
// picks from the known ones.
func (e Errors) Suggest(nearest func(word string, known []string) string) Errors {
	out := slices.Clone(e)
	for i, one := range out {
		if one.Hint != "" || one.Unknown == "" {
			continue
		}
		if name := nearest(one.Unknown, one.Known); name != "" {
			out[i].Hint = fmt.Sprintf("did you mean %s?", name)
		}
	}
	return out
}

// sorted is the faults in their order, as an error that is nil without any, and cut to the bound.
func (e Errors) sorted() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Detail, b.Detail))
	})
	if len(e) > maxErrors {
		e = append(e[:maxErrors:maxErrors], Error{File: e[maxErrors].File, Detail: "there are more faults; mend these first"})
	}
	return e
}

// Position is a line of a file, from 1.
type Position struct {
	File string
	Line int
}

// Origin is where a text stands in a file.
type Origin struct {
	File  string
	First int  // the line of the text's first line
	Exact bool // each line of the text is a line of the file; else only First is known
}

// At is where the given line of the text, from 1, stands.
func (o Origin) At(line int) Position {
	if !o.Exact || line < 1 {
		return Position{o.File, o.First}
	}
	return Position{o.File, o.First + line - 1}
}

// Place is where the field of the given path, such as templates[0].name, stands; or, if it is
// absent, the nearest field around it.
func (c Config) Place(path string) Position {
	for {
		if p, ok := c.Places[path]; ok || path == "" {
			return p
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

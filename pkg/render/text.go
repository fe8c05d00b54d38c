// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
)

// textFunctions work on texts. Those without a body are Sprig's.
var textFunctions = []function{
	{name: "print", least: 0, most: -1, call: printed(fmt.Sprint), doc: "The arguments as one text, with a space between two that are no texts."},
	{name: "println", least: 0, most: -1, call: printed(fmt.Sprintln), doc: "The arguments as one text with spaces between them, and the end of a line."},
	{name: "printf", least: 1, most: -1, call: printFormat, doc: "The arguments put into a format, as Go's fmt.Sprintf does. The verbs are b c d e f g o q s t U v x X and %."},
	{name: "toString", least: 1, most: 1, call: func(in input) (any, error) { return in.anyText(0) }, doc: "A number or a boolean as text."},
	{name: "cat", least: 0, most: -1, call: cat, doc: "The arguments as texts, with spaces between them. null is left out."},
	{name: "indent", least: 2, most: 2, layout: true, call: indent(""), doc: "Puts so many spaces before each line of the text."},
	{name: "nindent", least: 2, most: 2, layout: true, call: indent("\n"), doc: "As indent, after the end of the line before."},
	{name: "trim", doc: "Without the white space at both ends."},
	{name: "trimAll", guard: guardTrimAll, doc: "trimAll \"$\" text: without any of the given characters at both ends."},
	{name: "trimall", guard: guardTrimAll, doc: "As trimAll."},
	{name: "trimPrefix", doc: "trimPrefix \"-\" text: without the prefix."},
	{name: "trimSuffix", doc: "trimSuffix \"-\" text: without the suffix."},
	{name: "upper", doc: "In capital letters."},
	{name: "lower", doc: "In small letters."},
	{name: "title", doc: "With a capital letter at the start of each word."},
	{name: "untitle", doc: "With a small letter at the start of each word."},
	{name: "swapcase", doc: "With capital and small letters exchanged."},
	{name: "snakecase", doc: "FirstName as first_name."},
	{name: "camelcase", doc: "first_name as FirstName."},
	{name: "kebabcase", doc: "FirstName as first-name."},
	{name: "nospace", doc: "Without any white space."},
	{name: "initials", doc: "The first letter of each word."},
	{name: "abbrev", doc: "abbrev 8 text: cut to so many characters, the last three of them dots."},
	{name: "abbrevboth", doc: "abbrevboth 5 10 text: cut at both ends."},
	{name: "trunc", doc: "trunc 5 text: the first so many bytes, or with a negative number the last."},
	{name: "substr", doc: "substr 0 5 text: from one offset up to another."},
	{name: "repeat", guard: guardRepeat, doc: "repeat 3 text: the text so many times."},
	{name: "replace", guard: guardReplace, doc: "replace \"old\" \"new\" text."},
	{name: "wrap", guard: guardWrap, doc: "wrap 80 text: with the ends of lines at most so far apart."},
	{name: "wrapWith", guard: guardWrapWith, doc: "wrapWith 5 \"\\t\" text: as wrap, with a text in place of the end of a line."},
	{name: "contains", plain: true, doc: "contains \"part\" text: true when the text holds the part."},
	{name: "hasPrefix", plain: true, doc: "hasPrefix \"pre\" text: true when the text begins so."},
	{name: "hasSuffix", plain: true, doc: "hasSuffix \"fix\" text: true when the text ends so."},
	{name: "plural", doc: "plural \"one\" \"many\" 3: the first for 1, the second for any other number."},
	{name: "base", doc: "The last element of a path."},
	{name: "dir", doc: "A path without its last element."},
	{name: "clean", doc: "A path in its shortest form."},
	{name: "ext", doc: "The extension of a path, with its dot."},
	{name: "isAbs", plain: true, doc: "true when a path begins at the root."},
	{name: "semverCompare", plain: true, guard: guardVersion, doc: "semverCompare \">=1.2\" \"1.3.0\": true when the version meets the constraint."},
	{name: "urlParse", doc: "A dictionary of the parts of a URL."},
	{name: "urlJoin", doc: "A URL out of a dictionary of its parts."},
}

func guardRepeat(in input) error {
	n, err := in.integer(0)
	if err != nil {
		return err
	}
	text, err := in.text(1)
	if err != nil {
		return err
	}
	if n < 0 {
		return in.want(0, "a number that is not negative")
	}
	return in.tooMuch(product(n, len(text)))
}

func guardReplace(in input) error {
	w, err := in.words(0)
	if err != nil {
		return err
	}
	n := strings.Count(w[2], w[0])
	return in.tooMuch(len(w[2]) - product(n, len(w[0])) + product(n, len(w[1])))
}

// guardTrimAll charges for the search of every character in the other text.
func guardTrimAll(in input) error {
	words, err := in.words(0)
	if err != nil {
		return err
	}
	return in.run.charge(product(len(words[0]), len(words[1])) / 4096)
}

func guardWrap(in input) error { return in.wraps(0, 1, 1) }

func guardWrapWith(in input) error {
	separator, err := in.text(1)
	if err != nil {
		return err
	}
	return in.wraps(0, 2, max(1, len(separator)))
}

// wraps bounds a wrapped text: two lines together are always longer than the width.
func (in input) wraps(width, text, separator int) error {
	n, err := in.integer(width)
	if err != nil {
		return err
	}
	if n > MaxText {
		return in.want(width, "a width of at most 65536")
	}
	s, err := in.text(text)
	if err != nil {
		return err
	}
	return in.tooMuch(len(s) + product(2*len(s)/max(1, n)+2, separator))
}

// guardVersion bounds what is slow to read.
func guardVersion(in input) error {
	w, err := in.words(0)
	if err != nil {
		return err
	}
	price := 20
	for i, s := range w {
		if len(s) > 256 {
			return in.want(i, "a text of at most 256 bytes")
		}
		price += len(s)
	}
	return in.run.charge(price)
}

func indent(before string) func(input) (any, error) {
	return func(in input) (any, error) {
		n, err := in.integer(0)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, in.want(0, "a number that is not negative")
		}
		text, err := in.text(1)
		if err != nil {
			return nil, err
		}
		lines := 1 + strings.Count(text, "\n")
		if err := in.tooMuch(len(text) + product(n, lines)); err != nil {
			return nil, err
		}
		pad := strings.Repeat(" ", n)
		return before + pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
	}
}

func cat(in input) (any, error) {
	var parts []string
	total := 0
	for i, v := range in.args {
		if isNull(v) {
			continue
		}
		text, err := in.anyText(i)
		if err != nil {
			return nil, err
		}
		total += len(text) + 1
		parts = append(parts, text)
	}
	if err := in.tooMuch(total); err != nil {
		return nil, err
	}
	return strings.Join(parts, " "), nil
}

// SPDX-License-Identifier: Apache-2.0

package render

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// regexFunctions match RE2 expressions. The price of a search is the size of the expression times
// the size of the text.
var regexFunctions = []function{
	{name: "regexMatch mustRegexMatch", least: 2, most: 2, plain: true, call: regexMatch, doc: "regexMatch \"^a+$\" text: true when the expression matches in the text."},
	{name: "regexFind mustRegexFind", least: 2, most: 2, call: regexFind, doc: "The first match, or an empty text."},
	{name: "regexFindAll mustRegexFindAll", least: 3, most: 3, call: regexFindAll, doc: "regexFindAll \"a+\" text 2: the first so many matches, or all for -1."},
	{name: "regexReplaceAll mustRegexReplaceAll", least: 3, most: 3, call: regexReplace(true), doc: "regexReplaceAll \"a(x*)b\" text \"${1}\": with every match replaced; $1 is the first group."},
	{name: "regexReplaceAllLiteral mustRegexReplaceAllLiteral", least: 3, most: 3, call: regexReplace(false), doc: "As regexReplaceAll, with the replacement taken as it is."},
	{name: "regexSplit mustRegexSplit", least: 3, most: 3, call: regexSplit, doc: "regexSplit \"z+\" text -1: the parts between the matches."},
	{name: "regexQuoteMeta", doc: "The text as an expression that matches itself alone."},
}

const (
	maxPattern     = 1000 // bytes
	maxProgram     = 2000 // instructions
	maxGroups      = 10
	stepsPerTick   = 64
	programPerTick = 2
)

// pattern is a compiled expression with the price of a search in a text.
type pattern struct {
	*regexp.Regexp
	run  *run
	size int
}

// compileRegex bounds the program before it is made: a repetition within a repetition multiplies.
func (in input) compileRegex(i int) (pattern, error) {
	text, err := in.text(i)
	if err != nil {
		return pattern{}, err
	}
	return in.run.regex(text)
}

func (r *run) regex(text string) (pattern, error) {
	if len(text) > maxPattern {
		return pattern{}, tooMuch("a regular expression of %d bytes; it may have %d", len(text), maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	n := programSize(tree)
	if n > maxProgram || tree.MaxCap() > maxGroups {
		return pattern{}, tooMuch("the regular expression %s is too large", brief(text))
	}
	if err := r.charge(4 + n/programPerTick); err != nil {
		return pattern{}, err
	}
	re, err := regexp.Compile(text)
	return pattern{re, r, n}, err
}

// programSize is about the number of instructions that an expression compiles to.
func programSize(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		n = product(n, max(re.Min, re.Max, 1))
	}
	return min(n, 1<<40)
}

// charge pays for one search through so many bytes.
func (p pattern) charge(bytes int) error {
	return p.run.charge(1 + product(p.size, bytes)/stepsPerTick)
}

// stopped carries an error out of a search.
type stopped struct{ err error }

// count pays for finding all matches, at most limit of them, and tells how many there are. Each
// match may cost a search through all the rest of the text.
func (p pattern) count(text string, limit int) (n int, err error) {
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case stopped:
			err = stop.err
		default:
			panic(stop)
		}
	}()
	left := len(text)
	p.ReplaceAllStringFunc(text, func(match string) string {
		if n == limit {
			panic(stopped{nil})
		}
		if n++; n > MaxItems {
			panic(stopped{tooMuch("the regular expression matches more than %d times", MaxItems)})
		}
		left = max(0, left-len(match))
		if err := p.charge(left); err != nil {
			panic(stopped{err})
		}
		return ""
	})
	return n, nil
}

func (in input) patternAndText() (pattern, string, error) {
	p, err := in.compileRegex(0)
	if err != nil {
		return p, "", err
	}
	text, err := in.text(1)
	if err != nil {
		return p, "", err
	}
	return p, text, p.charge(len(text))
}

func regexMatch(in input) (any, error) {
	p, text, err := in.patternAndText()
	if err != nil {
		return nil, err
	}
	return p.MatchString(text), nil
}

func regexFind(in input) (any, error) {
	p, text, err := in.patternAndText()
	if err != nil {
		return nil, err
	}
	return p.FindString(text), nil
}

func regexFindAll(in input) (any, error) {
	p, text, err := in.patternAndText()
	if err != nil {
		return nil, err
	}
	limit, err := in.integer(2)
	if err != nil {
		return nil, err
	}
	n, err := p.count(text, limit)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, n)
	for _, match := range p.FindAllString(text, n) {
		out = append(out, match)
	}
	return out, nil
}

func regexReplace(groups bool) func(input) (any, error) {
	return func(in input) (any, error) {
		p, text, err := in.patternAndText()
		if err != nil {
			return nil, err
		}
		by, err := in.text(2)
		if err != nil {
			return nil, err
		}
		return replacement{by, groups, MaxText}.of(p, text)
	}
}

// replacement takes the place of matches.
type replacement struct {
	by     string
	groups bool // $1 in it is the first group
	most   int  // bytes of the result
}

func (r replacement) of(p pattern, text string) (string, error) {
	n, err := p.count(text, -1)
	if err != nil {
		return "", err
	}
	var out []byte
	end := 0
	for _, m := range p.FindAllStringSubmatchIndex(text, n) {
		out = append(out, text[end:m[0]]...)
		if len(out)+len(r.by)+product(strings.Count(r.by, "$"), m[1]-m[0]) > r.most {
			return "", tooMuch("the result would take more than %d bytes", r.most)
		}
		if r.groups {
			out = p.ExpandString(out, r.by, text, m)
		} else {
			out = append(out, r.by...)
		}
		end = m[1]
	}
	return string(append(out, text[end:]...)), nil
}

func regexSplit(in input) (any, error) {
	p, text, err := in.patternAndText()
	if err != nil {
		return nil, err
	}
	limit, err := in.integer(2)
	if err != nil {
		return nil, err
	}
	if _, err := p.count(text, -1); err != nil {
		return nil, err
	}
	out := []any{}
	for _, part := range p.Split(text, limit) {
		out = append(out, part)
	}
	return out, nil
}

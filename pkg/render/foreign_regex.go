// SPDX-License-Identifier: Apache-2.0

package render

import "reflect"

// foreignRegex are Sprig's functions with the price of a search, which is the size of the expression
// times the size of the text. Each gives what Sprig's gives.
func foreignRegex() map[string]func(*run, []reflect.Value) (reflect.Value, error) {
	return map[string]func(*run, []reflect.Value) (reflect.Value, error){
		"regexMatch":     foreignMatch,
		"mustRegexMatch": searched(func(p pattern, text string) (any, error) { return p.MatchString(text), nil }),
		"regexFind mustRegexFind": searched(func(p pattern, text string) (any, error) {
			return p.FindString(text), nil
		}),
		"regexFindAll mustRegexFindAll": counted(func(p pattern, text string, limit int) (any, error) {
			n, err := p.count(text, limit)
			if err != nil {
				return nil, err
			}
			return p.FindAllString(text, n), nil
		}),
		"regexSplit mustRegexSplit": counted(func(p pattern, text string, limit int) (any, error) {
			if _, err := p.count(text, -1); err != nil {
				return nil, err
			}
			return p.Split(text, limit), nil
		}),
		"regexReplaceAll mustRegexReplaceAll":               replaced(true),
		"regexReplaceAllLiteral mustRegexReplaceAllLiteral": replaced(false),
	}
}

// foreignMatch is false for an expression that is none.
func foreignMatch(r *run, in []reflect.Value) (reflect.Value, error) {
	p, err := r.regex(in[0].String())
	if _, bounded := err.(*fault); bounded {
		return reflect.Value{}, err
	}
	if err != nil {
		return reflect.ValueOf(false), nil
	}
	err = p.charge(in[1].Len())
	return reflect.ValueOf(err == nil && p.MatchString(in[1].String())), err
}

func searched(do func(p pattern, text string) (any, error)) func(*run, []reflect.Value) (reflect.Value, error) {
	return func(r *run, in []reflect.Value) (reflect.Value, error) {
		p, err := r.regex(in[0].String())
		if err != nil {
			return reflect.Value{}, err
		}
		if err := p.charge(in[1].Len()); err != nil {
			return reflect.Value{}, err
		}
		out, err := do(p, in[1].String())
		return reflect.ValueOf(out), err
	}
}

func counted(do func(p pattern, text string, limit int) (any, error)) func(*run, []reflect.Value) (reflect.Value, error) {
	return func(r *run, in []reflect.Value) (reflect.Value, error) {
		return searched(func(p pattern, text string) (any, error) { return do(p, text, int(in[2].Int())) })(r, in)
	}
}

func replaced(groups bool) func(*run, []reflect.Value) (reflect.Value, error) {
	return func(r *run, in []reflect.Value) (reflect.Value, error) {
		by := replacement{in[2].String(), groups, MaxForeignText}
		return searched(func(p pattern, text string) (any, error) { return by.of(p, text) })(r, in)
	}
}

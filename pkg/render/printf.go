// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
)

// printed prints scalars: a list or an object has no form that belongs into a pod.
func printed(how func(...any) string) func(input) (any, error) {
	return func(in input) (any, error) {
		args, total, err := in.scalars(0)
		if err != nil {
			return nil, err
		}
		if err := in.tooMuch(total); err != nil {
			return nil, err
		}
		return how(args...), nil
	}
}

// scalars are the arguments from i on as scalars, with the bytes of their texts.
func (in input) scalars(i int) (args []any, total int, err error) {
	for ; i < len(in.args); i++ {
		text, err := in.anyText(i)
		if err != nil {
			return nil, 0, err
		}
		args = append(args, scalar(in.args[i]))
		total += len(text) + 1
	}
	return args, total, nil
}

func printFormat(in input) (any, error) {
	format, err := in.text(0)
	if err != nil {
		return nil, err
	}
	args, total, err := in.scalars(1)
	if err != nil {
		return nil, err
	}
	f := formatSize{args: args}
	if bad := f.read(format); bad != "" {
		return nil, failed(in.from.at, "", "printf: %s in the format %s", bad, in.from.sources[0])
	}
	if f.picks {
		total = product(total, f.verbs)
	}
	if err := in.tooMuch(len(format) + f.padding + total); err != nil {
		return nil, err
	}
	out := fmt.Sprintf(format, args...)
	if strings.Contains(out, "%!") && !strings.Contains(format, "%!") && !anyContains(args, "%!") {
		return nil, failed(in.from.at, "", "printf: the format %s does not fit the arguments", in.from.sources[0])
	}
	return out, nil
}

func anyContains(args []any, part string) bool {
	for _, a := range args {
		if text, ok := a.(string); ok && strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// formatSize adds up what a format asks for beyond its arguments.
type formatSize struct {
	args    []any
	padding int
	verbs   int
	picks   bool // names arguments by number, and so may print one often
}

// read returns what is wrong with the format, or nothing.
func (f *formatSize) read(format string) string {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return ""
		}
		verb, rest := f.directive(format[i+1:])
		if strings.IndexByte("bcdeEfFgGoOqstUvxX%", verb) < 0 {
			return fmt.Sprintf("the verb %%%c is not to be had", verb)
		}
		f.verbs++
		format = rest
	}
}

// directive reads flags, width, precision and argument numbers up to the verb.
func (f *formatSize) directive(format string) (verb byte, rest string) {
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c >= '0' && c <= '9':
			n := 0
			for ; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
				n = min(n*10+int(format[i]-'0'), 1<<30)
			}
			i--
			f.padding = min(f.padding+n, 1<<40)
		case c == '*':
			f.padding = min(f.padding+f.largest(), 1<<40)
		case c == '[':
			f.picks = true
			end := strings.IndexByte(format[i:], ']')
			if end < 0 {
				return '[', ""
			}
			i += end
		case strings.IndexByte("+-# .", c) >= 0:
		default:
			return c, format[i+1:]
		}
	}
	return ' ', ""
}

// largest is the largest whole number among the arguments, which a * in the format may pick.
func (f *formatSize) largest() int {
	most := 0
	for _, a := range f.args {
		if n, ok := a.(int64); ok {
			most = max(most, int(min(max(n, -n), 1<<30)))
		}
	}
	return most
}

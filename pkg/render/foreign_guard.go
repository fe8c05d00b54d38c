// SPDX-License-Identifier: Apache-2.0

package render

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// foreignGuards refuse what would make too much or read the clock, before it does, and charge for
// what costs more than its size. The arguments have the types of the parameters.
func foreignGuards() map[string]func(*run, []reflect.Value) error {
	type args = []reflect.Value
	float, _ := sprig.TxtFuncMap()["float64"].(func(any) float64)
	return map[string]func(*run, args) error{
		"repeat":         func(_ *run, in args) error { return foreignTooMuch(product(int(in[0].Int()), in[1].Len())) },
		"indent nindent": guardForeignIndent,
		"replace":        guardForeignReplace,
		"wrap":           func(_ *run, in args) error { return wrappedSize(in[0].Int(), in[1].Len(), 1) },
		"wrapWith":       func(_ *run, in args) error { return wrappedSize(in[0].Int(), in[2].Len(), max(1, in[1].Len())) },
		"trimAll trimall": func(r *run, in args) error {
			return r.charge(product(in[0].Len(), in[1].Len()) / 4096) // a text of other than ASCII is looked up rune by rune
		},
		"until":                               func(r *run, in args) error { return r.counts(0, in[0].Int(), 1) },
		"untilStep":                           func(r *run, in args) error { return r.counts(in[0].Int(), in[1].Int(), in[2].Int()) },
		"seq":                                 guardForeignSeq,
		"addf add1f subf mulf divf maxf minf": func(r *run, in args) error { return guardForeignDecimal(r, in, float) },
		"semver semverCompare":                guardForeignVersion,
		"fromJson mustFromJson":               guardForeignJSON,
		"join":                                func(_ *run, in args) error { return joinedSize(in[0].Len(), in[1]) },
		"dict":                                guardForeignDict,
		"uniq mustUniq":                       func(r *run, in args) error { return r.pairs(items(in[0]), items(in[0])) },
		"without mustWithout":                 func(r *run, in args) error { return r.pairs(items(in[0]), len(in)-1) },
		"urlJoin":                             func(r *run, in args) error { return r.weigh(in[0], weightPrinted) },
		"durationRound":                       guardForeignDuration,
		"dateInZone date_in_zone":             func(_ *run, in args) error { return givenTime(in[1], in[2]) },
		"htmlDateInZone":                      func(_ *run, in args) error { return givenTime(in[0], in[1]) },
	}
}

func guardForeignIndent(_ *run, in []reflect.Value) error {
	text := in[1].String()
	return foreignTooMuch(1 + len(text) + product(int(in[0].Int()), 1+strings.Count(text, "\n")))
}

func guardForeignReplace(_ *run, in []reflect.Value) error {
	old, by, text := in[0].String(), in[1].Len(), in[2].String()
	n := strings.Count(text, old)
	return foreignTooMuch(len(text) - product(n, len(old)) + product(n, by))
}

// wrappedSize bounds a wrapped text: two lines together are always longer than the width.
func wrappedSize(width int64, text, separator int) error {
	if width > MaxForeignText {
		return tooMuch("a width of %d; it may be %d", width, MaxForeignText)
	}
	return foreignTooMuch(text + product(2*text/int(max(1, width))+2, separator))
}

// counts bounds the numbers from one up or down to another, and keeps away from the largest ones,
// where counting never ends.
func (r *run) counts(from, to, step int64) error {
	if max(from, -from, to, -to, step, -step) >= 1<<40 || from == math.MinInt64 || to == math.MinInt64 || step == math.MinInt64 {
		return tooMuch("numbers of this size cannot be counted up")
	}
	if step == 0 || (to < from) != (step < 0) {
		return nil
	}
	n := (to - from) / step
	if n > MaxItems {
		return tooMuch("a list of %d items; a function makes at most %d", n, MaxItems)
	}
	return r.charge(int(n) / 4)
}

func guardForeignSeq(r *run, in []reflect.Value) error {
	switch len(in) {
	case 1:
		return r.counts(1, in[0].Int(), sign(in[0].Int()-1))
	case 2:
		return r.counts(in[0].Int(), in[1].Int(), sign(in[1].Int()-in[0].Int()))
	case 3:
		return r.counts(in[0].Int(), in[2].Int(), in[1].Int())
	}
	return nil
}

func sign(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}

// guardForeignDecimal bounds the digits of exact decimals, which add up with each factor.
func guardForeignDecimal(r *run, in []reflect.Value, float func(any) float64) error {
	const most, price, digits = 64, 20, 1e100
	if len(in) > most {
		return tooMuch("%d numbers; it takes at most %d", len(in), most)
	}
	for _, v := range in {
		if f := math.Abs(float(anyOf(v))); f > digits || f != 0 && f < 1/digits {
			return failed(-1, "", "want numbers that are neither very large nor very small")
		}
	}
	return r.charge(price * len(in))
}

// guardForeignVersion bounds what is slow to read.
func guardForeignVersion(r *run, in []reflect.Value) error {
	price := 20
	for _, v := range in {
		if price += v.Len(); v.Len() > 256 {
			return tooMuch("a version of %d bytes; it may have 256", v.Len())
		}
	}
	return r.charge(price)
}

func guardForeignJSON(r *run, in []reflect.Value) error {
	const parser, each = 30, 4
	text := in[0].String()
	return r.charge(parser + each*structure([]byte(text)) + len(text)/bytesPerTick)
}

func joinedSize(separator int, list reflect.Value) error {
	return foreignTooMuch(product(items(list), separator))
}

// items is the length of a list, and 0 of anything else.
func items(v reflect.Value) int {
	switch v = inside(v); v.Kind() {
	case reflect.Slice, reflect.Array:
		return v.Len()
	}
	return 0
}

// guardForeignDict weighs the keys alone: they are printed, and the values are kept as they are.
func guardForeignDict(r *run, in []reflect.Value) error {
	for i := 0; i < len(in); i += 2 {
		if err := r.weigh(in[i], weightPrinted); err != nil {
			return err
		}
	}
	return nil
}

// pairs charges for comparing every item with every other.
func (r *run) pairs(a, b int) error { return r.charge(product(a, b) / 16) }

func guardForeignDuration(_ *run, in []reflect.Value) error {
	if _, ok := anyOf(in[0]).(time.Time); ok {
		return failed(-1, "", "how long ago a time was depends on the clock")
	}
	return nil
}

// givenTime refuses a date that would be that of the clock, and a zone that is read from the disk.
func givenTime(date, zone reflect.Value) error {
	switch anyOf(date).(type) {
	case time.Time, *time.Time, int64, int, int32:
	default:
		return failed(-1, "", "want a time, or the seconds since 1970: anything else stands for the clock's time")
	}
	if z := zone.String(); z != "" && z != "UTC" {
		return failed(-1, "", `the time zone must be "UTC": others depend on the machine`)
	}
	return nil
}

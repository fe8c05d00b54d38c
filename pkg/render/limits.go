// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// The bounds of a rendering. None of them is a time, so that the same data always ends in the same
// way. The ticks are set so that a template that uses them up ends within 250 ms of one CPU.
const (
	MaxTicks  = 100_000 // steps: statements, fields, calls, and 64 bytes each of what a call reads and makes
	MaxOutput = 1 << 20 // bytes of rendered text
	MaxDepth  = 100     // templates that invoke templates; lists and dictionaries in each other
	MaxText   = 64 << 10
	MaxItems  = 10_000 // of a list or a dictionary that a function takes or makes
)

// The bounds of a template's text.
const (
	maxSource   = 256 << 10
	maxActions  = 10_000
	maxNesting  = 200
	maxArgs     = 1000
	maxFindings = 50
)

// fault ends a rendering. The place is an offset into the template's text; below zero it is not
// known yet, and the call on the way out fills it in.
type fault struct {
	why          reason.Reason
	at           int
	path         string // of the field in the layer
	line         int    // of the rendered text
	detail, hint string
}

func (f *fault) Error() string { return f.detail }

func failed(at int, hint, format string, args ...any) *fault {
	return &fault{why: reason.TemplateFailed, at: at, detail: fmt.Sprintf(format, args...), hint: hint}
}

func tooMuch(format string, args ...any) *fault {
	return &fault{
		why: reason.TemplateLimit, at: -1, detail: fmt.Sprintf(format, args...),
		hint: "make the template do less: the bounds are fixed",
	}
}

// charge counts n more ticks.
func (r *run) charge(n int) error {
	if r.ticks += n; r.ticks > MaxTicks {
		r.ticks = MaxTicks
		return tooMuch("the template takes more than %d steps", MaxTicks)
	}
	return nil
}

// bytesPerTick is the price of memory: what a call reads or makes costs a tick for each so many.
const bytesPerTick = 64

// size is about how many bytes a value takes by itself, without the values in it. It is an error for
// a value above the bounds.
func size(v any) (int, error) {
	switch v := v.(type) {
	case nil, bool, int, int64, float64:
		return 0, nil
	case string:
		return textSize(len(v))
	case json.Number:
		return textSize(len(v))
	case []any:
		return itemsSize(len(v))
	case map[string]any:
		return itemsSize(len(v))
	case map[string]string:
		return itemsSize(len(v))
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.String:
		return textSize(rv.Len())
	case reflect.Slice, reflect.Array, reflect.Map:
		return itemsSize(rv.Len())
	}
	return 0, nil
}

func textSize(n int) (int, error) {
	if n > MaxText {
		return 0, tooMuch("a text of %d bytes; a function takes and makes at most %d", n, MaxText)
	}
	return n, nil
}

func itemsSize(n int) (int, error) {
	if n > MaxItems {
		return 0, tooMuch("a list or dictionary of %d items; a function takes and makes at most %d", n, MaxItems)
	}
	return n * 16, nil
}

// product is a*b, or a number above every bound where that overflows.
func product(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > (1<<40)/b {
		return 1 << 40
	}
	return a * b
}

// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// encoder writes a value as JSON or as block YAML, in which a text is always quoted. Each value
// costs a tick, so that a list which holds another one many times ends in an error.
type encoder struct {
	run   *run
	buf   []byte
	html  bool // escapes < > &
	slots bool // puts texts into slots
	depth int
}

func (in input) encoder() *encoder {
	return &encoder{run: in.run, slots: in.run.slotting}
}

// json is a value as compact JSON, for comparing; it never holds a mark.
func (in input) json(v any) ([]byte, error) {
	e := encoder{run: in.run}
	err := e.json(v, "")
	return e.buf, err
}

// enter charges for a value and bounds the depth.
func (e *encoder) enter() error {
	if e.depth++; e.depth > MaxDepth {
		return tooMuch("lists and dictionaries are nested more than %d deep", MaxDepth)
	}
	if len(e.buf) > MaxText {
		return tooMuch("the result would take more than %d bytes", MaxText)
	}
	return e.run.charge(1)
}

func (e *encoder) text(s string) (err error) {
	if err := e.run.charge(len(s) / bytesPerTick); err != nil {
		return err
	}
	if !e.slots {
		e.buf = appendQuoted(e.buf, s, e.html)
		return nil
	}
	e.buf, err = e.run.slot(append(e.buf, '"'), s, '"')
	e.buf = append(e.buf, '"')
	return err
}

// scalar writes a scalar or null, and tells whether the value was one.
func (e *encoder) scalar(v any) (bool, error) {
	if n, ok := v.(json.Number); ok && json.Valid([]byte(n)) {
		e.buf = append(e.buf, n...)
		return true, nil
	}
	switch v := scalar(v).(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return true, failed(-1, "", "%s is no number that JSON has", floatText(v))
		}
		e.buf = append(e.buf, floatText(v)...)
	case string:
		return true, e.text(v)
	default:
		return false, nil
	}
	return true, nil
}

// plain turns what is no scalar into []any or map[string]any; a struct becomes what it is in JSON.
func plain(v any) (any, error) {
	switch v := v.(type) {
	case []any, map[string]any:
		return v, nil
	case *Data:
		return nil, failed(-1, "name one of its fields", "the data as a whole cannot be encoded")
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array:
		out := make([]any, rv.Len())
		for i := range out {
			out[i] = view(rv.Index(i))
		}
		return out, nil
	case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
		out := make(map[string]any, rv.Len())
		for entry := rv.MapRange(); entry.Next(); {
			out[entry.Key().String()] = view(entry.Value())
		}
		return out, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxText {
		return nil, tooMuch("an object of %d bytes; a function takes and makes at most %d", len(raw), MaxText)
	}
	return pod.Decode(raw)
}

// json writes JSON, indented where indent is not empty.
func (e *encoder) json(v any, indent string) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer func() { e.depth-- }()
	if done, err := e.scalar(v); done {
		return err
	}
	v, err := plain(v)
	if err != nil {
		return err
	}
	var l jsonLayout
	if indent != "" {
		l = jsonLayout{"\n" + strings.Repeat(indent, e.depth), "\n" + strings.Repeat(indent, e.depth-1)}
	}
	switch v := v.(type) {
	case []any:
		return e.jsonItems("[]", l, len(v), func(i int) error { return e.json(v[i], indent) })
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		return e.jsonItems("{}", l, len(keys), func(i int) error {
			if err := e.text(keys[i]); err != nil {
				return err
			}
			e.buf = append(e.buf, ':')
			if indent != "" {
				e.buf = append(e.buf, ' ')
			}
			return e.json(v[keys[i]], indent)
		})
	}
	_, err = e.scalar(v)
	return err
}

// jsonLayout is what stands before each item of a list or an object, and before its end.
type jsonLayout struct{ item, end string }

func (e *encoder) jsonItems(brackets string, l jsonLayout, n int, item func(int) error) error {
	e.buf = append(e.buf, brackets[0])
	for i := range n {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, l.item...)
		if err := item(i); err != nil {
			return err
		}
	}
	if n > 0 {
		e.buf = append(e.buf, l.end...)
	}
	e.buf = append(e.buf, brackets[1])
	return nil
}

// yaml writes block YAML. inside says that the value follows a key or a dash on the same line.
func (e *encoder) yaml(v any, margin int, inside byte) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer func() { e.depth-- }()
	if inside != 0 {
		e.buf = append(e.buf, ' ')
	}
	if done, err := e.scalar(v); done {
		return err
	}
	v, err := plain(v)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case []any:
		return e.yamlList(v, margin, inside)
	case map[string]any:
		return e.yamlMap(v, margin, inside)
	}
	_, err = e.scalar(v)
	return err
}

func (e *encoder) yamlList(list []any, margin int, inside byte) error {
	if len(list) == 0 {
		e.buf = append(e.buf, "[]"...)
		return nil
	}
	for i, item := range list {
		if i > 0 || inside == ':' {
			e.line(margin, inside == ':' && i == 0)
		}
		e.buf = append(e.buf, '-')
		if err := e.yaml(item, margin+2, '-'); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) yamlMap(m map[string]any, margin int, inside byte) error {
	if len(m) == 0 {
		e.buf = append(e.buf, "{}"...)
		return nil
	}
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 || inside == ':' {
			e.line(margin, inside == ':' && i == 0)
		}
		if err := e.key(key); err != nil {
			return err
		}
		e.buf = append(e.buf, ':')
		if err := e.yaml(m[key], margin+2, ':'); err != nil {
			return err
		}
	}
	return nil
}

// line begins a new line, in place of the space after a key where there is one.
func (e *encoder) line(margin int, afterKey bool) {
	if afterKey {
		e.buf = e.buf[:len(e.buf)-1]
	}
	e.buf = append(append(e.buf, '\n'), strings.Repeat(" ", margin)...)
}

// key writes a key without quotes where it is a plain word, for people.
func (e *encoder) key(key string) error {
	if !e.slots && plainKey(key) {
		e.buf = append(e.buf, key...)
		return nil
	}
	return e.text(key)
}

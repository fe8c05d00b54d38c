// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A tree is a JSON document in Go values: map[string]any, []any, string, bool, nil, int64 for an
// integer that fits, and json.Number (the literal, untouched) for every other number.

// Decode reads one JSON document into a tree. Duplicate keys, invalid UTF-8 and anything after the
// document are errors.
func Decode(raw []byte) (any, error) {
	if jsontext.Value(raw).IsValid() {
		return treeOf(raw), nil
	}
	return judge(raw)
}

// judge is Decode for bytes that are most probably not valid: it tells what is wrong.
func judge(raw []byte) (any, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	value, err := decodeValue(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON document")
	}
	return value, nil
}

func decodeValue(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return Number(tok.String()), nil
	case '[':
		return decodeList(dec)
	default:
		return decodeMap(dec)
	}
}

func decodeMap(dec *jsontext.Decoder) (any, error) {
	m := map[string]any{}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		if m[name], err = decodeValue(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return m, err
}

func decodeList(dec *jsontext.Decoder) (any, error) {
	list := []any{}
	for dec.PeekKind() != ']' {
		item, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := dec.ReadToken()
	return list, err
}

// Number is the tree's form of a JSON number literal.
func Number(literal string) any {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil && literal != "-0" {
		return i
	}
	return json.Number(literal)
}

// Encode writes a tree as JSON, with the keys of every map sorted, so that equal trees give equal
// bytes. It panics on a value that no tree holds.
func Encode(value any) []byte { return AppendJSON(nil, value) }

// AppendJSON appends Encode's bytes to dst.
func AppendJSON(dst []byte, value any) []byte {
	e := encoder{dst: dst}
	e.value(value)
	return e.dst
}

type encoder struct {
	dst  []byte
	keys []string // a stack: the keys of every map on the way, one allocation for all
}

func (e *encoder) value(value any) {
	switch v := value.(type) {
	case nil:
		e.dst = append(e.dst, "null"...)
	case bool:
		e.dst = strconv.AppendBool(e.dst, v)
	case int64:
		e.dst = strconv.AppendInt(e.dst, v, 10)
	case json.Number:
		e.dst = append(e.dst, v...)
	case string:
		e.dst = appendString(e.dst, v)
	case []any:
		e.dst = append(e.dst, '[')
		for i, item := range v {
			if i > 0 {
				e.dst = append(e.dst, ',')
			}
			e.value(item)
		}
		e.dst = append(e.dst, ']')
	case map[string]any:
		e.object(v)
	default:
		panic(fmt.Sprintf("pod: %T is no tree value", value))
	}
}

func (e *encoder) object(m map[string]any) {
	start := len(e.keys)
	for k := range m {
		e.keys = append(e.keys, k)
	}
	end := len(e.keys)
	slices.Sort(e.keys[start:end])
	e.dst = append(e.dst, '{')
	for i := start; i < end; i++ {
		if i > start {
			e.dst = append(e.dst, ',')
		}
		k := e.keys[i]
		e.dst = append(appendString(e.dst, k), ':')
		e.value(m[k])
	}
	e.dst, e.keys = append(e.dst, '}'), e.keys[:start]
}

func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil { // invalid UTF-8: the quote holds replacement characters
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// Clone is a deep copy of a tree.
func Clone[T any](value T) T {
	out, _ := clone(value).(T) // nil is no T
	return out
}

func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = clone(item)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return value
}

// Equal tells whether two trees are the same document. Numbers are compared by their literal, but
// for integers.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Marshal is the JSON of a patch; no operations give an empty list.
func Marshal(ops []Op) []byte { return AppendJSON(nil, ops) }

// AppendJSON appends the JSON of a patch to dst. The keys of every map are sorted, so that equal
// patches give equal bytes. It panics on a value that no tree holds.
func AppendJSON(dst []byte, ops []Op) []byte {
	e := encoder{dst: dst}
	e.raw("[")
	for i, op := range ops {
		if i > 0 {
			e.raw(",")
		}
		e.op(op)
	}
	e.raw("]")
	return e.dst
}

type encoder struct {
	dst  []byte
	keys []string // a stack: the keys of every map on the way
	bare bool     // leave out null members
}

func (e *encoder) raw(text string) { e.dst = append(e.dst, text...) }

// text quotes a string; invalid UTF-8 becomes replacement characters, which is what the error tells.
func (e *encoder) text(s string) { e.dst, _ = jsontext.AppendQuote(e.dst, s) }

func (e *encoder) op(op Op) {
	e.raw(`{"op":`)
	e.text(op.Op)
	if op.Op == opMove || op.Op == opCopy {
		e.raw(`,"from":`)
		e.text(op.From)
	}
	e.raw(`,"path":`)
	e.text(op.Path)
	if op.Op == opAdd || op.Op == opReplace || op.Op == opTest {
		e.raw(`,"value":`)
		e.value(op.Value)
	}
	e.raw("}")
}

func (e *encoder) value(value any) {
	switch v := value.(type) {
	case nil:
		e.raw("null")
	case bool:
		e.dst = strconv.AppendBool(e.dst, v)
	case int64:
		e.dst = strconv.AppendInt(e.dst, v, 10)
	case json.Number:
		e.raw(string(v))
	case string:
		e.text(v)
	case []any:
		e.raw("[")
		for i, item := range v {
			if i > 0 {
				e.raw(",")
			}
			e.value(item)
		}
		e.raw("]")
	case map[string]any:
		e.object(v)
	default:
		panic(fmt.Sprintf("patch: %T is no tree value", value))
	}
}

func (e *encoder) object(m map[string]any) {
	start := len(e.keys)
	for k, v := range m {
		if v != nil || !e.bare {
			e.keys = append(e.keys, k)
		}
	}
	end := len(e.keys)
	slices.Sort(e.keys[start:end])
	e.raw("{")
	for i := start; i < end; i++ {
		if i > start {
			e.raw(",")
		}
		k := e.keys[i]
		e.text(k)
		e.raw(":")
		e.value(m[k])
	}
	e.raw("}")
	e.keys = e.keys[:start]
}

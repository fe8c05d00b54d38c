// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Dotted turns an RFC 6901 pointer into the form that people write: /spec/containers/0/name becomes
// spec.containers[0].name, and a key with a dot or a slash stands in brackets.
func Dotted(pointer string) string {
	var b strings.Builder
	for token := range jsontext.Pointer(pointer).Tokens() {
		switch {
		case token == "" || strings.ContainsAny(token, "./ ") || token[0] >= '0' && token[0] <= '9':
			b.WriteString("[" + token + "]")
		case b.Len() == 0:
			b.WriteString(token)
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	}
	return "value"
}

func typeName(t reflect.Type) string {
	if t == nil {
		return "this field"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "a number"
}

// AppendToken appends a slash and an escaped reference token to an RFC 6901 pointer.
func AppendToken(pointer []byte, token string) []byte {
	pointer = append(pointer, '/')
	for i := range len(token) {
		switch token[i] {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, token[i])
		}
	}
	return pointer
}

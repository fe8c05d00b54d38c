// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// plainYAML writes the values that nearly all templates write, such as resources and probes, in
// the very bytes of sigs.k8s.io/yaml without its cost. It is not ok for a value in which a text or a
// key might need quotes, or in which the order of keys is not that of their letters.
func plainYAML(v any) (string, bool) {
	var w yamlWriter
	if !w.value(v, 0) {
		return "", false
	}
	return string(append(w, '\n')), true
}

type yamlWriter []byte

// value writes at the current place of a line; the lines that follow stand margin deep.
func (w *yamlWriter) value(v any, margin int) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0 && w.object(v, margin)
	case []any:
		return len(v) > 0 && w.list(v, margin)
	}
	return w.scalar(v)
}

func (w *yamlWriter) object(m map[string]any, margin int) bool {
	keys := make([]string, 0, len(m))
	for key := range m {
		if !letters(key) {
			return false
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for i, key := range keys {
		if i > 0 {
			w.line(margin)
		}
		*w = append(append(*w, key...), ':')
		if !w.member(m[key], margin) {
			return false
		}
	}
	return true
}

// member writes what follows a key: a list or an object on lines of its own. A list's dashes stand
// below the key.
func (w *yamlWriter) member(v any, margin int) bool {
	switch v.(type) {
	case map[string]any:
		margin += 2
		w.line(margin)
	case []any:
		w.line(margin)
	default:
		*w = append(*w, ' ')
	}
	return w.value(v, margin)
}

func (w *yamlWriter) list(items []any, margin int) bool {
	for i, item := range items {
		if i > 0 {
			w.line(margin)
		}
		*w = append(*w, "- "...)
		if !w.value(item, margin+2) {
			return false
		}
	}
	return true
}

func (w *yamlWriter) line(margin int) {
	*w = append(*w, '\n')
	for range margin {
		*w = append(*w, ' ')
	}
}

func (w *yamlWriter) scalar(v any) bool {
	switch v := v.(type) {
	case bool:
		*w = strconv.AppendBool(*w, v)
	case int64:
		*w = strconv.AppendInt(*w, v, 10)
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<50 || v == 0 && math.Signbit(v) {
			return false
		}
		*w = strconv.AppendInt(*w, int64(v), 10)
	case string:
		if !plainText(v) {
			return false
		}
		*w = append(*w, v...)
	default:
		return false
	}
	return true
}

// letters tells whether a key is a word of ASCII letters that YAML takes for a text.
func letters(key string) bool {
	for i := range len(key) {
		if c := key[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return key != "" && !word(key)
}

// plainText tells whether a text is a name, a path or a quantity that YAML cannot take for anything
// else. Longer ones might be folded.
func plainText(s string) bool {
	if s == "" || len(s) > 64 || word(s) {
		return false
	}
	if s[0] >= '1' && s[0] <= '9' {
		unit := strings.TrimLeft(s, "0123456789")
		return unit == "m" || unit == "Ki" || unit == "Mi" || unit == "Gi"
	}
	for i := range len(s) {
		c := s[i]
		switch low := c | 0x20; {
		case low >= 'a' && low <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/'):
		case i == 0 && c == '/':
		default:
			return false
		}
	}
	return true
}

// word tells whether YAML 1.1 takes a text for a boolean or for null.
func word(s string) bool {
	if len(s) > 5 {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}

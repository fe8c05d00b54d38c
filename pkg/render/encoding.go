// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// encodingFunctions quote, encode and decode.
var encodingFunctions = []function{
	{name: "quote", least: 1, most: 1, quotes: true, call: quote, doc: "The scalar as a text in double quotes, for YAML and JSON alike. null is an empty text."},
	{name: "squote", least: 1, most: 1, quotes: true, call: squote, doc: "The scalar as a text in single quotes, for YAML."},
	{name: "toYaml", least: 1, most: 1, quotes: true, call: toYaml, doc: "The value as YAML, its keys in order and its texts quoted. It is usually piped through nindent."},
	{name: "toJson mustToJson", least: 1, most: 1, quotes: true, call: toJSON("", true), doc: "The value as JSON on one line, its keys in order, with < > & escaped."},
	{name: "toRawJson mustToRawJson", least: 1, most: 1, quotes: true, call: toJSON("", false), doc: "As toJson, with < > & as they are."},
	{name: "toPrettyJson mustToPrettyJson", least: 1, most: 1, quotes: true, call: toJSON("  ", true), doc: "As toJson, on several lines."},
	{name: "fromJson mustFromJson", least: 1, most: 1, call: fromJSON, doc: "The value that a JSON text holds. A text that is no JSON ends the rendering."},
	{name: "fromYaml", least: 1, most: 1, call: fromYAML, doc: "The value that a YAML text holds: one document without anchors, tags and duplicate keys."},
	{name: "b64enc", doc: "In base64."},
	{name: "b64dec", doc: "Out of base64."},
	{name: "b32enc", doc: "In base32."},
	{name: "b32dec", doc: "Out of base32."},
	{name: "sha1sum", doc: "The SHA-1 digest in hexadecimal digits."},
	{name: "sha256sum", doc: "The SHA-256 digest in hexadecimal digits."},
	{name: "sha512sum", doc: "The SHA-512 digest in hexadecimal digits."},
	{name: "adler32sum", doc: "The Adler-32 checksum in decimal digits."},
}

func quote(in input) (any, error) {
	e := in.encoder()
	text, err := in.nullableText()
	if err != nil {
		return nil, err
	}
	err = e.text(text)
	return string(e.buf), err
}

func squote(in input) (any, error) {
	text, err := in.nullableText()
	if err != nil {
		return nil, err
	}
	if in.run.slotting {
		out, err := in.run.slot([]byte{'\''}, text, '\'')
		return string(append(out, '\'')), err
	}
	if strings.ContainsFunc(text, needsEscape) {
		return quote(in)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

func (in input) nullableText() (string, error) {
	if isNull(in.args[0]) {
		return "", nil
	}
	return in.anyText(0)
}

func toYaml(in input) (any, error) {
	e := in.encoder()
	err := e.yaml(in.args[0], 0, 0)
	return string(e.buf), err
}

func toJSON(indent string, html bool) func(input) (any, error) {
	return func(in input) (any, error) {
		e := in.encoder()
		e.html = html
		err := e.json(in.args[0], indent)
		return string(e.buf), err
	}
}

func fromJSON(in input) (any, error) {
	text, err := in.text(0)
	if err != nil {
		return nil, err
	}
	if err := in.parses(text); err != nil {
		return nil, err
	}
	v, err := pod.Decode([]byte(text))
	if err != nil {
		return nil, failed(in.from.at, "", "%s: %s is no JSON: %v", in.from.function.name, in.from.sources[0], err)
	}
	return v, in.shallow(v)
}

func fromYAML(in input) (any, error) {
	text, err := in.text(0)
	if err != nil {
		return nil, err
	}
	if err := in.parses(text); err != nil {
		return nil, err
	}
	root, err := parseYAML([]byte(text))
	if err != nil {
		return nil, failed(in.from.at, "", "%s: %s: %v", in.from.function.name, in.from.sources[0], err)
	}
	b := builder{}
	v, err := b.build(root, nil)
	if err != nil {
		return nil, failed(in.from.at, "", "%s: %s: %v", in.from.function.name, in.from.sources[0], err)
	}
	return v, nil
}

// parses charges for a text that is about to be parsed, by the values that it may hold.
func (in input) parses(text string) error {
	const parser, each = 30, 4
	return in.run.charge(parser + each*structure([]byte(text)) + len(text)/bytesPerTick)
}

// shallow bounds the depth of a decoded value.
func (in input) shallow(v any) error {
	if deeper(v, MaxDepth) {
		return tooMuch("lists and dictionaries are nested more than %d deep", MaxDepth)
	}
	return nil
}

func deeper(v any, than int) bool {
	if than < 0 {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if deeper(item, than-1) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if deeper(item, than-1) {
				return true
			}
		}
	}
	return false
}

// structure counts the bytes of a text that may begin a value in JSON or YAML: a parser makes no
// more values than that.
func structure(text []byte) int {
	n := 0
	for _, c := range []byte("[{,:-?\n") {
		n += bytes.Count(text, []byte{c})
	}
	return n
}

// plainKey tells whether a key is a word that YAML takes for a text.
func plainKey(key string) bool {
	switch strings.ToLower(key) {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.' || c == '/'):
		default:
			return false
		}
	}
	return true
}

// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text that a pod controls is not written into the output. A quoting function keeps it in a slot and
// writes a mark in its place, the slot's number between two private characters, which no YAML parser
// takes for anything but text. Once the document is parsed the mark is replaced. So whatever the
// text is, and wherever the template places it, it cannot change the document's shape.
type slot struct {
	text  string
	quote byte // that the mark stands between
}

const (
	markOpen  = "\uE000"
	markClose = "\uE001"
)

// marked tells whether a text holds a character of a mark.
func marked(text string) bool {
	return strings.Contains(text, markOpen) || strings.Contains(text, markClose)
}

// slot appends the mark of a new slot for the text.
func (r *run) slot(dst []byte, text string, quote byte) ([]byte, error) {
	r.slotted += len(text)
	if len(r.out)+r.slotted > MaxOutput {
		return nil, tooMuch("the template renders more than %d bytes", MaxOutput)
	}
	dst = append(dst, markOpen...)
	dst = strconv.AppendInt(dst, int64(len(r.slots)), 10)
	dst = append(dst, markClose...)
	r.slots = append(r.slots, slot{text, quote})
	return dst, nil
}

// fill replaces the marks in a parsed scalar. Where the scalar is the one mark that a quoting
// function wrote, its value is the slot's text; anywhere else the author wanted what the function
// would have written, quotes and escapes included. It is not ok for a mark that is no slot's.
func (r *run) fill(text string, quote byte) (filled string, ok bool) {
	if s, end := r.mark(text); end == len(text) && s != nil && s.quote == quote {
		return s.text, true
	}
	var b strings.Builder
	for {
		i := strings.Index(text, markOpen)
		if i < 0 {
			b.WriteString(text)
			return b.String(), !strings.Contains(text, markClose)
		}
		s, end := r.mark(text[i:])
		if s == nil {
			return "", false
		}
		b.WriteString(text[:i])
		b.WriteString(s.written())
		text = text[i+end:]
	}
}

// mark reads the mark at the start of a text, and tells where it ends.
func (r *run) mark(text string) (s *slot, end int) {
	rest, ok := strings.CutPrefix(text, markOpen)
	if !ok {
		return nil, 0
	}
	digits, _, ok := strings.Cut(rest, markClose)
	if !ok {
		return nil, 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n >= len(r.slots) {
		return nil, 0
	}
	return &r.slots[n], len(markOpen) + len(digits) + len(markClose)
}

// written is the slot's text as it would stand between its quotes.
func (s *slot) written() string {
	if s.quote == '\'' {
		return strings.ReplaceAll(s.text, "'", "''")
	}
	return string(appendEscaped(nil, s.text, false))
}

// appendQuoted appends a text as a JSON string that is a YAML scalar too, with the same value.
func appendQuoted(dst []byte, text string, html bool) []byte {
	return append(appendEscaped(append(dst, '"'), text, html), '"')
}

// appendEscaped escapes what JSON or YAML does not take as it is. YAML knows no surrogates, so that
// characters beyond the first plane stand as they are; what its readers refuse or take for the end
// of a line is escaped.
func appendEscaped(dst []byte, text string, html bool) []byte {
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case needsEscape(c), html && (c == '<' || c == '>' || c == '&'):
			dst = appendUnicode(dst, c)
		case c == utf8.RuneError && n == 1:
			dst = append(dst, "\uFFFD"...)
		default:
			dst = append(dst, text[i:i+n]...)
		}
		i += n
	}
	return dst
}

func needsEscape(c rune) bool {
	return c < ' ' || c >= 0x7F && c <= 0x9F || c == 0x2028 || c == 0x2029 ||
		c == 0xFEFF || c == 0xFFFE || c == 0xFFFF || c == 0xE000 || c == 0xE001
}

func appendUnicode(dst []byte, c rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[c>>12&15], digits[c>>8&15], digits[c>>4&15], digits[c&15])
}

// SPDX-License-Identifier: Apache-2.0

package workload

import "bytes"

const bom = "\xef\xbb\xbf"

// segment is the text of one YAML document, from its directives or its --- line to the next.
type segment struct {
	raw  []byte
	line int // of the stream, from 1
}

// split cuts a stream into segments, which put together are the stream. It looks at bytes only: a
// line that begins with --- or ... is a marker wherever it stands, and text inside a document
// cannot begin at column 0 like that.
func split(data []byte) []segment {
	var out []segment
	state, start, first := preamble, 0, 1
	cut := func(at, line int) {
		if at > start {
			out = append(out, segment{data[start:at], first})
		}
		state, start, first = preamble, at, line
	}
	line := 1
	for at := 0; at < len(data); line++ {
		next := at + lineLen(data[at:])
		text := bytes.TrimPrefix(data[at:next], []byte(bom))
		switch {
		case marker(text, "---"):
			if state != directives {
				cut(at, line)
			}
			state = content
		case marker(text, "..."):
			cut(next, line+1)
		case state != content && bytes.HasPrefix(text, []byte("%")):
			state = directives
		case !blank(text):
			state = content
		}
		at = next
	}
	cut(len(data), line)
	return out
}

// The states of split: a segment that holds nothing yet, only directives, or a document.
const (
	preamble = iota
	directives
	content
)

// lineLen is the length of the first line, with its end.
func lineLen(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

// marker tells whether a line is the document marker mark.
func marker(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// blank tells whether a line holds nothing, or a comment.
func blank(line []byte) bool {
	text := bytes.TrimLeft(line, " \t\r\n")
	return len(text) == 0 || text[0] == '#'
}

// empty tells whether a segment holds markers, comments and blanks alone.
func empty(text []byte) bool {
	for len(text) > 0 {
		n := lineLen(text)
		line := text[:n]
		switch {
		case marker(line, "---"), marker(line, "..."):
			if !blank(line[3:]) {
				return false
			}
		case !blank(line):
			return false
		}
		text = text[n:]
	}
	return true
}

// spaces tells whether there is nothing but spaces.
func spaces(b []byte) bool { return len(bytes.Trim(b, " ")) == 0 }

// afterMarker is where the text after a segment's --- line begins, or after --- itself where
// something stands on that line.
func afterMarker(text []byte) int {
	if !marker(text, "---") {
		return 0
	}
	at := 3 + len(text[3:]) - len(bytes.TrimLeft(text[3:], " \t"))
	if at < len(text) && text[at] == '#' {
		at += lineLen(text[at:])
	}
	return at
}

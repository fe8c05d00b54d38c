// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"

	"github.com/pillion-dev/pillion/pkg/render"
)

// Templates are long, and what differs between the texts that one renders is short: names, numbers, lists
// of ports. So a text is taken apart into what stays and holes; texts that are equal but for what fills
// their holes are parsed once, see skeleton.

// class is where what fills a hole can stand in YAML without being taken for anything but text.
type class byte

const (
	solid    class = iota // no hole
	wordy                 // letters, digits and . _ / - between them: in any scalar
	enclosed              // printable ASCII but quotes and backslashes: between quotes
	lined                 // printable ASCII: in a block literal
)

// hole is a part of a text.
type hole struct {
	render.Piece
	class
}

// maxHoles bounds the holes of a text; what is beyond stays as it is.
const maxHoles = 256

// holesOf finds the holes of the classes up to a widest one. The class is guessed from the line that a piece
// stands on: whoever builds a skeleton proves it.
func holesOf(r render.Rendered, widest class) []hole {
	if strings.ContainsAny(r.Text, marks) {
		return nil
	}
	holes := make([]hole, 0, min(len(r.Pieces), maxHoles))
	for _, p := range r.Pieces {
		h := holeAt(r.Text, p)
		if h.class == solid || h.class > widest {
			continue
		}
		if holes = append(holes, h); len(holes) == maxHoles {
			break
		}
	}
	return holes
}

// marks stand for holes in a key; YAML has none of them.
const marks = "\x01\x02\x03"

func holeAt(text string, p render.Piece) hole {
	h := hole{Piece: p}
	line := text[strings.LastIndexByte(text[:p.From], '\n')+1 : p.From]
	between := strings.Count(line, `"`)%2 == 1
	if t := text[p.From:p.To]; len(t) > 2 && t[0] == '"' && t[len(t)-1] == '"' && !between {
		h.From, h.To, between = p.From+1, p.To-1, true // the quotes stay
	}
	fill := text[h.From:h.To]
	if fill == "" || fill[0] == ' ' || fill[len(fill)-1] == ' ' || strings.Contains(line, "#") || isKey(text[h.To:]) {
		return h
	}
	switch widest := narrowest(fill); {
	case widest == wordy, widest == enclosed && between:
		h.class = widest
	case widest != solid && !between && alone(line):
		h.class = lined
	}
	return h
}

// isKey tells from what follows whether a piece ends a key.
func isKey(rest string) bool {
	rest = strings.TrimPrefix(rest, `"`)
	return strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, ":\n")
}

// narrowest is the narrowest class that a text is of.
func narrowest(text string) class {
	c := wordy
	for i := range len(text) {
		switch b := text[i]; {
		case b < ' ' || b > '~':
			return solid
		case b == '"' || b == '\'' || b == '\\':
			c = lined
		case c == wordy && !wordByte(b) && (!strings.ContainsRune("._/-", rune(b)) || i == 0 || i == len(text)-1):
			c = enclosed
		}
	}
	return c
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// alone tells whether what stands before on a line is no field and no item of a list, as in a block literal.
func alone(line string) bool {
	line = strings.TrimLeft(line, " ")
	return !strings.Contains(line, ": ") && !strings.HasPrefix(line, "- ")
}

// keyWith appends a key for all texts that are equal but for what fills the holes.
func keyWith(dst []byte, name, text string, holes []hole) []byte {
	dst = append(append(dst, name...), 0)
	at := 0
	for _, h := range holes {
		dst = append(append(dst, text[at:h.From]...), byte(h.class))
		at = h.To
	}
	return append(dst, text[at:]...)
}

// refilled is the text with other fillings.
func refilled(text string, holes []hole, fill func(i int) string) string {
	var b strings.Builder
	at := 0
	for i, h := range holes {
		b.WriteString(text[at:h.From])
		b.WriteString(fill(i))
		at = h.To
	}
	b.WriteString(text[at:])
	return b.String()
}

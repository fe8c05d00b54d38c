// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// span is where a value stands in the bytes; a string's includes its quotes. The zero span is none.
type span struct{ from, to int }

// scanner goes once over the bytes of one JSON value that are known to be valid, so that it can skip what
// nobody asked for without judging it. On bytes that are not valid it ends early or reads nonsense, but
// always within the bytes and in one go.
type scanner struct {
	raw []byte
	at  int
	odd bool // something was met that only the decoder can judge
}

// stop ends a scan over bytes that are no JSON.
func (s *scanner) stop() {
	s.odd, s.at = true, len(s.raw)
}

// peek goes to the next byte that is no space; 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.raw) {
		if c := s.raw[s.at]; c > ' ' {
			return c
		}
		s.at++
	}
	return 0
}

// enter goes into an object or a list, to its first member. It tells false after an empty one, and after a
// value of another kind, which it skips:
//
//	for ok := s.enter('{'); ok; ok = s.more() {
//		switch string(s.name()) {
func (s *scanner) enter(open byte) bool {
	if s.peek() != open {
		s.skip()
		return false
	}
	s.at++
	if next := s.peek(); next == '}' || next == ']' {
		s.at++
		return false
	}
	return true
}

// expect is enter where a value of another kind is the decoder's to judge.
func (s *scanner) expect(open byte) bool {
	s.odd = s.odd || s.peek() != open
	return s.enter(open)
}

// more goes to the next member of an object or a list, or behind its end.
func (s *scanner) more() bool {
	switch s.peek() {
	case ',':
		s.at++
		return true
	case '}', ']':
		s.at++
	default:
		s.stop()
	}
	return false
}

// name reads a member's name, as it stands between its quotes, and goes to its value.
func (s *scanner) name() []byte {
	at := s.key()
	if at.to == 0 {
		return nil
	}
	return s.raw[at.from+1 : at.to-1]
}

// key is name's place.
func (s *scanner) key() span {
	at := s.text()
	if at.to == 0 || s.peek() != ':' {
		s.stop()
		return span{}
	}
	s.at++
	return at
}

// text reads a string. Another value is skipped, and the decoder's to judge.
func (s *scanner) text() span {
	if s.peek() != '"' {
		s.odd = true
		s.skip()
		return span{}
	}
	from := s.at
	s.at = behindText(s.raw, from)
	if s.at < from+2 {
		s.stop()
		return span{}
	}
	return span{from, s.at}
}

// flag reads true or false. Another value is skipped, and the decoder's to judge.
func (s *scanner) flag() bool {
	s.peek()
	from := s.at
	s.skip()
	switch string(s.raw[from:s.at]) {
	case "true":
		return true
	case "false":
	default:
		s.odd = true
	}
	return false
}

// skip goes behind a value.
func (s *scanner) skip() {
	switch s.peek() {
	case '"':
		s.at = behindText(s.raw, s.at)
	case '{', '[':
		s.at = behindNest(s.raw, s.at)
	default:
		for s.at < len(s.raw) && !endsScalar(s.raw[s.at]) {
			s.at++
		}
	}
}

// endsScalar tells whether a byte follows a number, true, false or null.
func endsScalar(c byte) bool { return c == ',' || c == '}' || c == ']' || c <= ' ' }

// behindText is the place behind the string that opens at the given place, or goes on there without a backslash
// before: the end of the bytes where nothing closes it.
func behindText(raw []byte, from int) int {
	for at := from + 1; ; {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return len(raw)
		}
		at += n + 1
		escape := at - 1
		for raw[escape-1] == '\\' { // what stands before from ends this, if not the quote there
			escape--
		}
		if (at-escape)%2 == 1 {
			return at
		}
	}
}

// ones times a byte is a word of eight of it.
const ones = 0x0101010101010101

// behindNest is the place behind the object or list that opens at the given place: the end of the bytes
// where nothing closes it. Nearly all bytes of a pod are passed here; eight at a time take two thirds of
// the time of one at a time. What is found of a byte stands in its lowest bit.
func behindNest(raw []byte, open int) int {
	depth, quoted := 0, uint64(0) // quoted is ones where the word begins within a string
	for at := open; at < len(raw); {
		x, next := word(raw, at), at+8
		// Within a string is a byte that an odd number of quotes stands before: the product sums them up.
		within := equal(x, '"')*ones&ones ^ quoted
		quoted = within >> 56 * ones
		// Of all that stands outside of strings, 26 makes 7f of the four brackets alone.
		brackets := equal(x|0x26*ones, 0x7f) &^ within
		// A backslash, or what is not ASCII, stands in a string, whose end is sought from there.
		if slow := equal(x, '\\') | x>>7&ones; slow != 0 {
			first := bits.TrailingZeros64(slow)
			brackets &= 1<<first - 1
			next, quoted = behindText(raw, at+first/8), 0
		}
		if brackets != 0 {
			end := 0
			if depth, end = nest(depth, brackets, brackets&(x>>2)); depth == 0 {
				return at + end
			}
		}
		at = next
	}
	return len(raw)
}

// nest is the depth after the brackets of a word, of which some are closing, and the place behind the one
// that makes it 0.
func nest(depth int, brackets, closing uint64) (after, end int) {
	if closed := int(closing * ones >> 56); closed < depth {
		return depth + int(brackets*ones>>56) - 2*closed, 0
	}
	for ; brackets != 0; brackets &= brackets - 1 {
		bit := bits.TrailingZeros64(brackets)
		if depth += 1 - 2*int(closing>>bit&1); depth <= 0 {
			return 0, bit/8 + 1
		}
	}
	return depth, 0
}

// equal has the lowest bit of each byte set that is c, up to the first that is not ASCII.
func equal(x, c uint64) uint64 { return ^((x ^ c*ones) + 0x7f*ones) >> 7 & ones }

// word is the eight bytes that begin at the given place, with zeros for those behind the end.
func word(raw []byte, at int) uint64 {
	if at+8 <= len(raw) {
		return binary.LittleEndian.Uint64(raw[at:])
	}
	var last [8]byte
	copy(last[:], raw[at:])
	return binary.LittleEndian.Uint64(last[:])
}

// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"io"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// WriteShape writes the pod's bytes to a digest, with a mark in place of each value to hide. Two pods write
// the same if they are the same to the byte but for such values, and the tokens' names of one can be
// exchanged one for one with those of the other. It copies nothing. What w says is not heard: a digest has
// no errors.
func (d Doc) WriteShape(w io.Writer, hide Hidden) {
	written := 0
	f := finder{scanner: scanner{raw: d.raw}, hide: hide}
	f.tell = func(kind Hidden, number int, at span) {
		_, _ = w.Write(d.raw[written:at.from])
		_, _ = w.Write(mark(kind, number))
		written = at.to
	}
	if hide != 0 {
		f.pod()
	}
	_, _ = w.Write(d.raw[written:])
}

// marks are one for each kind, and then one for each token: a zero, which JSON has not, and another byte.
var marks = []byte("\x00n\x00i\x00o\x00h\x00m\x00-\x00c\x00x" +
	"\x000\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00A\x00B\x00C\x00D\x00E\x00F")

func mark(kind Hidden, number int) []byte {
	at := bits.TrailingZeros16(uint16(kind))
	if kind == HideToken {
		at = bits.Len16(uint16(HideAll)) + number
	}
	return marks[2*at : 2*at+2]
}

// HiddenTexts are the values that a shape leaves out, in the order of the bytes, each token once.
func (d Doc) HiddenTexts(hide Hidden) []string {
	var texts []string
	tokens := 0
	f := finder{scanner: scanner{raw: d.raw}, hide: hide}
	f.tell = func(kind Hidden, number int, at span) {
		if kind == HideToken {
			if number < tokens {
				return
			}
			tokens++
		}
		text, err := jsontext.AppendUnquote(nil, d.raw[at.from:at.to])
		if err != nil { // the bytes are no JSON
			text = d.raw[at.from:at.to]
		}
		texts = append(texts, string(text))
	}
	f.pod()
	return texts
}

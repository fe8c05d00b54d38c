// SPDX-License-Identifier: Apache-2.0

package render

import "slices"

// Rendered is the text that a foreign template renders, with the places of what its actions printed; what
// stands between them is the template's own text.
type Rendered struct {
	Text   string
	Pieces []Piece // in the order of the text
}

// Piece is a part of a text: the bytes from From up to To.
type Piece struct{ From, To int }

// Run is Text, with the pieces.
func (t *Template) Run(data any) (Rendered, Stats, error) {
	var pieces []Piece
	text, stats, err := t.text(data, func(r *run) { pieces = slices.Clone(r.foreign.pieces) })
	return Rendered{text, pieces}, stats, err
}

// printed notes what an action has printed since.
func (r *run) printed(since int) {
	if len(r.out) > since {
		r.foreign.pieces = append(r.foreign.pieces, Piece{since, len(r.out)})
	}
}

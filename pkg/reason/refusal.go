// SPDX-License-Identifier: Apache-2.0

package reason

import "strings"

// Refusal is the end of a request that its author must mend: it names the reason, the field, what
// is wrong with it and what would mend it. It is an error, so that a stage returns it as one.
type Refusal struct {
	Reason Reason
	Path   string // of the field in the object, such as spec.volumes[data]; may be empty
	Detail string // what is wrong, with the value
	Hint   string // what would mend it; may be empty

	// Causes are the fields at fault, where a check finds several at once: Path is that of the first,
	// and Detail tells of all. Empty for one fault alone.
	Causes []Cause
}

// Cause is one of several faults of a refusal.
type Cause struct {
	Path   string // as in Refusal
	Detail string
}

// Error tells the reason, the path and the detail, without the hint.
func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString(r.Reason.ID())
	b.WriteByte(' ')
	b.WriteString(r.Reason.String())
	b.WriteString(": ")
	if r.Path != "" {
		b.WriteString(r.Path)
		b.WriteString(": ")
	}
	b.WriteString(r.Detail)
	return b.String()
}

// Warning is told to a person and changes nothing.
type Warning struct {
	Reason Reason
	Path   string // as in Refusal
	Detail string
}

// Text is the warning on one line, cut to the 120 characters that the API conventions advise.
func (w Warning) Text() string {
	text := w.Reason.ID() + " "
	if w.Path != "" {
		text += w.Path + ": "
	}
	return cut(text+w.Detail, 120)
}

// cut shortens text to at most limit runes, and turns control characters into spaces: the API
// server drops a warning that holds one.
func cut(text string, limit int) string {
	runes := []rune(text)
	for i, r := range runes {
		if r < ' ' || r == 0x7f {
			runes[i] = ' '
		}
	}
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}

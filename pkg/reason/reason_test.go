// SPDX-License-Identifier: Apache-2.0

package reason

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRegistryIsClosedAndOrdered(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	last := ""
	for i, r := range All() {
		if int(r) != i+1 {
			t.Errorf("registry entry %d holds reason %d: constants and table differ", i+1, r)
		}
		if r.ID() <= last {
			t.Errorf("%s comes after %s", r.ID(), last)
		}
		last = r.ID()
		if !name.MatchString(r.String()) {
			t.Errorf("%s: name %q is not snake_case", r.ID(), r)
		}
		if !strings.HasSuffix(r.Doc(), ".") {
			t.Errorf("%s: doc is not a sentence", r.ID())
		}
	}
	if None.ID() != "" || None.String() != "" || Reason(255).ID() != "" {
		t.Error("a reason outside the registry has a name")
	}
}

func TestWarningTextFits(t *testing.T) {
	w := Warning{UnknownKey, "metadata.annotations", strings.Repeat("é\n", 200)}
	text := w.Text()
	if n := utf8.RuneCountInString(text); n != 120 || strings.ContainsRune(text, '\n') {
		t.Errorf("got %d runes: %q", n, text)
	}
}

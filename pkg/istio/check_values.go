// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// What the checks allow, in words.
const (
	portBounds   = "from 0 to 65535"
	countBounds  = "from 0 to 4294967295"
	parsedBounds = "1, t, T, TRUE, true, True, 0, f, F, FALSE, false or False"
)

// checkText keeps a text from saying more than itself where a template writes it into YAML without
// quotes: one that stays on its line cannot become a second field or container.
func checkText(value string) error {
	if !utf8.ValidString(value) {
		return errors.New("want UTF-8")
	}
	for _, r := range value {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("it holds the character %U, want printable ones only", r)
		}
	}
	return nil
}

// checkBare is checkText for what templates write between quotes of their own, inside of a flow
// mapping: a quote would end the text there.
func checkBare(value string) error {
	if at := strings.IndexAny(value, `"'\{}[]`); at >= 0 {
		return fmt.Errorf("it holds the character %c, want ports separated by commas", value[at])
	}
	return checkText(value)
}

func checkInterception(value string) error {
	switch value {
	case "REDIRECT", "TPROXY", "NONE":
		return nil
	}
	return errors.New("want REDIRECT, TPROXY or NONE")
}

func checkPort(value string) error {
	if _, err := strconv.ParseUint(strings.TrimSpace(value), 10, 16); err != nil {
		return fmt.Errorf("%s is no port, want one %s", quoted(value), portBounds)
	}
	return nil
}

func checkCount(value string) error {
	if _, err := strconv.ParseUint(value, 10, 32); err != nil {
		return errors.New("want a whole number " + countBounds)
	}
	return nil
}

func checkBool(value string) error {
	if _, err := strconv.ParseBool(value); err != nil {
		return errors.New("want true or false")
	}
	return nil
}

// checkQuantity refuses control characters first: the parser's own message would not tell of them.
func checkQuantity(value string) error {
	if strings.IndexFunc(value, unicode.IsControl) >= 0 {
		return checkText(value)
	}
	return pod.CheckQuantity(value)
}

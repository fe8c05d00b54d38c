// SPDX-License-Identifier: Apache-2.0

package param

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// The bounds of a text before it is read.
const (
	maxItems    = 64 // of a list
	maxImage    = 512
	maxDuration = 64
	maxInteger  = 20
)

const mostPort = 65535

// imageGrammar is a host with a port, a path in small letters, a tag and a digest; all but the path
// may be missing. It is narrower than what some runtimes take: what it lets through needs no quotes.
var imageGrammar = regexp.MustCompile(`\A` +
	`(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?/)?` +
	`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*` +
	`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
	`(?:@(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?\z`)

// read turns a text into a value of a type. It returns at once, whatever the text.
func read(kind, text string) (*reading, error) {
	r := &reading{text: text, value: text}
	switch kind {
	case config.TypeBool:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("%.64q is neither true nor false", text)
		}
		r.value = text == "true"
	case config.TypeInt:
		n, err := integer(text)
		if err != nil {
			return nil, err
		}
		r.value, r.amounts = n, amounts(n)
	case config.TypePort:
		n, err := port(text)
		if err != nil {
			return nil, err
		}
		r.value, r.amounts = n, amounts(n)
	case config.TypeQuantity:
		return readQuantity(text)
	case config.TypeDuration:
		return readDuration(text)
	case config.TypePorts:
		return readPorts(text)
	case config.TypeCIDRs:
		return readCIDRs(text)
	case config.TypeImage:
		if len(text) > maxImage || !imageGrammar.MatchString(text) {
			return nil, fmt.Errorf("%.64q is no image reference", text)
		}
	default:
		return readString(text)
	}
	return r, nil
}

func amounts(n int64) []resource.Quantity {
	return []resource.Quantity{*resource.NewQuantity(n, resource.DecimalSI)}
}

// integer reads plain decimal digits: 010 and +1 mean different things to different readers.
func integer(text string) (int64, error) {
	if len(text) <= maxInteger {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%.64q is no 64-bit integer in plain decimal digits", text)
}

func port(text string) (int64, error) {
	n, err := integer(text)
	if err != nil || n < 1 || n > mostPort {
		return 0, fmt.Errorf("%.64q is no port from 1 to %d", text, mostPort)
	}
	return n, nil
}

// largest is the largest quantity that the API defines. A larger one loses its suffix when it is
// written: 1000000000000000E would become 1.
var largest = resource.MustParse("9223372036854775807")

// readQuantity gives the canonical form, with a suffix in place of an exponent.
func readQuantity(text string) (*reading, error) {
	q, err := pod.ParseQuantity(text)
	if err != nil {
		return nil, err
	}
	size := q.DeepCopy()
	if size.Sign() < 0 {
		size.Neg()
	}
	if size.Cmp(largest) > 0 {
		return nil, fmt.Errorf("%q is more than a quantity can hold", text)
	}
	if q.Format == resource.DecimalExponent {
		q.Format = resource.DecimalSI
	}
	number, suffix := q.CanonicalizeBytes(nil)
	return &reading{text: text, value: string(number) + string(suffix), amounts: []resource.Quantity{q}}, nil
}

func readDuration(text string) (*reading, error) {
	d, err := time.ParseDuration(text)
	if err != nil || len(text) > maxDuration {
		return nil, fmt.Errorf("%.64q is no duration", text)
	}
	return &reading{text: text, value: text, amounts: amounts(int64(d))}, nil
}

func readPorts(text string) (*reading, error) {
	items, err := split(text)
	r := &reading{text: text}
	list := []any{}
	for _, item := range items {
		n, err := port(item)
		if err != nil {
			return nil, err
		}
		list, r.amounts = append(list, n), append(r.amounts, *resource.NewQuantity(n, resource.DecimalSI))
	}
	r.value = list
	return r, err
}

// readCIDRs gives each network without its host bits.
func readCIDRs(text string) (*reading, error) {
	items, err := split(text)
	list := []any{}
	for _, item := range items {
		prefix, err := netip.ParsePrefix(item)
		if err != nil {
			return nil, fmt.Errorf("%.64q is no network in CIDR notation", item)
		}
		list = append(list, prefix.Masked().String())
	}
	return &reading{text: text, value: list}, err
}

// split gives the items between the commas. An empty text is an empty list.
func split(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if n := strings.Count(text, ",") + 1; n > maxItems {
		return nil, fmt.Errorf("a list of %d is longer than the %d allowed", n, maxItems)
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		items[i] = strings.Trim(item, " ")
	}
	return items, nil
}

// readString refuses what breaks a line or hides in it. The amount is the length in characters.
func readString(text string) (*reading, error) {
	for _, c := range text {
		if c != '\t' && (unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || c == '\ufeff') {
			return nil, fmt.Errorf("%.64q holds the control character %U", text, c)
		}
	}
	return &reading{text: text, value: text, amounts: amounts(int64(utf8.RuneCountInString(text)))}, nil
}

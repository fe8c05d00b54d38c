// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The bounds of a quantity's text. The Kubernetes parser needs seconds to hours for some short
// ones: 1e-999999999 does not return, and 1e9999999 returns but cannot be compared.
const (
	maxQuantityLength   = 64
	maxQuantityExponent = 2 // digits
)

// ParseQuantity reads a quantity of resource.ParseQuantity's grammar after bounding its length to
// 64 bytes and its exponent to two digits, so that it always returns at once.
func ParseQuantity(text string) (resource.Quantity, error) {
	if text == "" {
		return resource.Quantity{}, errors.New("an empty text is no quantity")
	}
	if len(text) > maxQuantityLength {
		return resource.Quantity{}, fmt.Errorf("a quantity has at most %d characters, this one has %d", maxQuantityLength, len(text))
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		digits := strings.TrimLeft(text[i+1:], "+-")
		if len(digits) > maxQuantityExponent {
			return resource.Quantity{}, fmt.Errorf("%q: the exponent of a quantity has at most %d digits", text, maxQuantityExponent)
		}
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("%q is no quantity: want a number with a suffix such as m, Ki, Mi, G, or an exponent", text)
	}
	return q, nil
}

// CheckQuantity is ParseQuantity's error.
func CheckQuantity(text string) error {
	_, err := ParseQuantity(text)
	return err
}

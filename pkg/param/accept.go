// SPDX-License-Identifier: Apache-2.0

package param

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pillion-dev/pillion/pkg/config"
)

// longest is how many bytes a text of each type may have, checked before anything else is done with
// it. That of a string follows from its bound.
func (p *param) longest() int {
	switch p.Type {
	case config.TypeString:
		if p.max == nil {
			return utf8.UTFMax * mostLength
		}
		return utf8.UTFMax * int(p.max.amount.Value())
	case config.TypePorts, config.TypeCIDRs:
		return maxItems * 64
	}
	return maxImage
}

// accept reads a text and holds it against the parameter's bounds.
func (p *param) accept(text string) (*reading, error) {
	if most := p.longest(); len(text) > most {
		return nil, fmt.Errorf("a text of %d bytes is longer than the %d allowed", len(text), most)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the text is not UTF-8")
	}
	r, err := read(p.Type, text)
	if err != nil {
		return nil, err
	}
	if p.Type == config.TypeEnum && !slices.Contains(p.Values, text) {
		return nil, fmt.Errorf("%.64q is none of %s", text, strings.Join(p.Values, ", "))
	}
	for i, amount := range r.amounts {
		if p.min != nil && amount.Cmp(p.min.amount) < 0 {
			return nil, fmt.Errorf("%s below the minimum %s", p.subject(r, i), p.min.text)
		}
		if p.max != nil && amount.Cmp(p.max.amount) > 0 {
			return nil, fmt.Errorf("%s above the maximum %s", p.subject(r, i), p.max.text)
		}
	}
	if p.pattern != nil && !p.pattern.MatchString(text) {
		return nil, fmt.Errorf("%.64q does not match the pattern %s", text, p.Pattern)
	}
	return r, nil
}

// subject names what is outside a bound.
func (p *param) subject(r *reading, i int) string {
	switch p.Type {
	case config.TypeString:
		return fmt.Sprintf("%.64q has %d characters,", r.text, r.amounts[i].Value())
	case config.TypePorts:
		return fmt.Sprintf("the port %d is", r.amounts[i].Value())
	}
	return fmt.Sprintf("%.64q is", r.text)
}

// hint tells what would be accepted.
func (p *param) hint() string {
	switch p.Type {
	case config.TypeBool:
		return "give true or false"
	case config.TypeInt:
		return "give an integer" + p.span()
	case config.TypeQuantity:
		return "give a quantity such as 500m or 64Mi" + p.span()
	case config.TypeDuration:
		return "give a duration such as 30s or 1m30s" + p.span()
	case config.TypePort:
		return "give a port" + p.span()
	case config.TypePorts:
		return "give ports such as 8080,9090" + p.span()
	case config.TypeCIDRs:
		return "give networks such as 10.0.0.0/8,fd00::/8"
	case config.TypeEnum:
		return "give one of " + strings.Join(p.Values, ", ")
	case config.TypeImage:
		return "give an image such as registry.example/team/agent:1.2" + p.shape()
	}
	return "give a text without control characters, with a length" + p.span() + p.shape()
}

func (p *param) span() string {
	switch {
	case p.min != nil && p.max != nil:
		return " from " + p.min.text + " to " + p.max.text
	case p.min != nil:
		return " of at least " + p.min.text
	case p.max != nil:
		return " of at most " + p.max.text
	}
	return ""
}

func (p *param) shape() string {
	if p.Pattern == "" {
		return ""
	}
	return " that matches " + p.Pattern
}

// SPDX-License-Identifier: Apache-2.0

package param

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/config"
)

// Fault is what is wrong with a parameter as its template declares it.
type Fault struct {
	Field  string // in the template, such as parameters[0].default
	Detail string
	Hint   string // may be empty
}

// New compiles the parameters of a template that config.Parse accepted. Of a declaration that does
// not hold together every fault is told, and the set is empty.
func New(t config.Template) (Set, []Fault) {
	c := compiler{template: t}
	set := Set{template: t.Name}
	for i, declared := range t.Parameters {
		set.params = append(set.params, c.param(i, declared))
	}
	for i, p := range set.params {
		if p.atMost >= 0 && above(p.fallback, set.params[p.atMost].fallback) {
			c.fail(i, "default", fmt.Sprintf("%q is more than %q, the default of %s", *p.Default, *set.params[p.atMost].Default, p.AtMost),
				"a pod that sets neither would be refused")
		}
	}
	if len(c.faults) > 0 {
		return Set{}, c.faults
	}
	return set, nil
}

type compiler struct {
	template config.Template
	faults   []Fault
}

func (c *compiler) fail(i int, field, detail, hint string) {
	c.faults = append(c.faults, Fault{Field: fmt.Sprintf("parameters[%d].%s", i, field), Detail: detail, Hint: hint})
}

func (c *compiler) param(i int, declared config.Parameter) param {
	p := param{Parameter: declared, atMost: -1}
	if !slices.Contains(config.ParameterTypes(), p.Type) {
		c.fail(i, "type", fmt.Sprintf("%.64q is no type of parameter", p.Type), "")
		return p
	}
	if key, ok := annotation.Lookup(p.Annotation); ok {
		c.fail(i, "annotation", fmt.Sprintf("%s is the injector's own %s", key.Name, key.Kind), "choose a key such as "+c.template.Name+"."+annotation.Domain+"/"+p.Name)
	}
	if p.Pattern != "" {
		var err error
		if p.pattern, err = regexp.Compile(`\A(?:` + p.Pattern + `)\z`); err != nil {
			c.fail(i, "pattern", err.Error(), "")
		}
	}
	p.min, p.max = c.bound(i, "min", p.Type, p.Min), c.bound(i, "max", p.Type, p.Max)
	if p.min != nil && p.max != nil && p.min.amount.Cmp(p.max.amount) > 0 {
		c.fail(i, "min", fmt.Sprintf("%q is more than the maximum %q", p.min.text, p.max.text), "")
	}
	if p.AtMost != "" {
		p.atMost = slices.IndexFunc(c.template.Parameters, func(other config.Parameter) bool {
			return other.Name == p.AtMost && other.Type == p.Type && ordered(p.Type)
		})
		if p.atMost < 0 {
			c.fail(i, "atMost", fmt.Sprintf("%.64q is no other parameter that can be compared", p.AtMost), "")
		}
	}
	c.fallback(i, &p)
	return p
}

// fallback reads the default, which must be a value that a pod could set.
func (c *compiler) fallback(i int, p *param) {
	if p.Default == nil {
		return
	}
	r, err := p.accept(*p.Default)
	if err != nil {
		c.fail(i, "default", err.Error(), p.hint())
		return
	}
	p.fallback = r
}

// ordered tells whether each value of a type is one amount.
func ordered(kind string) bool {
	return kind == config.TypeQuantity || kind == config.TypeInt || kind == config.TypeDuration
}

// The bounds of a string's length, in characters: when its parameter says nothing, and the most that
// it may say.
const (
	usualLength = 4096
	mostLength  = 65536
)

// bound reads min or max, or gives the type's own. Of a string it is the length.
func (c *compiler) bound(i int, field, kind, text string) *limit {
	if text == "" {
		return usualBound(field, kind)
	}
	if kind == config.TypeString {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostLength {
			c.fail(i, field, fmt.Sprintf("%.64q is no length from 0 to %d", text, mostLength), "of a string, the bounds are those of its length")
			return nil
		}
		return &limit{*resource.NewQuantity(int64(n), resource.DecimalSI), text}
	}
	if kind == config.TypePorts {
		kind = config.TypePort
	}
	r, err := read(kind, text)
	if err != nil {
		c.fail(i, field, err.Error(), "")
		return nil
	}
	if len(r.amounts) != 1 {
		c.fail(i, field, "means nothing for type "+kind, "")
		return nil
	}
	return &limit{r.amounts[0], text}
}

// usualBound is what holds without a word: a negative size or time is a slip, and a text has an end.
func usualBound(field, kind string) *limit {
	whole := func(n int64) *limit {
		return &limit{*resource.NewQuantity(n, resource.DecimalSI), strconv.FormatInt(n, 10)}
	}
	switch kind {
	case config.TypeQuantity, config.TypeDuration:
		if field == "min" {
			return whole(0)
		}
	case config.TypePort, config.TypePorts:
		if field == "min" {
			return whole(1)
		}
		return whole(mostPort)
	case config.TypeString:
		if field == "max" {
			return whole(usualLength)
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package render

import "math"

// numberFunctions are Sprig's. A text that holds a number counts as that number, and any other text
// as 0. Those that calculate in decimals take few arguments, for their digits add up.
var numberFunctions = []function{
	{name: "int", plain: true, doc: "As a whole number; a text that is none is 0."},
	{name: "int64", plain: true, doc: "As int."},
	{name: "float64", plain: true, doc: "As a number with a fraction; a text that is none is 0."},
	{name: "atoi", plain: true, doc: "The whole number that the text holds, or 0."},
	{name: "toDecimal", plain: true, doc: "The number that the octal digits stand for."},
	{name: "add", plain: true, least: 1, most: 64, doc: "The sum of the whole numbers."},
	{name: "add1", plain: true, doc: "One more."},
	{name: "sub", plain: true, doc: "The first whole number less the second."},
	{name: "mul", plain: true, least: 1, most: 64, doc: "The product of the whole numbers."},
	{name: "div", plain: true, doc: "The first whole number divided by the second, without the rest."},
	{name: "mod", plain: true, doc: "The rest of that division."},
	{name: "max", plain: true, least: 1, most: 64, doc: "The largest of the whole numbers."},
	{name: "biggest", plain: true, least: 1, most: 64, doc: "As max."},
	{name: "min", plain: true, least: 1, most: 64, doc: "The smallest of the whole numbers."},
	{name: "addf", plain: true, least: 1, most: 8, guard: guardDecimal, doc: "The sum of numbers with fractions."},
	{name: "add1f", plain: true, guard: guardDecimal, doc: "One more, for a number with a fraction."},
	{name: "subf", plain: true, least: 2, most: 8, guard: guardDecimal, doc: "The first number less the others."},
	{name: "mulf", plain: true, least: 1, most: 8, guard: guardDecimal, doc: "The product of numbers with fractions."},
	{name: "divf", plain: true, least: 2, most: 8, guard: guardDecimal, doc: "The first number divided by the others."},
	{name: "maxf", plain: true, least: 1, most: 8, doc: "The largest of the numbers."},
	{name: "minf", plain: true, least: 1, most: 8, doc: "The smallest of the numbers."},
	{name: "ceil", plain: true, doc: "The next whole number upwards."},
	{name: "floor", plain: true, doc: "The next whole number downwards."},
	{name: "round", plain: true, least: 2, most: 3, doc: "round 1.234 2: with so many decimal places."},
}

// guardDecimal refuses numbers that would fill hundreds of digits, and charges for the others'.
func guardDecimal(in input) error {
	const price = 10
	for i, arg := range in.args {
		v := scalar(arg)
		if text, ok := v.(string); ok {
			v = number(text)
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.Abs(f) > 1e30 || f != 0 && math.Abs(f) < 1e-30) {
			return in.want(i, "a number that is neither very large nor very small")
		}
	}
	return in.run.charge(price * len(in.args))
}

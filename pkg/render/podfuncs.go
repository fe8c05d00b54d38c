// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podFunctions know what a pod is.
var podFunctions = []function{
	{name: "annotation", least: 3, most: 3, call: annotationOr, doc: "annotation .ObjectMeta \"key\" default: the annotation's value, or the default as text where there is none."},
	{name: "labelValue", least: 1, most: 1, call: labelValueOf, doc: "The text as a valid label value. Where it must be cut or changed for that, it ends in a dash and 8 digits of its SHA-256, so that two long names stay apart."},
}

func annotationOr(in input) (any, error) {
	meta, ok := in.args[0].(*metav1.ObjectMeta)
	if !ok {
		return nil, in.want(0, ".ObjectMeta")
	}
	key, err := in.text(1)
	if err != nil {
		return nil, err
	}
	if value, ok := meta.Annotations[key]; ok {
		return value, nil
	}
	if isNull(in.args[2]) {
		return "", nil
	}
	return in.anyText(2)
}

func labelValueOf(in input) (any, error) {
	if isNull(in.args[0]) {
		return "", nil
	}
	text, err := in.anyText(0)
	return labelValue(text), err
}

const (
	maxLabel    = 63
	labelDigits = 8
)

// labelValue makes a valid label value of a text: at most 63 letters, digits, dashes, underscores
// and dots, with a letter or a digit at both ends.
func labelValue(text string) string {
	value := strings.Trim(text, "-_.")
	clean := strings.Map(func(c rune) rune {
		if alphanumeric(c) || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}, value)
	if clean == value && len(value) <= maxLabel {
		return value
	}
	digest := sha256.Sum256([]byte(text))
	suffix := hex.EncodeToString(digest[:labelDigits/2])
	clean = strings.Trim(clean[:min(len(clean), maxLabel-labelDigits-1)], "-_.")
	if clean == "" {
		return suffix
	}
	return clean + "-" + suffix
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

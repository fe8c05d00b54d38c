// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pillion-dev/pillion/pkg/reason"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	maxMessage    = 1024 // runes; an event holds no more
	maxWarning    = 120  // runes, as the API conventions advise
	maxWarnings   = 32   // the API server stops at 4096 runes in all
	maxAnnotation = 1024 // runes of an audit annotation's value
	maxCauses     = 64   // of a refusal
)

// appendReview is the AdmissionReview that answers req, in the order of the API's fields.
func appendReview(version string, req *Request, resp *Response) []byte {
	size := 256 + len(req.UID) + base64.StdEncoding.EncodedLen(len(resp.Patch)) +
		(len(resp.Warnings)+len(resp.AuditAnnotations))*maxWarning
	b := make([]byte, 0, size)
	b = append(b, `{"kind":"AdmissionReview","apiVersion":"`...)
	b = append(b, version...)
	b = append(b, `","response":{"uid":`...)
	b = appendString(b, req.UID)
	if resp.Denied != nil {
		b = append(b, `,"allowed":false,"status":`...)
		b = appendStatus(b, req, resp.Denied)
	} else {
		b = append(b, `,"allowed":true`...)
	}
	if len(resp.Patch) > 0 {
		b = append(b, `,"patch":"`...)
		b = base64.StdEncoding.AppendEncode(b, resp.Patch)
		b = append(b, `","patchType":"JSONPatch"`...)
	}
	b = appendAnnotations(b, resp.AuditAnnotations)
	b = appendWarnings(b, resp.Warnings)
	return append(b, "}}"...)
}

// appendStatus tells a refusal to a person, in the message, and to a program, in the causes.
func appendStatus(b []byte, req *Request, refusal *reason.Refusal) []byte {
	code, cause := http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
	switch {
	case refusal.Reason == reason.PodUnreadable || refusal.Reason == reason.ReviewMalformed:
		code, cause = http.StatusBadRequest, metav1.StatusReasonBadRequest
	case refusal.Path == "":
		// kubectl shows only the causes of an Invalid, by their field.
		code, cause = http.StatusForbidden, metav1.StatusReasonForbidden
	}
	details := &metav1.StatusDetails{Causes: causes(refusal)}
	if req.Name != "" { // a pod with a generated name has none yet, and kubectl would show ""
		details.Name, details.Group, details.Kind = req.Name, req.Kind.Group, req.Kind.Kind
	}
	status, err := json.Marshal(metav1.Status{
		Status:  metav1.StatusFailure,
		Message: message(refusal),
		Reason:  cause,
		Details: details,
		Code:    int32(code),
	})
	if err != nil { // strings and numbers always encode
		return append(b, "null"...)
	}
	return append(b, status...)
}

// causes are the fields at fault, each with its own fault.
func causes(refusal *reason.Refusal) []metav1.StatusCause {
	all := refusal.Causes
	if len(all) == 0 {
		all = []reason.Cause{{Path: refusal.Path, Detail: refusal.Detail}}
	}
	out := make([]metav1.StatusCause, min(len(all), maxCauses))
	for i := range out {
		bare := *refusal
		bare.Path, bare.Detail = "", all[i].Detail
		out[i] = metav1.StatusCause{
			Type:    metav1.CauseTypeFieldValueInvalid,
			Message: message(&bare),
			Field:   clean(all[i].Path, maxMessage),
		}
	}
	return out
}

// message is a refusal on one line. A long detail is cut before the hint, which helps more.
func message(refusal *reason.Refusal) string {
	text := clean(refusal.Error(), maxMessage/2)
	if refusal.Hint == "" {
		return text
	}
	return text + "; hint: " + clean(refusal.Hint, maxMessage/2-8)
}

func appendAnnotations(b []byte, annotations map[string]string) []byte {
	if len(annotations) == 0 {
		return b
	}
	var few [8]string // what a Reviewer tells takes no allocation so; slices.Sorted makes six
	keys := slices.AppendSeq(few[:0], maps.Keys(annotations))
	slices.Sort(keys)
	separator := `,"auditAnnotations":{`
	for _, key := range keys {
		if !validKey(key) {
			continue // the API server would drop it, with a line in its own log
		}
		b = append(b, separator...)
		b = appendString(b, key)
		b = append(b, ':')
		b = appendString(b, clean(annotations[key], maxAnnotation))
		separator = ","
	}
	if separator != "," {
		return b
	}
	return append(b, '}')
}

func appendWarnings(b []byte, warnings []string) []byte {
	if len(warnings) == 0 {
		return b
	}
	told := make([]string, 0, min(len(warnings), maxWarnings))
	separator := `,"warnings":[`
	for _, warning := range warnings {
		warning = clean(warning, maxWarning)
		if warning == "" || slices.Contains(told, warning) || len(told) == maxWarnings {
			continue
		}
		b = append(b, separator...)
		b = appendString(b, warning)
		separator = ","
		told = append(told, warning)
	}
	if len(told) == 0 {
		return b
	}
	return append(b, ']')
}

// validKey tells whether the API server takes the key of an audit annotation: the name part of a
// qualified name, for the webhook's name becomes the prefix.
func validKey(key string) bool {
	alphanumeric := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	if key == "" || len(key) > 63 || !alphanumeric(key[0]) || !alphanumeric(key[len(key)-1]) {
		return false
	}
	for i := range len(key) {
		if !alphanumeric(key[i]) && !strings.ContainsRune("-_.", rune(key[i])) {
			return false
		}
	}
	return true
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // callers send valid UTF-8; anything else is replaced
	return b
}

// printable tells whether all of a text is ASCII that fits on a line, as nearly every text is.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// clean makes text fit for one line: at most limit runes, without control characters or bytes that
// are not UTF-8. Text that is fit already is returned as it is.
func clean(text string, limit int) string {
	if len(text) <= limit && printable(text) {
		return text
	}
	cut := len(text) > limit && utf8.RuneCountInString(text) > limit
	if !cut && utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if cut && n == limit-1 {
			b.WriteRune('…')
			break
		}
		if unicode.IsControl(r) {
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

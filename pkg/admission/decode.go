// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pillion-dev/pillion/pkg/pod"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fault is a request that is no admission review: the status and a line that names what is wrong.
type fault struct {
	status int
	text   string
}

func (f *fault) Error() string { return f.text }

func faulty(status int, format string, args ...any) error {
	return &fault{status, clean(fmt.Sprintf(format, args...), maxMessage)}
}

// firstRead bounds what a promised length alone can make us allocate.
const firstRead = 64 << 10

// checkHeader judges a request by its header, before a byte of the body is read.
func checkHeader(r *http.Request, limit int64) error {
	if r.Method != http.MethodPost {
		return faulty(http.StatusMethodNotAllowed, "method %q, not POST", r.Method)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return faulty(http.StatusUnsupportedMediaType, "content encoding %q; send the body as it is", coding)
	}
	if content := r.Header.Get("Content-Type"); content != "application/json" {
		media, _, err := mime.ParseMediaType(content)
		if media != "application/json" || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
			return faulty(http.StatusUnsupportedMediaType, "content type %q, not application/json", content)
		}
	}
	if r.ContentLength > limit {
		return faulty(http.StatusRequestEntityTooLarge, "a body of %d bytes; the limit is %d", r.ContentLength, limit)
	}
	return nil
}

// readBody reads a body whole, at most limit bytes of it.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	size := r.ContentLength
	if size < 0 || size > firstRead {
		size = firstRead
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, faulty(http.StatusRequestEntityTooLarge, "a body of more than %d bytes", limit)
		}
		return nil, faulty(http.StatusBadRequest, "the body ends early: %v", err)
	}
	if len(bytes.TrimSpace(buf.Bytes())) == 0 {
		return nil, faulty(http.StatusBadRequest, "the body is empty")
	}
	return buf.Bytes(), nil
}

// review and wireRequest are the fields of k8s.io/api/admission/v1, and v1beta1, that count here.
type review struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Request    *wireRequest `json:"request"`
}

type wireRequest struct {
	UID         string                      `json:"uid"`
	Kind        metav1.GroupVersionKind     `json:"kind"`
	Resource    metav1.GroupVersionResource `json:"resource"`
	SubResource string                      `json:"subResource"`
	Name        string                      `json:"name"`
	Namespace   string                      `json:"namespace"`
	Operation   string                      `json:"operation"`
	DryRun      bool                        `json:"dryRun"`
	User        userInfo                    `json:"userInfo"`
	Object      span                        `json:"object"`
	OldObject   span                        `json:"oldObject"`
}

type userInfo struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups"`
}

// span is where a value stands in the body, so that an object is checked but not copied.
type span struct{ start, end int64 }

// UnmarshalJSONFrom skips the value and keeps its place.
func (s *span) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	s.end = dec.InputOffset()
	s.start = s.end - int64(len(value))
	return nil
}

func (s span) of(body []byte) []byte {
	value := body[s.start:s.end:s.end]
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	return value
}

// decode reads an AdmissionReview: names by their exact case, no name twice, UTF-8 only. The
// request's objects are parts of the body.
func decode(body []byte) (*Request, string, error) {
	var in review
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, "", faulty(http.StatusBadRequest, "the body is not an AdmissionReview: %s", plain(err))
	}
	version, err := answerIn(in.APIVersion, in.Kind)
	if err != nil {
		return nil, "", err
	}
	if in.Request == nil {
		return nil, "", faulty(http.StatusBadRequest, "the AdmissionReview has no request")
	}
	w := in.Request
	if w.UID == "" {
		return nil, "", faulty(http.StatusBadRequest, "request.uid is missing")
	}
	return &Request{
		UID: w.UID, Operation: w.Operation, Namespace: w.Namespace, Name: w.Name,
		Kind: w.Kind, Resource: w.Resource, SubResource: w.SubResource, DryRun: w.DryRun,
		User: w.User.Username, Groups: w.User.Groups,
		Object: w.Object.of(body), OldObject: w.OldObject.of(body),
	}, version, nil
}

// answerIn is the apiVersion to answer in, which is the one of the request.
func answerIn(apiVersion, kind string) (string, error) {
	const v1, v1beta1 = "admission.k8s.io/v1", "admission.k8s.io/v1beta1"
	if kind != "AdmissionReview" {
		return "", faulty(http.StatusBadRequest, "kind is %q, not AdmissionReview", clean(kind, 64))
	}
	switch apiVersion {
	case v1:
		return v1, nil
	case v1beta1:
		return v1beta1, nil
	}
	return "", faulty(http.StatusBadRequest, "apiVersion is %q, not %s or %s", clean(apiVersion, 64), v1, v1beta1)
}

// plain puts a decoder's error into the words of the field and the fault.
func plain(err error) string {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return fmt.Sprintf("%s has the wrong type, %s", where(semantic.JSONPointer), kindName(semantic.JSONKind))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Sprintf("%s: %v after byte %d", where(syntactic.JSONPointer), syntactic.Err, syntactic.ByteOffset)
	}
	return err.Error()
}

// where names the field that a pointer points at.
func where(p jsontext.Pointer) string {
	if p == "" {
		return "the document"
	}
	return clean(pod.Dotted(string(p)), 128)
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	}
	return "no value for this field"
}

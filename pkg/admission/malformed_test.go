// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is a request and the answer it must get, to the byte.
type row struct {
	reason  string
	method  string // default POST
	content string // Content-Type; default application/json, "-" sends none
	coding  string // Content-Encoding
	chunked bool   // send without a length
	body    string
	status  int
	text    string // the answer's text, or with status 200 the uid
	version string // of the answer; default v1
}

func allow(version, uid string) string {
	return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/` + version + `","response":{"uid":` + uid + `,"allowed":true}}`
}

func (tt row) request(url string) *http.Request {
	var body io.Reader = strings.NewReader(tt.body)
	if tt.chunked {
		body = struct{ io.Reader }{body}
	}
	method := tt.method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		panic(err)
	}
	switch tt.content {
	case "":
		req.Header.Set("Content-Type", "application/json")
	case "-":
	default:
		req.Header.Set("Content-Type", tt.content)
	}
	if tt.coding != "" {
		req.Header.Set("Content-Encoding", tt.coding)
	}
	return req
}

func (tt row) want() string {
	if tt.method == http.MethodHead {
		return ""
	}
	if tt.status != http.StatusOK {
		return "injector: " + tt.text + "\n"
	}
	version, uid := tt.version, tt.text
	if version == "" {
		version = "v1"
	}
	if uid == "" {
		uid = `"` + testUID + `"`
	}
	return allow(version, uid)
}

func runRows(t *testing.T, rows map[string]row) {
	t.Helper()
	var seen atomic.Int64
	server := httptest.NewServer(Handler(
		reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, nil }),
		Options{Observe: func(Outcome) { seen.Add(1) }}))
	defer server.Close()
	for name, tt := range rows {
		t.Run(name, func(t *testing.T) {
			resp, err := server.Client().Do(tt.request(server.URL))
			if err != nil {
				t.Fatalf("%s: the connection was dropped: %v", tt.reason, err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tt.status {
				t.Errorf("%s: status %d, want %d", tt.reason, resp.StatusCode, tt.status)
			}
			if diff := cmp.Diff(tt.want(), string(got)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.reason, diff)
			}
			content := "text/plain; charset=utf-8"
			if tt.status == http.StatusOK {
				content = "application/json"
			}
			if got := resp.Header.Get("Content-Type"); got != content {
				t.Errorf("content type %q, want %q", got, content)
			}
		})
	}
	server.Close() // an outcome is told after its answer: wait for the last
	if int(seen.Load()) != len(rows) {
		t.Errorf("%d outcomes of %d requests", seen.Load(), len(rows))
	}
}

func TestRequestLineAndHeader(t *testing.T) {
	ok := reviewV1(`"object":{}`)
	runRows(t, map[string]row{
		"get":           {reason: "reviews are posted", method: "GET", status: 405, text: `method "GET", not POST`},
		"head":          {reason: "no body may follow", method: "HEAD", status: 405},
		"put":           {reason: "reviews are posted", method: "PUT", body: ok, status: 405, text: `method "PUT", not POST`},
		"patch":         {reason: "reviews are posted", method: "PATCH", body: ok, status: 405, text: `method "PATCH", not POST`},
		"delete":        {reason: "reviews are posted", method: "DELETE", status: 405, text: `method "DELETE", not POST`},
		"options":       {reason: "no CORS here", method: "OPTIONS", status: 405, text: `method "OPTIONS", not POST`},
		"trace":         {reason: "no echo", method: "TRACE", status: 405, text: `method "TRACE", not POST`},
		"invented":      {reason: "a method of nobody", method: "INJECT", body: ok, status: 405, text: `method "INJECT", not POST`},
		"lower-case":    {reason: "methods have a case", method: "post", body: ok, status: 405, text: `method "post", not POST`},
		"plain":         {reason: "what the API server sends", body: ok, status: 200},
		"charset":       {reason: "parameters are tolerated", content: "application/json; charset=utf-8", body: ok, status: 200},
		"parameter":     {reason: "even malformed ones", content: "application/json; charset", body: ok, status: 200},
		"type-case":     {reason: "media types have no case", content: "Application/JSON", body: ok, status: 200},
		"no-type":       {reason: "JSON must be claimed", content: "-", body: ok, status: 415, text: `content type "", not application/json`},
		"text":          {reason: "not JSON", content: "text/plain", body: ok, status: 415, text: `content type "text/plain", not application/json`},
		"form":          {reason: "a browser's form", content: "application/x-www-form-urlencoded", body: ok, status: 415, text: `content type "application/x-www-form-urlencoded", not application/json`},
		"yaml":          {reason: "not JSON", content: "application/yaml", body: ok, status: 415, text: `content type "application/yaml", not application/json`},
		"protobuf":      {reason: "not JSON", content: "application/vnd.kubernetes.protobuf", body: ok, status: 415, text: `content type "application/vnd.kubernetes.protobuf", not application/json`},
		"json-suffix":   {reason: "another type", content: "application/merge-patch+json", body: ok, status: 415, text: `content type "application/merge-patch+json", not application/json`},
		"type-list":     {reason: "no list of types", content: "application/json, text/plain", body: ok, status: 415, text: `content type "application/json, text/plain", not application/json`},
		"type-junk":     {reason: "no type at all", content: ";;;", body: ok, status: 415, text: `content type ";;;", not application/json`},
		"gzip":          {reason: "a bomb may be inside", coding: "gzip", body: ok, status: 415, text: `content encoding "gzip"; send the body as it is`},
		"coding-case":   {reason: "any coding", coding: "BR", body: ok, status: 415, text: `content encoding "BR"; send the body as it is`},
		"identity":      {reason: "no coding", coding: "identity", body: ok, status: 200},
		"chunked":       {reason: "a length is not needed", chunked: true, body: ok, status: 200},
		"chunked-empty": {reason: "nothing came", chunked: true, body: "", status: 400, text: `the body is empty`},
		"empty":         {reason: "nothing came", body: "", status: 400, text: `the body is empty`},
		"blank":         {reason: "nothing came", body: " \r\n\t", status: 400, text: `the body is empty`},
	})
}

func TestSize(t *testing.T) {
	pad := func(size int) string {
		review := reviewV1(`"object":{"pad":""}`)
		return strings.Replace(review, `"pad":"`, `"pad":"`+strings.Repeat("x", size-len(review)), 1)
	}
	runRows(t, map[string]row{
		"limit":        {reason: "the largest allowed", body: pad(DefaultMaxBody), status: 200},
		"limit-chunks": {reason: "without a length", chunked: true, body: pad(DefaultMaxBody), status: 200},
		"over":         {reason: "one byte more", body: pad(DefaultMaxBody + 1), status: 413, text: `a body of 7340033 bytes; the limit is 7340032`},
		"over-chunks":  {reason: "the length is not known before", chunked: true, body: pad(DefaultMaxBody + 1), status: 413, text: `a body of more than 7340032 bytes`},
		"huge":         {reason: "far too much", body: strings.Repeat(" ", 64<<20), status: 413, text: `a body of 67108864 bytes; the limit is 7340032`},
		"huge-chunks":  {reason: "far too much, without a length", chunked: true, body: strings.Repeat(" ", 64<<20), status: 413, text: `a body of more than 7340032 bytes`},
		"update":       {reason: "two objects of 3 MiB each", body: strings.Replace(pad(6<<20), `"pad":`, `"a":`, 1), status: 200},
	})
}

func TestDocument(t *testing.T) {
	const bad = `the body is not an AdmissionReview: `
	runRows(t, map[string]row{
		"truncated":      {reason: "cut short", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","object":{"spec":`, status: 400, text: bad + `request.object.spec: unexpected EOF after byte 99`},
		"null":           {reason: "JSON null", body: `null`, status: 400, text: `kind is "", not AdmissionReview`},
		"list":           {reason: "a list", body: `[]`, status: 400, text: bad + `the document has the wrong type, a list`},
		"string":         {reason: "a string", body: `"AdmissionReview"`, status: 400, text: bad + `the document has the wrong type, a string`},
		"number":         {reason: "a number", body: `1e999`, status: 400, text: bad + `the document has the wrong type, a number`},
		"true":           {reason: "a boolean", body: `true`, status: 400, text: bad + `the document has the wrong type, a boolean`},
		"html":           {reason: "another server's page", body: `<html>`, status: 400, text: bad + `the document: invalid character '<' at start of value after byte 0`},
		"yaml":           {reason: "not JSON", body: "kind: AdmissionReview\n", status: 400, text: bad + `the document: invalid character 'k' at start of value after byte 0`},
		"comment":        {reason: "JSON has none", body: `{/**/}`, status: 400, text: bad + `the document: invalid character '/' at start of value after byte 1`},
		"comma":          {reason: "a trailing comma", body: `{"kind":"AdmissionReview",}`, status: 400, text: bad + `the document: invalid character ',' at start of value after byte 25`},
		"two":            {reason: "two documents", body: reviewV1(`"object":{}`) + `{}`, status: 400, text: bad + `the document: invalid character '{' after top-level value after byte 682`},
		"bom":            {reason: "JSON has no byte order mark", body: "\ufeff" + reviewV1(`"object":{}`), status: 400, text: bad + `the document: invalid character '\ufeff' at start of value after byte 0`},
		"nul":            {reason: "a NUL byte", body: "\x00", status: 400, text: bad + `the document: invalid character '\x00' at start of value after byte 0`},
		"nul-inside":     {reason: "a NUL byte in a string", body: reviewV1("\"object\":{\"a\":\"\x00\"}"), status: 400, text: bad + `request.object.a: invalid character '\x00' in string (expecting non-control character) after byte 684`},
		"utf8":           {reason: "invalid UTF-8", body: reviewV1("\"object\":{\"a\":\"\xff\"}"), status: 400, text: bad + `request.object.a: invalid UTF-8 after byte 684`},
		"utf8-outside":   {reason: "invalid UTF-8 in a field that is not read", body: reviewV1("\"object\":{},\"x\":\"\xc3\""), status: 400, text: bad + `request.x: invalid UTF-8 after byte 686`},
		"surrogate":      {reason: "half of a pair", body: reviewV1(`"object":{"a":"\ud800"}`), status: 400, text: bad + "request.object.a: invalid surrogate pair `\\ud800\"}}}` in string after byte 684"},
		"no-review":      {reason: "an empty object", body: `{}`, status: 400, text: `kind is "", not AdmissionReview`},
		"no-kind":        {reason: "kind is missing", body: `{"apiVersion":"admission.k8s.io/v1","request":{"uid":"u"}}`, status: 400, text: `kind is "", not AdmissionReview`},
		"kind":           {reason: "another kind", body: `{"kind":"Pod","apiVersion":"v1","request":{"uid":"u"}}`, status: 400, text: `kind is "Pod", not AdmissionReview`},
		"kind-type":      {reason: "kind is no string", body: `{"kind":1}`, status: 400, text: bad + `kind has the wrong type, a number`},
		"kind-long":      {reason: "the text is bounded", body: `{"kind":"` + strings.Repeat("K", 1e6) + `"}`, status: 400, text: `kind is "` + strings.Repeat("K", 63) + `…", not AdmissionReview`},
		"conversion":     {reason: "a neighbour of the kind", body: `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u"}}`, status: 400, text: `kind is "ConversionReview", not AdmissionReview`},
		"no-version":     {reason: "version is missing", body: `{"kind":"AdmissionReview","request":{"uid":"u"}}`, status: 400, text: `apiVersion is "", not admission.k8s.io/v1 or admission.k8s.io/v1beta1`},
		"version":        {reason: "a version to come", body: `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2","request":{"uid":"u"}}`, status: 400, text: `apiVersion is "admission.k8s.io/v2", not admission.k8s.io/v1 or admission.k8s.io/v1beta1`},
		"version-line":   {reason: "the text stays on one line", body: `{"kind":"AdmissionReview","apiVersion":"a\nb\u0085","request":{"uid":"u"}}`, status: 400, text: `apiVersion is "a b ", not admission.k8s.io/v1 or admission.k8s.io/v1beta1`},
		"group":          {reason: "another group", body: `{"kind":"AdmissionReview","apiVersion":"v1","request":{"uid":"u"}}`, status: 400, text: `apiVersion is "v1", not admission.k8s.io/v1 or admission.k8s.io/v1beta1`},
		"no-request":     {reason: "request is missing", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, status: 400, text: `the AdmissionReview has no request`},
		"null-request":   {reason: "request is null", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}`, status: 400, text: `the AdmissionReview has no request`},
		"request-list":   {reason: "request is a list", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[]}`, status: 400, text: bad + `request has the wrong type, a list`},
		"response-only":  {reason: "an answer, not a question", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}`, status: 400, text: `the AdmissionReview has no request`},
		"case":           {reason: "names have a case", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","Request":{"uid":"u"}}`, status: 400, text: `the AdmissionReview has no request`},
		"uid-case":       {reason: "names have a case", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"UID":"u"}}`, status: 400, text: `request.uid is missing`},
		"no-uid":         {reason: "uid is missing", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`, status: 400, text: `request.uid is missing`},
		"null-uid":       {reason: "uid is null", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":null}}`, status: 400, text: `request.uid is missing`},
		"uid-type":       {reason: "uid is no string", body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":7}}`, status: 400, text: bad + `request.uid has the wrong type, a number`},
		"dry-run-type":   {reason: "dryRun is no boolean", body: `{"kind":"AdmissionReview","request":{"uid":"u","dryRun":"true"}}`, status: 400, text: bad + `request.dryRun has the wrong type, a string`},
		"groups-type":    {reason: "groups are no list", body: `{"kind":"AdmissionReview","request":{"uid":"u","userInfo":{"groups":"g"}}}`, status: 400, text: bad + `request.userInfo.groups has the wrong type, a string`},
		"group-type":     {reason: "a group is no string", body: `{"kind":"AdmissionReview","request":{"uid":"u","userInfo":{"groups":["g",{}]}}}`, status: 400, text: bad + `request.userInfo.groups[1] has the wrong type, an object`},
		"twice":          {reason: "which of the two?", body: `{"kind":"AdmissionReview","kind":"AdmissionReview"}`, status: 400, text: bad + `kind: duplicate object member name after byte 26`},
		"object-twice":   {reason: "which of the two?", body: reviewV1(`"object":{},"object":{}`), status: 400, text: bad + `request.object: duplicate object member name after byte 681`},
		"twice-inside":   {reason: "a pod that two readers read differently", body: reviewV1(`"object":{"a":1,"a":2}`), status: 400, text: bad + `request.object.a: duplicate object member name after byte 685`},
		"twice-escaped":  {reason: "the same name in another spelling", body: reviewV1(`"object":{"a":1,"\u0061":2}`), status: 400, text: bad + `request.object.a: duplicate object member name after byte 685`},
		"twice-unread":   {reason: "in a field that is not read", body: reviewV1(`"x":{"a":1,"a":2}`), status: 400, text: bad + `request.x.a: duplicate object member name after byte 680`},
		"deep":           {reason: "nested beyond any pod", body: reviewV1(`"object":` + strings.Repeat(`{"a":`, 10001) + `1` + strings.Repeat(`}`, 10001)), status: 400, text: bad + clean("request.object"+strings.Repeat(".a", 200), 128) + `: exceeded max depth after byte 50668`},
		"deep-list":      {reason: "nested, and never closed", body: strings.Repeat(`[`, 7<<20), status: 400, text: bad + `the document has the wrong type, a list`},
		"number-junk":    {reason: "no JSON number", body: reviewV1(`"object":{"a":01}`), status: 400, text: bad + `request.object: invalid character '1' after object value (expecting ',' or '}') after byte 684`},
		"number-special": {reason: "no JSON number", body: reviewV1(`"object":{"a":NaN}`), status: 400, text: bad + `request.object.a: invalid character 'N' at start of value after byte 683`},
	})
}

// What is odd but a review is answered, with the uid of the request.
func TestOddButAnswered(t *testing.T) {
	minimal := func(version, uid string) string {
		return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/` + version + `","request":{"uid":` + uid + `}}`
	}
	runRows(t, map[string]row{
		"minimal":       {reason: "only the uid is needed", body: minimal("v1", `"u"`), status: 200, text: `"u"`},
		"v1beta1":       {reason: "answered in the version received", body: minimal("v1beta1", `"u"`), status: 200, text: `"u"`, version: "v1beta1"},
		"null-object":   {reason: "there is none on DELETE", body: reviewV1(`"object":null`), status: 200},
		"no-object":     {reason: "there is none on DELETE", body: reviewV1(`"name":"x"`), status: 200},
		"object-string": {reason: "the Reviewer judges the object", body: reviewV1(`"object":"oops"`), status: 200},
		"null-user":     {reason: "nobody", body: `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","userInfo":null,"dryRun":null}}`, status: 200, text: `"u"`},
		"unknown":       {reason: "fields to come", body: reviewV1(`"object":{},"future":{"a":[1]}`), status: 200},
		"spaces":        {reason: "white space around", body: " \n" + minimal("v1", `"u"`) + "\r\n", status: 200, text: `"u"`},
		"order":         {reason: "the request may come first", body: `{"request":{"uid":"u"},"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, status: 200, text: `"u"`},
		"uid-escaped":   {reason: "a uid that needs quoting", body: minimal("v1", `"\u0000\"<\u00e9"`), status: 200, text: `"\u0000\"<é"`},
		"uid-long":      {reason: "any uid is echoed", body: minimal("v1", `"`+strings.Repeat("u", 1e5)+`"`), status: 200, text: `"` + strings.Repeat("u", 1e5) + `"`},
		"deep":          {reason: "within the reader's depth", body: reviewV1(`"object":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000)), status: 200},
		"subresource":   {reason: "the Reviewer judges it", body: reviewV1(`"subResource":"ephemeralcontainers","object":{}`), status: 200},
		"other-kind":    {reason: "the Reviewer judges it", body: strings.Replace(reviewV1(`"object":{}`), `"kind":"Pod"`, `"kind":"ConfigMap"`, 1), status: 200},
	})
}

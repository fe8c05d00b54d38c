// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"
)

// What templates write into YAML out of an annotation's JSON or YAML stays the name or the value that it is.
func TestNothingBreaksOut(t *testing.T) {
	variables := map[string]string{ // to whether they may be written between quotes
		`{"A": "several\nlines"}`: "", `{"A": "\"quoted\""}`: "", `{}`: "", `{"A-B.c": "it's"}`: "",
		`{"A": "x\"\n    privileged: true\n    y: \""}`: "[A]: it holds quotes and several lines",
		`{"A": "x'\u2028- y"}`:                          "[A]: it holds quotes and several lines",
		`{"A\n    - name: B": "c"}`:                     `the name "A\n    - name: B": it holds the character U+000A`,
		`{"A": "1", "A": "2", "B\r": "c"}`:              `the name "B\r": it holds the character U+000D`,
	}
	for text, want := range variables {
		wanted(t, proxyConfigKey, `{"proxyMetadata": `+text+`}`, want)
		wanted(t, datadogKey, text, want)
	}
	objects := map[string]string{
		`{"data": {}}`: "",
		`{"a\"\n    hostPath: {path: /}\n  - name: \"b": {}}`:      `the name: it holds the character U+000A`,
		`{"a": {}, "a": {}, "b\n  - {name: c, emptyDir: {}}": {}}`: `the name: it holds the character U+000A`,
	}
	for text, want := range objects {
		wanted(t, userVolumeKey, text, want)
		wanted(t, userMountKey, text, want)
	}
	wanted(t, datadogKey, `["A\n"]`, "") // the template itself fails on it
}

func wanted(t *testing.T, key, text, want string) {
	t.Helper()
	refusal, _ := checked(t, nil, map[string]string{key: text})
	switch {
	case refusal == nil && want != "":
		t.Errorf("%s: %s passes", key, text)
	case refusal != nil && (want == "" || !strings.Contains(refusal.Detail, want) || !strings.Contains(refusal.Detail, key)):
		t.Errorf("%s: %s: got %v, want %q", key, text, refusal, want)
	}
}

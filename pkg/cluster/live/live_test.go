// SPDX-License-Identifier: Apache-2.0

package live

import "testing"

func TestNames(t *testing.T) {
	for word, want := range map[string]bool{
		"pod/web": true, "Deployment/web": true, "sts/db": true, "service/web": false, "web": false, "pod/": false, "pod/a/b": false, "manifests/pod.yaml": false,
	} {
		if got := Names(word); got != want {
			t.Errorf("%s: got %v", word, got)
		}
	}
}

func TestApplicable(t *testing.T) {
	got, err := applicable([]byte(`{"kind":"Pod","metadata":{"name":"a","uid":"u","managedFields":[{}],"generation":9007199254740993},"spec":{"x":9007199254740993},"status":{"phase":"Running"}}`))
	if want := `{"kind":"Pod","metadata":{"name":"a"},"spec":{"x":9007199254740993}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

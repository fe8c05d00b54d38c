// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
)

// No path breaks the reader, no variable is without a name, and a value that is escaped as a URL
// wants it comes out as it went in.
func FuzzParsePath(f *testing.F) {
	f.Add("/cluster/east/net/n1", "zone", "a/b c%")
	f.Add("/:ENV:cluster=east:ENV:=x:ENV:y", "k", "--slash--")
	f.Add("%zz//%2F/", "", "")
	f.Fuzz(func(t *testing.T, path, key, value string) {
		for name := range ParsePath(path) {
			if name == "" {
				t.Errorf("%q: a variable without a name", path)
			}
		}
		if key == "" || value == "" || strings.HasPrefix(key, envMark) || strings.Contains(value, slashMark) {
			return
		}
		name := map[string]string{"cluster": clusterEnv, "net": networkEnv}[key]
		if name == "" {
			name = strings.ToUpper(key)
		}
		want := map[string]string{name: value}
		if diff := cmp.Diff(want, ParsePath("/"+url.PathEscape(key)+"/"+url.PathEscape(value))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestParsePath(t *testing.T) {
	type env = map[string]string
	tests := map[string]struct {
		reason, path string
		want         env
	}{
		"none":         {"no pair", "", env{}},
		"slash":        {"no pair", "/", env{}},
		"slashes":      {"no pair", "//", env{}},
		"key alone":    {"a key without a value is none", "/cluster", env{}},
		"known keys":   {"short names for what every proxy needs", "/cluster/east/net/n1", env{clusterEnv: "east", networkEnv: "n1"}},
		"ending slash": {"it ends the last value", "/cluster/east/", env{clusterEnv: "east"}},
		"odd":          {"the last key has no value", "/zone/a/rack", env{"ZONE": "a"}},
		"other keys":   {"names of variables are upper case", "/Trust_domain/td", env{"TRUST_DOMAIN": "td"}},
		"mark":         {"a slash in a value", "/root/--slash--srv--slash--x", env{"ROOT": "/srv/x"}},
		"mark in key":  {"only values hold slashes", "/a--slash--b/x", env{"A--SLASH--B": "x"}},
		"escapes":      {"an escape in a segment is part of it", "/root/%2Fsrv/name/a%20b", env{"ROOT": "/srv", "NAME": "a b"}},
		"bad escape":   {"it is left as it is", "/rate/100%/net/n", env{"RATE": "100%", networkEnv: "n"}},
		"no key":       {"a variable needs a name", "//x/net/n", env{networkEnv: "n"}},
		"empty value":  {"it is given, and empty", "/zone//net/n", env{"ZONE": "", networkEnv: "n"}},
		"again":        {"the last one counts", "/zone/a/zone/b", env{"ZONE": "b"}},
		"no slash":     {"the caller may have cut it", "cluster/east", env{clusterEnv: "east"}},
		"older":        {"values hold slashes", "/:ENV:cluster=east:ENV:root=/srv/x", env{clusterEnv: "east", "ROOT": "/srv/x"}},
		"older empty":  {"a value may be empty", "/:ENV:zone=:ENV:rack=a=b", env{"ZONE": "", "RACK": "a=b"}},
		"older bad":    {"no name, no value, no pair", "/:ENV:=x:ENV:zone:ENV:", env{}},
		"older escape": {"the mark may be escaped", "/%3AENV%3Azone=a%2Fb", env{"ZONE": "a/b"}},
		"mark within":  {"the older form stands alone", "/zone/:ENV:net=n", env{"ZONE": ":ENV:net=n"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ParsePath(tc.path)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestProxyEnv(t *testing.T) {
	type env = map[string]string
	tests := map[string]struct {
		reason, path string
		values       settings
		labels       map[string]string
		want         env
	}{
		"nothing": {"no variable without a value", "", settings{}, nil, env{}},
		"values":  {"the mesh's own", "", settings{cluster: "c", network: "n"}, nil, env{clusterEnv: "c", networkEnv: "n"}},
		"url":     {"it wins over the values", "/cluster/u/net/v/zone/z", settings{cluster: "c", network: "n"}, nil, env{clusterEnv: "u", networkEnv: "v", "ZONE": "z"}},
		"empty":   {"an empty one in the URL is none", "/cluster//zone/z", settings{cluster: "c"}, nil, env{clusterEnv: "c", "ZONE": "z"}},
		"label":   {"it wins over all, for the network", "/cluster/u/net/v", settings{network: "n"}, env{networkKey: "l"}, env{clusterEnv: "u", networkEnv: "l"}},
		"no network": {
			"an empty label takes the values' network away", "", settings{cluster: "c", network: "n"}, env{networkKey: ""}, env{clusterEnv: "c"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &run{Work: &inject.Work{Facts: inject.Facts{Path: tc.path}}, d: &dialect{settings: tc.values}, head: headOf(tc.labels, nil)}
			if diff := cmp.Diff(tc.want, r.proxyEnv()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

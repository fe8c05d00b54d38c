// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func TestRouter(t *testing.T) {
	var router Router
	router.Handle("/healthz", says("healthz"))
	router.Handle("/inject/exact", says("exact"))
	router.HandlePrefix("/inject", says("inject"))
	router.HandlePrefix("/inject/deeper", says("deeper"))
	tests := map[string]struct {
		reason string
		path   string
		want   string // empty: 404
	}{
		"exact":            {"a path by itself", "/healthz", "healthz"},
		"query":            {"the query is no part of it", "/healthz?timeout=5s", "healthz"},
		"slash":            {"no redirect to the path without a slash", "/healthz/", ""},
		"below exact":      {"an exact path has nothing below", "/healthz/x", ""},
		"case":             {"paths have a case", "/Healthz", ""},
		"root":             {"nobody registered it", "/", ""},
		"prefix":           {"the prefix itself", "/inject", "inject"},
		"prefix slash":     {"below the prefix", "/inject/", "inject"},
		"below":            {"below the prefix", "/inject/cluster/c/net/n", "inject"},
		"escaped slash":    {"a slash inside of a segment", "/inject/cluster/a%2Fb", "inject"},
		"longer":           {"the longest prefix", "/inject/deeper/x", "deeper"},
		"exact below":      {"the exact path before the prefix", "/inject/exact", "exact"},
		"below exact two":  {"back to the prefix", "/inject/exact/x", "inject"},
		"sibling":          {"a prefix ends at a slash", "/injector", ""},
		"double slash":     {"not cleaned", "//healthz", ""},
		"double inside":    {"not cleaned", "/inject//x", ""},
		"double prefix":    {"not cleaned", "//inject", ""},
		"dots":             {"not cleaned", "/x/../healthz", ""},
		"dots below":       {"not cleaned", "/inject/../healthz", ""},
		"dot":              {"not cleaned", "/inject/./x", ""},
		"dots at the end":  {"not cleaned", "/inject/..", ""},
		"escaped letter":   {"compared as it was sent", "/%68ealthz", ""},
		"escaped slash up": {"compared as it was sent", "/inject%2Fexact", ""},
	}
	server := httptest.NewServer(&router)
	defer server.Close()
	client := server.Client()
	client.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		t.Errorf("redirected to %s", req.URL)
		return http.ErrUseLastResponse
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resp, err := client.Get(server.URL + tt.path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			want, status := tt.want, http.StatusOK
			if want == "" {
				want, status = "injector: nothing is served at this path\n", http.StatusNotFound
			}
			if string(got) != want || resp.StatusCode != status {
				t.Errorf("%s: %s: got %d %q, want %d %q", tt.reason, tt.path, resp.StatusCode, got, status, want)
			}
		})
	}
}

func TestRouterRefusesBadPaths(t *testing.T) {
	for _, path := range []string{"", "inject", "/inject/", "/", "/a//b", "/a/../b", "/taken"} {
		func() {
			var router Router
			router.HandlePrefix("/taken", says(""))
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", path)
				}
			}()
			router.HandlePrefix(path, says(""))
		}()
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/cluster/sources"
)

// reloading is a works that has loaded its first configuration, and its log.
type reloading struct {
	*works
	log bytes.Buffer
}

const (
	plainConfig = "policy: enabled\ntemplates:\n  sidecar: |\n    metadata: {labels: {edition: '1'}}\n"
	plainMesh   = "trustDomain: mesh.example\n"
)

func loaded(t *testing.T) *reloading {
	t.Helper()
	dir := t.TempDir()
	injector, mesh := filepath.Join(dir, "injector"), filepath.Join(dir, "mesh")
	if err := os.Mkdir(injector, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(injector, "config"): plainConfig, filepath.Join(injector, "values"): "{}", mesh: plainMesh} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &reloading{}
	f := &serveFlags{engine: engineFlags{config: injector, mesh: mesh, revision: "default"}}
	r.works = &works{flags: f, changed: make(chan struct{}, 1), unread: map[string]error{}, log: slog.New(slog.NewTextHandler(&r.log, nil))}
	if err := r.loadFirst(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// good is what the metric says of the last reload.
func (r *reloading) good(t *testing.T) bool {
	t.Helper()
	rec := httptest.NewRecorder()
	r.metrics.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	m := regexp.MustCompile(`(?m)^injector_config_last_reload_successful ([01])$`).FindStringSubmatch(rec.Body.String())
	if m == nil {
		t.Fatal("there is no metric of the reload")
	}
	return m[1] == "1"
}

// edit is what a source tells.
type edit struct {
	source string
	key    string // of config; empty: the mesh
	text   string
	err    error
}

func (r *reloading) tell(e edit) {
	r.reload(e.source, e.err, func(t *texts) error {
		if e.source == "mesh" {
			t.mesh = map[string][]byte{"mesh": []byte(e.text)}
			return nil
		}
		t.config = maps.Clone(t.config)
		t.config[e.key] = []byte(e.text)
		return nil
	})
}

// A configuration whose sources tell one after another is in force as a whole or not at all.
func TestReloadAllOrNothing(t *testing.T) {
	second := strings.Replace(plainConfig, "'1'", "'2'", 1)
	broken := strings.Replace(plainConfig, "'1'", "{{ nothing }}", 1)
	edited := plainMesh + "rootNamespace: elsewhere\n"
	away := errors.New("it is away")
	cases := map[string]struct {
		reason string
		edits  []edit
		loads  int    // configurations put in force after the first
		good   []bool // the metric, after each edit
	}{
		"good":         {"a good edit counts", []edit{{"config", "config", second, nil}}, 1, []bool{true}},
		"same":         {"what is in force is not loaded again", []edit{{"config", "config", plainConfig, nil}, {"mesh", "", plainMesh, nil}}, 0, []bool{true, true}},
		"back":         {"going back mends", []edit{{"config", "config", broken, nil}, {"config", "config", plainConfig, nil}}, 1, []bool{false, true}},
		"reachable":    {"so does the end of an error", []edit{{"config", "config", "", away}, {"config", "config", plainConfig, nil}}, 1, []bool{false, true}},
		"beside":       {"a good mesh waits for a good configuration", []edit{{"config", "config", broken, nil}, {"mesh", "", edited, nil}, {"config", "config", second, nil}}, 1, []bool{false, false, true}},
		"beside away":  {"and for one that can be read", []edit{{"config", "config", "", away}, {"mesh", "", edited, nil}, {"config", "config", plainConfig, nil}}, 1, []bool{false, false, true}},
		"values":       {"values and templates are one", []edit{{"config", "values", "{\"global\": []}", nil}, {"config", "config", second, nil}, {"config", "values", "{}", nil}}, 1, []bool{false, false, true}},
		"the mesh":     {"a bad mesh is kept out", []edit{{"mesh", "", "trustDomain: []\n", nil}, {"config", "config", second, nil}, {"mesh", "", plainMesh, nil}}, 1, []bool{false, false, true}},
		"out of shape": {"no edit changes the dialect", []edit{{"config", "config", "policy: [\n", nil}, {"config", "config", plainConfig, nil}}, 1, []bool{false, true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := loaded(t)
			first := r.engine.Load()
			var good []bool
			for _, e := range c.edits {
				was := r.engine.Load()
				r.tell(e)
				good = append(good, r.good(t))
				if now := r.engine.Load(); now != was && !good[len(good)-1] {
					t.Errorf("%s: the engine of a bad configuration is in force", c.reason)
				}
			}
			if diff := cmp.Diff(c.good, good); diff != "" {
				t.Errorf("%s (-want +got):\n%s%s", c.reason, diff, &r.log)
			}
			if n := strings.Count(r.log.String(), "configuration in force") - 1; n != c.loads || (r.engine.Load() == first) != (c.loads == 0) {
				t.Errorf("%s: %d configurations came into force, want %d:\n%s", c.reason, n, c.loads, &r.log)
			}
		})
	}
}

// Whatever order faults come in, they are told alike; and a ConfigMap that is missing is told by name.
func TestTakeNamesWhatIsMissing(t *testing.T) {
	config, mesh := sources.Ref{Namespace: "a", Name: "config"}, sources.Ref{Namespace: "a", Name: "mesh"}
	data := map[string][]byte{"k": []byte("v")}
	var got []string
	for _, all := range []map[sources.Ref]sources.ConfigMap{
		{}, {config: {Found: true, Data: data}}, {mesh: {Found: true, Data: data}}, {config: {Found: true, Data: data}, mesh: {Found: true, Data: data}},
	} {
		var in texts
		told := "whole"
		if err := in.take(all, &config, &mesh); err != nil {
			told = err.Error()
		}
		got = append(got, told)
	}
	want := []string{"there is no ConfigMap a/config", "there is no ConfigMap a/mesh", "there is no ConfigMap a/config", "whole"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A start waits for an API server that is away, but not for one that refuses: that is for a person to
// mend.
func TestReadFirst(t *testing.T) {
	const unready, refused = http.StatusServiceUnavailable, http.StatusForbidden
	for name, c := range map[string]struct {
		answers []int
		ok      bool
	}{
		"there":   {[]int{http.StatusOK}, true},
		"away":    {[]int{unready, http.StatusOK}, true},
		"missing": {[]int{http.StatusNotFound}, false},
		"refused": {[]int{unready, refused}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				code := c.answers[calls.Add(1)-1]
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				if code == http.StatusOK {
					fmt.Fprintf(w, `{"kind": "ConfigMap", "apiVersion": "v1", "data": {"config": %q, "values": "{}"}}`, plainConfig)
					return
				}
				fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q}`, code,
					map[int]string{refused: "Forbidden", http.StatusNotFound: "NotFound", unready: "ServiceUnavailable"}[code])
			}))
			defer server.Close()
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "` + server.URL + `"}}]}`
			if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			w := &works{
				flags: &serveFlags{kubeconfig: kubeconfig, engine: engineFlags{config: "configmap/a/b", revision: "default"}},
				log:   slog.New(slog.NewTextHandler(&log, nil)),
			}
			err := w.loadFirst(t.Context())
			if (err == nil) != c.ok || int(calls.Load()) != len(c.answers) {
				t.Errorf("%d calls, %v", calls.Load(), err)
			}
			if told := strings.Contains(log.String(), "cannot be read from the API server yet"); told != (c.answers[0] == unready) {
				t.Errorf("the log tells of the wait: %t\n%s", told, &log)
			}
		})
	}
}

// What is in force and most probably not meant is told when it comes into force: the original's log tells
// of some of it, too.
func TestServeTellsWarnings(t *testing.T) {
	r := loaded(t)
	if strings.Contains(r.log.String(), "level=WARN") {
		t.Errorf("there is nothing to warn of:\n%s", r.log.String())
	}
	r.tell(edit{"config", "config", strings.Replace(plainConfig, "enabled", "on", 1), nil})
	for _, want := range []string{"level=WARN", "INJ330", "nothing is injected"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("no %q in\n%s", want, r.log.String())
		}
	}
	const unset = "there is no mesh configuration"
	if strings.Contains(r.log.String(), unset) {
		t.Errorf("there is one:\n%s", r.log.String())
	}
	r.flags.engine.mesh = ""
	if err := r.loadFirst(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.log.String(), unset) {
		t.Errorf("its defaults hold in silence:\n%s", r.log.String())
	}
}

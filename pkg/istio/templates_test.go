// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/render"
)

func TestChosen(t *testing.T) {
	d := &dialect{
		config: Config{
			DefaultTemplates: []string{"proxy"},
			Aliases:          map[string][]string{"pair": {"proxy", "logs"}, "none": {}, "chain": {"pair"}, "logs": {"logs", "proxy"}},
		},
		templates: map[string]*render.Template{"proxy": nil, "logs": nil, "gateway": nil},
	}
	unknown := func(name, hint string) *reason.Refusal {
		return &reason.Refusal{Reason: reason.UnknownTemplate, Path: "metadata.annotations[inject.istio.io/templates]", Detail: "there is no template " + name, Hint: hint}
	}
	text := func(s string) *string { return &s }
	tests := map[string]struct {
		reason     string
		annotation *string
		want       []string
		err        *reason.Refusal
	}{
		"default":  {reason: "the pod says nothing", want: []string{"proxy"}},
		"named":    {reason: "blanks around a name are none of it", annotation: text(" logs ,gateway\n"), want: []string{"logs", "proxy", "gateway"}},
		"alias":    {reason: "it stands for its list", annotation: text("pair,gateway"), want: []string{"proxy", "logs", "gateway"}},
		"nothing":  {reason: "an alias for nothing", annotation: text("none"), want: []string{}},
		"twice":    {reason: "asked for twice, applied twice", annotation: text("proxy,proxy"), want: []string{"proxy", "proxy"}},
		"chain":    {reason: "aliases do not lead to aliases", annotation: text("chain"), err: unknown(`"pair"`, "the configuration has gateway, logs, proxy")},
		"empty":    {reason: "an empty text is a name", annotation: text(""), err: unknown(`""`, "the configuration has gateway, logs, proxy")},
		"misspelt": {reason: "the near one is named", annotation: text("gatway"), err: unknown(`"gatway"`, `did you mean "gateway"? the configuration has gateway, logs, proxy`)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &run{d: d, head: headOf(nil, map[string]string{})}
			if tc.annotation != nil {
				r.head.Metadata.Annotations[templatesKey] = *tc.annotation
			}
			got, err := r.chosen()
			refusal, _ := err.(*reason.Refusal)
			if diff := cmp.Diff(tc.err, refusal); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnknownDefaultTemplateHasNoPath(t *testing.T) {
	r := &run{d: &dialect{config: Config{DefaultTemplates: []string{"x"}}}, head: headOf(nil, nil)}
	_, err := r.chosen()
	want := &reason.Refusal{Reason: reason.UnknownTemplate, Detail: `there is no template "x"`, Hint: "the configuration has none"}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("the pod is not at fault (-want +got)\n%s", diff)
	}
}

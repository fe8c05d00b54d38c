// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// samplePod is one of a Deployment, as most are. It asks for nothing, so that the default templates alone
// speak.
const samplePod = `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"sample-7d9f-",
"labels":{"app":"sample","pod-template-hash":"7d9f","sidecar.istio.io/inject":"true"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"sample-7d9f","uid":"00000000-0000-4000-8000-000000000001","controller":true}]},
"spec":{"serviceAccountName":"default","containers":[{"name":"sample","image":"sample","ports":[{"containerPort":8080,"protocol":"TCP"}]}]}}`

// try injects a sample pod: a default template that fails on the plainest of pods would refuse every
// pod of the mesh. What a template itself refuses, by fail, is its own affair. The faults come first, then
// what was left out.
func (d *dialect) try(f inject.Facts) (faults, warnings []inject.Finding) {
	doc, err := pod.Parse([]byte(strings.TrimSpace(samplePod)))
	if err != nil {
		return []inject.Finding{{Reason: reason.ConfigInvalid, Detail: err.Error()}}, nil
	}
	f.Namespace, f.Selected = "sample", true
	r, err := inject.Speaking(d.parts(), inject.Options{Revision: d.revision}).Inject(doc, f)
	for _, w := range r.Warnings {
		if w.Reason == reason.TemplateOutputInvalid {
			warnings = append(warnings, d.blame(inject.Finding{Reason: w.Reason, Path: w.Path, Detail: w.Detail}))
		}
	}
	var refusal *reason.Refusal
	switch {
	case err == nil:
		return nil, warnings
	case !errors.As(err, &refusal):
		return []inject.Finding{{Reason: reason.ConfigInvalid, Detail: err.Error()}}, warnings
	}
	switch refusal.Reason {
	case reason.TemplateFailed, reason.TemplateLimit, reason.TemplateOutputInvalid:
		fault := d.blame(inject.Finding{Reason: refusal.Reason, Path: refusal.Path, Detail: refusal.Detail, Hint: refusal.Hint})
		fault.Detail = "on a sample pod: " + fault.Detail
		return []inject.Finding{fault}, warnings
	}
	return nil, warnings
}

// stopped is the place in a template at which it stopped, after its name.
var stopped = regexp.MustCompile(`^:(\d+):\d+: `)

// blame finds the template that a finding's detail begins with, and the place in it.
func (d *dialect) blame(f inject.Finding) inject.Finding {
	for _, t := range d.config.Templates {
		line := 1
		rest, ok := strings.CutPrefix(f.Detail, fmt.Sprintf("template %q", t.Name))
		if ok {
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, ":"), " ")
		} else if rest, ok = strings.CutPrefix(f.Detail, t.Name); ok {
			at := stopped.FindStringSubmatch(rest)
			if at == nil {
				continue
			}
			line, _ = strconv.Atoi(at[1])
			rest = rest[len(at[0]):]
			f.Path = ""
		}
		if !ok {
			continue
		}
		at := t.Origin.At(line)
		f.Template, f.File, f.Line, f.Detail = t.Name, at.File, at.Line, rest
		return f
	}
	return f
}

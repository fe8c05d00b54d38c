// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// unfit are the default templates that refuse every pod that does not ask for others: they do not exist,
// or fail on a pod like any.
func (r *runner) unfit(in *input) []string {
	_, err := r.engine(in.setup())
	var faults *inject.CompileError
	if !errors.As(err, &faults) {
		return nil
	}
	var out []string
	for _, f := range faults.Findings {
		switch f.Reason {
		case reason.TemplateFailed, reason.TemplateLimit, reason.TemplateOutputInvalid:
			out = append(out, f.Template)
		default:
			return nil // the original does not read it either
		}
	}
	return out
}

// keptOut: the configuration's default templates fail on every pod, but this one asks for others.
func keptOut(r *runner, in *input) bool {
	unfit := r.unfit(in)
	asked := func(t string) bool { return slices.Contains(in.selected(), t) }
	return len(unfit) > 0 && !slices.ContainsFunc(unfit, asked)
}

// configurationRefused: the refusal names the templates.
func configurationRefused(r *runner, p *pair) error { return p.refusedInstead(r.unfit(p.in)...) }

// goesAhead: the values have every application wait for its proxy, and the pod says that it does not.
func goesAhead(r *runner, in *input) bool {
	values, err := object(in.values)
	wait, _ := at(values, []string{"global", "proxy"})["holdApplicationUntilProxyStarts"].(bool)
	text, _ := in.annotations()["proxy.istio.io/config"].(string)
	var own struct{ HoldApplicationUntilProxyStarts *bool }
	if err != nil || !wait || yaml.Unmarshal([]byte(text), &own) != nil || own.HoldApplicationUntilProxyStarts == nil || *own.HoldApplicationUntilProxyStarts {
		return false
	}
	items := pod.Items(pod.Object(r.result(in), "spec"), "containers")
	return len(items) > 1 && pod.Named(items, proxy) != nil
}

// proxyGoesLast: the proxy is the last container.
func proxyGoesLast(_ *runner, p *pair) error {
	items := pod.Items(spec(p.got), "containers")
	if name(items[len(items)-1]) != proxy {
		return fmt.Errorf("%s is not the last container", proxy)
	}
	wanted := spec(p.want)
	if c := strike(wanted, "containers", proxy); c != nil {
		wanted["containers"] = append(pod.Items(wanted, "containers"), c)
	}
	return nil
}

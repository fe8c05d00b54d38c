// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
	"unicode"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// called are the functions that a part of a template calls.
func called(n parse.Node) []string {
	var out []string
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, child := range n.Nodes {
			out = append(out, called(child)...)
		}
	case *parse.ActionNode:
		return called(n.Pipe)
	case *parse.TemplateNode:
		return called(n.Pipe)
	case *parse.IfNode:
		return branch(&n.BranchNode)
	case *parse.RangeNode:
		return branch(&n.BranchNode)
	case *parse.WithNode:
		return branch(&n.BranchNode)
	case *parse.PipeNode:
		if n == nil {
			return nil
		}
		for _, c := range n.Cmds {
			out = append(out, called(c)...)
		}
	case *parse.CommandNode:
		for _, arg := range n.Args {
			out = append(out, called(arg)...)
		}
	case *parse.ChainNode:
		return called(n.Node)
	case *parse.IdentifierNode:
		return []string{n.Ident}
	}
	return out
}

func branch(n *parse.BranchNode) []string {
	return slices.Concat(called(n.Pipe), called(n.List), called(n.ElseList))
}

// plainKeys are the annotations and labels that templates place into YAML, and that hold one line.
var plainKeys = map[string][]string{
	"annotations": strings.Fields("sidecar.istio.io/proxyImage sidecar.istio.io/proxyImageType sidecar.istio.io/logLevel sidecar.istio.io/componentLogLevel " +
		"sidecar.istio.io/agentLogLevel sidecar.istio.io/bootstrapOverride sidecar.istio.io/capNetBindService sidecar.istio.io/nativeSidecar " +
		"traffic.sidecar.istio.io/includeOutboundPorts istio.io/rev kubectl.kubernetes.io/default-container kubectl.kubernetes.io/default-logs-container " +
		"resource.opentelemetry.io/service.namespace resource.opentelemetry.io/service.version resource.opentelemetry.io/service.instance.id"),
	"labels": strings.Fields("istio.io/rev topology.istio.io/network security.istio.io/tlsMode networking.istio.io/tunnel app version app.kubernetes.io/name " +
		"app.kubernetes.io/version service.istio.io/canonical-name service.istio.io/canonical-revision service.istio.io/workload-name"),
}

// smuggled are those of them that could end the place that a template gives them: by a character that
// cannot be printed, or, in a list of ports, by a quote or a bracket.
func (in *input) smuggled() []string {
	var out []string
	for place, keys := range plainKeys {
		given := pod.Object(pod.Object(in.pod, "metadata"), place)
		for _, key := range keys {
			value, _ := given[key].(string)
			ports := strings.HasSuffix(key, "Ports") && strings.ContainsAny(value, `"'\{}[]`)
			if ports || strings.ContainsFunc(value, func(c rune) bool { return !unicode.IsPrint(c) }) {
				out = append(out, key)
			}
		}
	}
	return out
}

func smugglesYAML(_ *runner, in *input) bool { return len(in.smuggled()) > 0 }

func annotationRefused(_ *runner, p *pair) error { return p.refusedInstead(p.in.smuggled()...) }

// surely are calls of env for variables that every process has.
var surely = regexp.MustCompile(`\benv\s+"(?:HOME|PATH|PWD|HOSTNAME|USER)"\s+("[^"]*")`)

func readsTheEnvironment(_ *runner, in *input) bool {
	return slices.ContainsFunc(in.selected(), func(t string) bool { return surely.MatchString(in.file.Injection.Templates[t]) })
}

// environmentStaysOut: the pod is the one that the templates make with the defaults in place of the calls.
func environmentStaysOut(r *runner, p *pair) error {
	in := *p.in
	in.config = surely.ReplaceAll(in.config, []byte("printf $1"))
	want := outcome{kind: p.got.kind, tree: norm(r.result(&in), "")}
	if d := diff(p.got.tree, want.tree, ""); len(d) > 0 {
		return fmt.Errorf("the environment has a say: %s", d[0])
	}
	p.want = p.got
	return nil
}

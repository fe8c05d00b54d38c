// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// The bounds on the runes of a value, and of the rule that it breaks, in a message.
const (
	maxShown = 160
	maxRule  = 480
)

// check refuses a pod whose annotations and labels hold what their keys do not allow, all of them at
// once: who mends a pod wants the whole list.
func (r *run) check() error {
	meta := &r.head.Metadata
	causes := append(r.causes(meta.Annotations, PodAnnotation), r.causes(meta.Labels, PodLabel)...)
	causes = append(causes, r.resourceCauses()...)
	causes = append(causes, ownerCauses(meta.OwnerReferences)...)
	if len(causes) == 0 {
		return nil
	}
	details := make([]string, len(causes))
	for i, c := range causes {
		details[i] = c.Detail
	}
	return &reason.Refusal{
		Reason: reason.ParameterInvalid, Path: causes[0].Path, Detail: strings.Join(details, "; "), Causes: causes,
		Hint: "correct the value, or remove it to have the mesh's default",
	}
}

// causes are the faults of the given keys, in the order of the keys.
func (r *run) causes(given map[string]string, place Place) []reason.Cause {
	var bad map[string]error
	for name, value := range given {
		key, ok := lookup(name, place)
		if !ok {
			continue
		}
		if err := r.fault(key, value); err != nil {
			if bad == nil {
				bad = map[string]error{}
			}
			bad[name] = err
		}
	}
	var causes []reason.Cause
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		causes = append(causes, reason.Cause{
			Path:   place.path(name),
			Detail: "invalid value '" + shown(given[name]) + "' for " + place.kind() + " '" + name + "': " + brief(bad[name].Error(), maxRule),
		})
	}
	return causes
}

func (r *run) fault(key Key, value string) error {
	switch {
	case key.Name == proxyConfigKey:
		return r.checkProxyConfig(value)
	case key.check == nil, slices.Contains(keysOfTemplates, key.Name) && !r.reads(key.Name):
		return nil
	}
	return key.check(value)
}

// keysOfTemplates are the keys that nothing reads but templates: to a pod of which none does, any value
// may be given.
var keysOfTemplates = []string{userVolumeKey, userMountKey, datadogKey}

// mentions are the keys that each template names.
func mentions(templates []Template) map[string][]string {
	out := map[string][]string{}
	for _, t := range templates {
		for _, key := range registry {
			if strings.Contains(t.Text, key.Name) {
				out[t.Name] = append(out[t.Name], key.Name)
			}
		}
	}
	return out
}

// reads tells whether a template of the pod names a key.
func (r *run) reads(key string) bool {
	return slices.ContainsFunc(r.d.selected(r.head), func(name string) bool { return slices.Contains(r.d.mentions[name], key) })
}

// checkProxyConfig tells of unknown fields too, which istiod passes over in silence.
func (r *run) checkProxyConfig(text string) error {
	faults, warnings := r.d.config.Mesh.CheckAnnotation(text)
	for _, w := range warnings.Suggest(reason.Nearest) {
		detail := w.Error()
		if w.Hint != "" {
			detail += ", " + w.Hint
		}
		r.Warn(reason.UnknownKey, PodAnnotation.path(proxyConfigKey), detail)
	}
	if len(faults) == 0 {
		return r.checkMetadata()
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.Error()
	}
	return errors.New(strings.Join(lines, "; "))
}

// shown is a value from a pod for a message.
func shown(value string) string { return brief(value, maxShown) }

// quoted is one item of a list for a message.
func quoted(item string) string { return `"` + shown(item) + `"` }

// brief is text for a message: on one line, and not endless. What cannot be printed shows as its
// escape, so that a reader sees what is wrong with it.
func brief(text string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == limit {
			b.WriteRune('…')
			break
		}
		n++
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		escape := strconv.QuoteRune(r)
		b.WriteString(escape[1 : len(escape)-1])
	}
	return b.String()
}

// SPDX-License-Identifier: Apache-2.0

// Package reason is the closed registry of reasons: why a pod was injected, skipped, warned about
// or refused. A reason has two forms: a stable snake_case name for metrics, annotations and JSON,
// and an id with a page in the reference (INJ0xx injected, INJ1xx skipped, INJ2xx warning,
// INJ3xx refused, INJ4xx repair, INJ5xx drift).
package reason

// Reason names one cause of a decision. The zero value is no reason.
type Reason uint8

type entry struct {
	reason        Reason
	id, name, doc string
}

// ID is the reason's id, such as INJ105. It is empty for the zero value.
func (r Reason) ID() string { return r.entry().id }

// String is the reason's snake_case name, such as host_network. It is empty for the zero value.
func (r Reason) String() string { return r.entry().name }

// Doc is one sentence that tells a person what the reason means and what to do.
func (r Reason) Doc() string { return r.entry().doc }

func (r Reason) entry() entry {
	if int(r) >= len(registry) {
		return entry{}
	}
	return registry[r]
}

// All lists every reason, in the order of the ids.
func All() []Reason {
	all := make([]Reason, 0, len(registry))
	for _, e := range registry[1:] {
		all = append(all, e.reason)
	}
	return all
}

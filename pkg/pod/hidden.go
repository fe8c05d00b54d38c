// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"slices"
	"time"
)

// Hidden are the kinds of values in which the replicas of one workload differ, and which a shape can leave
// out. A value is known by its place in the pod alone, where no name on the way has an escape, and only a
// string is ever hidden.
type Hidden uint16

// The kinds of values, and who writes them.
const (
	// HideName is metadata.name, which the StatefulSet controller makes of the set's name and the ordinal.
	// What the API server makes of a generateName comes after admission.
	HideName Hidden = 1 << iota

	// HideIdentity is metadata.uid, resourceVersion and creationTimestamp and the time of each of the
	// managedFields, which the API server writes, and the uid of each of the ownerReferences, which the
	// owner's controller writes. A time is hidden in the API server's form only, 2006-01-02T15:04:05Z: one
	// in another form may be none.
	HideIdentity

	// HideOrdinal is the value of a label that is one of the Ordinals. The StatefulSet controller writes the
	// first two, the Job controller the last, for a Job whose completions are indexed.
	HideOrdinal

	// HideHostname is spec.hostname, which the StatefulSet controller makes equal to the name, and the Job
	// controller makes of the Job's name and the index.
	HideHostname

	// HideNode are the values of the matchFields of the nodeSelectorTerms in spec.affinity.nodeAffinity.
	// requiredDuringSchedulingIgnoredDuringExecution, by which the DaemonSet controller binds a pod to a
	// node.
	HideNode

	// HideToken are the names of volumes and of containers' volume mounts that are TokenVolume and five of
	// a-z and 0-9, which the API server's service account admission makes. They are numbered as they come,
	// so that two such volumes are not taken for each other; those beyond the first maxTokens stay.
	HideToken

	// HideClaim is the claimName of a volume's persistentVolumeClaim, which the StatefulSet controller makes
	// of the claim template's name and the pod's.
	HideClaim

	// HideIndex is the value of the annotation CompletionIndex, which the Job controller writes beside the
	// label of that name.
	HideIndex

	// HideAll is every kind.
	HideAll = HideIndex<<1 - 1
)

// TokenVolume begins the name of the volume that the API server mounts a service account's token from.
const TokenVolume = "kube-api-access-"

// CompletionIndex is the label and the annotation that number the pod of an indexed Job.
const CompletionIndex = "batch.kubernetes.io/job-completion-index"

const (
	podNameLabel  = "statefulset.kubernetes.io/pod-name"
	podIndexLabel = "apps.kubernetes.io/pod-index"
)

// Ordinals are the labels that tell one replica of its workload; see HideOrdinal.
func Ordinals() []string { return []string{podNameLabel, podIndexLabel, CompletionIndex} }

// maxTokens bounds what is kept to number the tokens. A pod has one, or a second one that came with a copy
// of another pod's spec.
const maxTokens = 16

// token is what tells one token volume's name from another's.
type token [5]byte

// finder scans a pod for its hidden values and tells of each, in the order of the bytes.
type finder struct {
	scanner
	hide   Hidden
	tell   func(kind Hidden, number int, at span)
	tokens [maxTokens]token
	known  int
}

func (f *finder) pod() {
	for ok := f.enter('{'); ok; ok = f.more() {
		switch string(f.name()) {
		case "metadata":
			f.metadata()
		case "spec":
			f.spec()
		default:
			f.skip()
		}
	}
}

func (f *finder) metadata() {
	for ok := f.enter('{'); ok; ok = f.more() {
		switch string(f.name()) {
		case "name":
			f.value(HideName)
		case "uid", "resourceVersion":
			f.value(HideIdentity)
		case "creationTimestamp":
			f.time()
		case "labels":
			f.ordinals(HideOrdinal, podNameLabel, podIndexLabel, CompletionIndex)
		case "annotations":
			f.ordinals(HideIndex, CompletionIndex)
		case "ownerReferences":
			f.each("uid", func() { f.value(HideIdentity) })
		case "managedFields":
			f.each("time", f.time)
		default:
			f.skip()
		}
	}
}

func (f *finder) spec() {
	for ok := f.enter('{'); ok; ok = f.more() {
		switch string(f.name()) {
		case "hostname":
			f.value(HideHostname)
		case "affinity":
			f.affinity()
		case "volumes":
			f.volumes()
		case "containers", "initContainers", "ephemeralContainers":
			f.each("volumeMounts", func() { f.each("name", f.token) })
		default:
			f.skip()
		}
	}
}

func (f *finder) affinity() {
	f.in("nodeAffinity", func() {
		f.in("requiredDuringSchedulingIgnoredDuringExecution", func() {
			f.in("nodeSelectorTerms", func() {
				f.each("matchFields", func() { f.each("values", f.nodes) })
			})
		})
	})
}

func (f *finder) nodes() {
	for ok := f.enter('['); ok; ok = f.more() {
		f.value(HideNode)
	}
}

func (f *finder) volumes() {
	for ok := f.enter('['); ok; ok = f.more() {
		for ok := f.enter('{'); ok; ok = f.more() {
			switch string(f.name()) {
			case "name":
				f.token()
			case "persistentVolumeClaim":
				f.in("claimName", func() { f.value(HideClaim) })
			default:
				f.skip()
			}
		}
	}
}

// each calls do at the member of that name of every object in a list.
func (f *finder) each(name string, do func()) {
	for ok := f.enter('['); ok; ok = f.more() {
		f.in(name, do)
	}
}

// in calls do at the member of that name of an object.
func (f *finder) in(name string, do func()) {
	for ok := f.enter('{'); ok; ok = f.more() {
		if string(f.name()) == name {
			do()
			continue
		}
		f.skip()
	}
}

func (f *finder) ordinals(kind Hidden, names ...string) {
	for ok := f.enter('{'); ok; ok = f.more() {
		at := f.name()
		if slices.ContainsFunc(names, func(name string) bool { return string(at) == name }) {
			f.value(kind)
			continue
		}
		f.skip()
	}
}

// value tells of a value.
func (f *finder) value(kind Hidden) {
	if at := f.sought(kind); at.to > 0 {
		f.tell(kind, 0, at)
	}
}

// sought is where a string stands that may be hidden. Another value is skipped.
func (f *finder) sought(kind Hidden) span {
	if f.hide&kind == 0 || f.peek() != '"' {
		f.skip()
		return span{}
	}
	return f.text()
}

// time tells of a time in the API server's form, which every decoder reads.
func (f *finder) time() {
	const form = `"` + time.DateOnly + "T" + time.TimeOnly + `Z"`
	at := f.sought(HideIdentity)
	if at.to-at.from != len(form) {
		return
	}
	var t time.Time
	if t.UnmarshalText(f.raw[at.from+1:at.to-1]) == nil {
		f.tell(HideIdentity, 0, at)
	}
}

// token tells of a name that is a token volume's.
func (f *finder) token() {
	at := f.sought(HideToken)
	var t token
	if at.to-at.from != len(TokenVolume)+len(t)+2 || string(f.raw[at.from+1:at.to-1-len(t)]) != TokenVolume {
		return
	}
	copy(t[:], f.raw[at.to-1-len(t):])
	for _, c := range t {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return
		}
	}
	if n := f.number(t); n >= 0 {
		f.tell(HideToken, n, at)
	}
}

// number is which token it is of those that came so far; -1 for one too many.
func (f *finder) number(t token) int {
	if n := slices.Index(f.tokens[:f.known], t); n >= 0 {
		return n
	}
	if f.known == maxTokens {
		return -1
	}
	f.tokens[f.known] = t
	f.known++
	return f.known - 1
}

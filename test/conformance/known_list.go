// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// rules are the known differences.
func rules() []rule { return slices.Concat(defects(), handlerDefects(), guards()) }

// defects are where the original goes wrong.
func defects() []rule {
	return []rule{
		{
			id:      "unknown-fields-stay",
			reason:  "the original patches lists by index against its own types: a field that it does not know moves to another container, or is lost",
			applies: unknownFieldsMove, holds: unknownFieldsStay,
		},
		{
			id:      "proxy-in-one-list",
			reason:  "the original leaves " + proxy + " in containers and in initContainers, which the API server refuses",
			applies: proxyInBothLists, holds: proxyInOneList,
		},
		{
			id:      "a-pod-has-a-container",
			reason:  "the original makes a native sidecar of the only container, and the API server refuses a pod without ordinary ones",
			applies: onlyTheProxy, holds: containersStay,
		},
		{
			id:      "volume-has-one-source",
			reason:  "the original merges two volumes of one name into one with two sources, which the API server refuses",
			applies: volumesClash, holds: volumeHasOneSource,
		},
		{
			id:      "retired-versions-are-told",
			reason:  "an object of a version that is no longer served is left as it is, and told",
			applies: ofRetiredVersion, holds: leftAndTold,
		},
		{
			id:      "record-tells-of-the-injection",
			reason:  "the original takes a proxy that an earlier injection put into the other list for the author's wish, and forgets it in the next call",
			applies: proxyChangesLists, holds: asIfNew,
		},
		{
			id:      "record-is-borne-out",
			reason:  "a record that names containers which no template brings is not believed: whoever copies or forges one must not hide a container",
			applies: recordIsForeign, holds: asIfNew,
		},
		{
			id:      "wishes-are-written-down",
			reason:  "defect 3: in a call after the first the original writes down no wish for a container that templates bring, and forgets it in the next",
			applies: bringsAgain, holds: wishesWritten,
		},
		{
			id:      "pod-says-not-to-wait",
			reason:  "a pod that says that it does not wait for the proxy does not, whatever the values say",
			applies: goesAhead, holds: proxyGoesLast,
		},
		{
			id:      "bad-configuration-is-kept-out",
			reason:  "the original puts a configuration into force whose default template fails on every pod",
			applies: keptOut, holds: configurationRefused,
		},
		{
			id:      "cronjob-metadata-on-the-pod",
			reason:  "the original writes labels, annotations and its record to the Job of a CronJob, so that the pod has none",
			applies: cronJob, holds: metadataOnThePod,
		},
	}
}

// handlerDefects are where it goes wrong with probes and hooks.
func handlerDefects() []rule {
	return []rule{
		{
			id:      "probe-port-unknown",
			reason:  "a probe that names a port which its container has not is left as its author wrote it: the original points it at the agent, which does not know it",
			applies: probesNameNoPort, holds: thoseProbesStay,
		},
		{
			id:      "agent-answers-for-itself",
			reason:  "a probe of the agent itself is left as its author wrote it: the original points it at an answer for the application that the agent does not know",
			applies: handlersAskTheAgent, holds: theyStay,
		},
		{
			id:      "handler-has-one-kind",
			reason:  "the original merges two handlers of the proxy's into one of two kinds, which the API server refuses",
			applies: handlersClash, holds: handlerHasOneKind,
		},
		{
			id:      "status-port-zero",
			reason:  "the original points probes at port 0 where the annotation asks for it, which the API server refuses",
			applies: statusPortZero, holds: probesStay,
		},
	}
}

// guards are where security asks for more than the original does.
func guards() []rule {
	return []rule{
		{
			id:      "templates-are-hermetic",
			reason:  "a template that reads the environment, the clock, the network or the disk, or is random, must not compile",
			applies: readsItsSurroundings, holds: functionRefused,
		},
		{
			id:      "environment-stays-out",
			reason:  "env answers from what is configured, not from the injector's environment: secrets are kept there",
			applies: readsTheEnvironment, holds: environmentStaysOut,
		},
		{
			id:      "no-yaml-from-annotations",
			reason:  "a line break, or a quote in a list of ports, in what templates place into YAML lets a pod's author write YAML of their own",
			applies: smugglesYAML, holds: annotationRefused,
		},
		{
			id:      "volumes-of-the-author",
			reason:  "the original adds what the annotation says: a file outside of its volume, or a mount without a volume, which the API server refuses without naming the annotation",
			applies: badVolumes, holds: volumesRefused,
		},
		{
			id:      "resources-of-the-author",
			reason:  "the original takes a request above its limit and quantities below 0 from annotations, and the API server refuses the pod without naming them (case 22)",
			applies: resourcesContradict, holds: resourcesRefused,
		},
	}
}

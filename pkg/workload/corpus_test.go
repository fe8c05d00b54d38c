// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// texts are strings that some reader of YAML takes for something else, and strings that are hard
// to write.
var texts = []string{
	"", "~", "null", "Null", "yes", "No", "on", "OFF", "y", "N", "true", "FALSE", "1e3", "0123", "0o17", "0x1F", "0b1",
	"1_000", ".5", "5.", "-1", "+1", "12:30", "1:30:00", "2024-01-01", "2024-01-01T00:00:00Z", "=", "<<", ".inf", ".nan",
	"name", "image", "app", "registry.example/web:1", "a: b", "a:", ":a", "a #b", "#a", "- a", "-", "--- a", "...", "? a",
	"a ", " a", "a\n", "a\nb", "a\n b\n", "\n", "\n\n", "a\n\n", "\na", " a\nb", "a \nb", "a\tb", "\t", "a\r\nb", "a\rb",
	"{\"a\":[1,\"b\"]}", "[a]", "{a}", "it's", "\"", "\\", "'a'", "é☃", "\u2028", "\u0085", "\ufeff", "\x07", "%a", "@a", "`a",
	"&a", "*a", "!a", "|", ">", "100m", "64Mi", "1.10", "a.b/c~d", "first\n---\nsecond\n# no comment\n",
	"a very long line of text that goes on and on, past the eighty columns at which an emitter would like to fold it, and further",
}

// manifests are streams of every shape: the seeds of the laws.
var manifests = []string{
	plainPod, deployment, flowDeployment, cronJob, twoSpaces, fourSpaces, crlf, comments, scalars, anchors, mergeKeys,
	crossAnchors, list, podList, jsonDeployment, jsonStream, jsonCompact, jsonList, stream, withDirectives, blocks, oddities, tailComments, mergedKind, sharedItems, oddBreakPod, looseJSON,
	"", "---\n", "# only a comment\n", "\xef\xbb\xbf" + plainPod, "---\r\n" + crlf, "--- {apiVersion: v1, kind: Pod, spec: {}}\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\nspec:\n", "apiVersion: v1\nkind: Pod", "--- # a comment\n" + plainPod + "...\n",
	"apiVersion: v1\nkind: Pod\nspec: {containers: []}\nmetadata: {}", "  apiVersion: v1\n  kind: Pod\n  spec:\n    a: |\n      x\n\n",
}

const plainPod = `apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
spec:
  containers:
  - name: app
    image: registry.example/web:1
    args: ["1e3", yes, 0123, 1.0, "", ~]
`

const deployment = `# the shop's front
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}   # trailing

spec:
  replicas: 2 # two is enough

  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels:
        app: web   # the selector

      annotations: {}
    spec:
      containers:

      # the app
      - name: app
        image: "registry.example/web:1"   # pinned
        env:
        - {name: A, value: "1e3"}
        - name: B   # second
          value: |
            first
            ---
            # no comment

            last
        # after the environment
        command:
        - run
      # after the containers
      volumes: []
  # end of the spec
# end of all
`

const flowDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
 spec: {template: {metadata: {labels: {app: web}}, # the labels
  spec: {containers: [{name: app, image: "registry.example/web:1"}]}}}}
# end
`

const cronJob = `apiVersion: batch/v1
kind: CronJob
metadata: {name: tidy, namespace: shop}
spec:
  schedule: "5 4 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: OnFailure, containers: [{name: app, image: "registry.example/tidy:1"}]}
`

const twoSpaces = `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  template:
    metadata:
      labels:
        app: db
    spec:
      containers:
        - name: db
          image: registry.example/db:1
        -
          name: other
        - - odd
          - nested
        - {}
`

const fourSpaces = `apiVersion: apps/v1
kind: DaemonSet
metadata:
    name: agent
spec:
    template:
        spec:
            containers:
                -   name: agent
                    image: registry.example/agent:1
                    ports:
                    -   containerPort: 80
`

const crlf = "apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: win\r\nspec:\r\n  containers:\r\n  - name: app\r\n    args:\r\n    - |\r\n      a\r\n      b\r\n    - \"x\\\r\n      y\"\r\n"

const comments = `# head

# about the pod
apiVersion: v1 # version
kind: Pod
# about metadata
metadata: # the metadata
  # about the name
  name: web # the name
  # after the name
# about the spec

spec: # the spec
  # about the containers
  containers: # the containers
  # about the app
  - name: app # the app
    # about the image

    image: x # the image
    # after the image
  # between
  - # another
    name: b
  # after the last

  # at the end of the spec
`

const scalars = `apiVersion: v1
kind: Pod
metadata: {name: nums}
spec:
  int: 9223372036854775807
  big: 9007199254740993
  neg: -9007199254740993
  float: 1.50
  exp: 1e3
  oct: 0o17
  hex: 0x1F
  under: 1_000
  'yes': "no"
  "true": no
  date: 2024-01-01
  time: 12:30
  single: 'it''s'
  tab: "a\tb"
  uni: "\u2603 ☃"
  folded: >-
    one
    two

    three
  keep: |+
    text

  plain: a text
    over lines
  quoted: "a text
    # over

    lines"
  empty:
  last: |
    text
    # text
`

const anchors = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: &labels
    app: web # the app
    tier: &tier front
  annotations: {tier: *tier}
spec:
  template:
    metadata:
      labels: *labels
    spec:
      containers:
      - &one
        name: one
        env: &env
        - {name: A, value: a}
      - name: two
        env: *env
      initContainers: [*one]
`

const mergeKeys = `apiVersion: v1
kind: Pod
metadata: {name: m}
base: &base
  image: registry.example/web:1
  resources: {limits: {cpu: 1}}
more: &more {image: other, tty: true}
spec:
  containers:
  - <<: *base
    name: app
  - <<: [*base, *more]
    name: b
  - name: c
    <<: {image: x}
`

const crossAnchors = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: &spec
  template: &template
    metadata: {labels: &l {app: web}}
    spec:
      containers: &containers
      - {name: app}
copy: *template
again: *spec
labels: *l
containers: *containers
other: &other {a: b}
uses: *other
`

// SPDX-License-Identifier: Apache-2.0

package workload

const list = `apiVersion: v1
kind: List
metadata: {}
items:
# the first
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    containers:
    - name: app
- apiVersion: example.com/v1
  kind: Widget
  metadata: {name: w}
  spec: {size: 3}
- kind: Deployment
  apiVersion: apps/v1
  metadata: {name: b}
  spec:
    template:
      spec:
        containers:
        - name: app
- apiVersion: v1
  kind: List
  items:
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: c}
    spec: {template: {spec: {containers: [{name: app}]}}}
`

const podList = `apiVersion: v1
kind: PodList
items:
- metadata: {name: a}
  spec:
    containers: [{name: app}]
- &b
  metadata: {name: b, namespace: shop}
  spec: {}
- *b
`

const jsonDeployment = `{
  "apiVersion": "apps/v1",
  "kind": "Deployment",
  "metadata": {"name": "web", "namespace": "shop"},
  "spec": {
    "replicas": 1e0,
    "template": {
      "metadata": {},
      "spec": {
        "containers": [
          {
            "name": "app",
            "args": ["\u003ca\u003e", "\/", "b", 1.50, 9007199254740993],
            "env": [ { "name": "A" }, { "name": "B" } ]
          }
        ],
        "volumes": []
      }
    }
  }
}
`

const jsonStream = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{}}\n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}} \n\n" +
	"{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\",\n\t\"spec\": {\n\t\t\"containers\": []\n\t}\n}\n---\n\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"a\": [1, 2]}}"

const jsonCompact = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"app"}],"a":{},"b":[[]]}}`

const jsonList = "{\r\n    \"apiVersion\": \"v1\",\r\n    \"kind\": \"List\",\r\n    \"items\": [\r\n        {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {}},\r\n" +
	"        {\r\n            \"apiVersion\": \"v1\",\r\n            \"kind\": \"Pod\",\r\n            \"spec\": {\r\n                \"a\": \"b\"\r\n            }\r\n        }\r\n    ]\r\n}\r\n"

const stream = `# leading comment only
---
---
# settings
apiVersion: v1
kind: ConfigMap
metadata: {name: notes, namespace: shop}   # trailing
data:
  text: |
    first
    ---
    second
    # not a comment
--- # the workload
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec: {containers: [{name: app, image: "registry.example/web:1"}]}
...
---
apiVersion: example.com/v1
kind: Gauge
spec: {ms: 86400000, exact: 9007199254740993, e: 1e3, s: "1e3", o: 0o17, y: yes}
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {pillion.dev/inject: enabled}
---
null
---
`

const withDirectives = `%YAML 1.1
# about
---
apiVersion: v1
kind: Pod
metadata: {name: d}
spec:
  containers: []
...
# between
%TAG !e! tag:example.com,2000:
--- !!map
apiVersion: v1
kind: Pod
spec: {}
`

const blocks = `apiVersion: v1
kind: Pod
metadata:
  name: b
  annotations:
    a: |2
        indented
      text
    b: >+
      folded

      text

    c: |-

      leading blank
      # text
       more
    # comment
    d: "x"
spec:
  containers:
  - args:
    - |
      one
    - >
      two

  # after
  - name: x
`

const oddities = `"apiVersion": v1
? kind
: Pod
metadata: !!map
  name: !!str o
spec: &unused
  ? a
  : b
  "c": 'd'
  e:
    - f
  g: !!int "3"
  h: [a, b,
   c]
  i: {}
`

const tailComments = "apiVersion: v1\nkind: Pod\nspec:\n  a:\n    b: c\n\n    # deep\n  # shallow\n\n# root\n\n\n"

const mergedKind = `base: &base {apiVersion: v1, kind: Pod}
meta: &meta {metadata: {name: merged, namespace: shop}}
both: &both [*base, *meta]
<<: *both
spec: &spec
  containers: []
  more: &deep {a: &inner b}
uses: [*deep, *inner]
`

const sharedItems = `apiVersion: v1
kind: List
items:
- &map
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: m}
- *map
- &pod {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: &s {a: b}}
- *pod
- {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: *s}
- <<: {apiVersion: v1, kind: Pod}
  metadata: {name: r}
  spec: {<<: *s, c: d}
`

const oddBreakPod = "apiVersion: v1\nkind: Pod\nspec:\n  a: \"b\u2028c\"\n  d: \"e\u0085 f\"\n  g: h\n"

const looseJSON = "\xef\xbb\xbf--- # json\n{ \"apiVersion\" : \"v1\",\n\"kind\" : \"Pod\", \"spec\" : {\n\"a\" : [\n1,\n2 ], \"b\" : { \"c\" : null } } }"

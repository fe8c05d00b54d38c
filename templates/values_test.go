// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// setting is one value for a parameter, and what is then in the layer. Some parameters mean nothing
// without others.
type setting struct {
	value, shows string
	with         map[string]string // of annotations
}

// settings has one for every parameter of every template.
var settings = map[string]map[string]setting{
	"log-shipper": {
		"image":       {value: "registry.example/mirror/fluent-bit:9.9", shows: `"image":"registry.example/mirror/fluent-bit:9.9"`},
		"path":        {value: "/var/log/nginx", shows: `"path=/var/log/nginx/*.log"`},
		"files":       {value: "access-?.json", shows: `"path=/var/log/app/access-?.json"`},
		"containers":  {value: "*", shows: `{"name":"helper","volumeMounts":`},
		"volume":      {value: "app-logs", shows: `{"mountPath":"/var/log/app","name":"app-logs","readOnly":true}`},
		"volumeSize":  {value: "2Gi", shows: `"sizeLimit":"2Gi"`},
		"output":      {value: "http", shows: `"http"`},
		"host":        {value: "logs.example", shows: `"host=logs.example"`, with: map[string]string{"logs.pillion.dev/output": "forward"}},
		"port":        {value: "8443", shows: `"port=8443"`, with: map[string]string{"logs.pillion.dev/output": "forward"}},
		"tls":         {value: "true", shows: `"tls=on"`, with: map[string]string{"logs.pillion.dev/output": "http"}},
		"tag":         {value: "shop.web", shows: `"tag=shop.web"`},
		"healthPort":  {value: "12020", shows: `"httpGet":{"path":"/api/v1/uptime","port":12020}`},
		"cpu":         {value: "20m", shows: `"requests":{"cpu":"20m"`},
		"cpuLimit":    {value: "500m", shows: `"limits":{"cpu":"500m"`},
		"memory":      {value: "96Mi", shows: `"memory":"96Mi"`},
		"memoryLimit": {value: "256Mi", shows: `"limits":{"memory":"256Mi"}`},
	},
	"otel-agent": {
		"image":       {value: "registry.example/opentelemetry-collector-contrib:9.9", shows: `"image":"registry.example/opentelemetry-collector-contrib:9.9"`},
		"endpoint":    {value: "[fd00::1]:4317", shows: `endpoint: \"[fd00::1]:4317\"`},
		"insecure":    {value: "true", shows: `tls: {insecure: true}`, with: map[string]string{"otel.pillion.dev/endpoint": "gateway.example:4317"}},
		"sampling":    {value: "25", shows: `sampling_percentage: 25}`},
		"logLevel":    {value: "warn", shows: `logs: {level: warn}`},
		"grpcPort":    {value: "14317", shows: `endpoint: \"localhost:14317\"`},
		"httpPort":    {value: "14318", shows: `endpoint: \"localhost:14318\"`},
		"healthPort":  {value: "23133", shows: `"httpGet":{"path":"/","port":23133}`},
		"cpu":         {value: "100m", shows: `"requests":{"cpu":"100m"`},
		"cpuLimit":    {value: "1", shows: `"limits":{"cpu":`},
		"memory":      {value: "64Mi", shows: `"memory":"64Mi"`},
		"memoryLimit": {value: "1Gi", shows: `"limits":{"memory":"1Gi"}`},
	},
	"vault-agent": {
		"image":       {value: "registry.example/vault:9.9", shows: `"image":"registry.example/vault:9.9"`},
		"address":     {value: "http://vault.example:8200", shows: `\"address\":\"http://vault.example:8200\"`},
		"namespace":   {value: "team/shop", shows: `{"name":"VAULT_NAMESPACE","value":"team/shop"}`},
		"caConfigMap": {value: "kube-root-ca.crt", shows: `{"configMap":{"name":"kube-root-ca.crt"},"name":"vault-ca"}`},
		"authPath":    {value: "auth/shop/kubernetes", shows: `\"mount_path\":\"auth/shop/kubernetes\"`},
		"role":        {value: "shop", shows: `\"role\":\"shop\"`},
		"audience":    {value: "https://vault.example", shows: `"audience":"https://vault.example"`},
		"secrets":     {value: "a=secret/data/a,b.json=database/creds/b", shows: `"/vault/secrets/a","/vault/secrets/b.json"`},
		"containers":  {value: "helper", shows: `{"name":"helper","volumeMounts":`},
		"healthPort":  {value: "18201", shows: `"tcpSocket":{"port":18201}`},
		"cpu":         {value: "50m", shows: `"requests":{"cpu":"50m"`},
		"cpuLimit":    {value: "500m", shows: `"limits":{"cpu":"500m"`},
		"memory":      {value: "96Mi", shows: `"memory":"96Mi"`},
		"memoryLimit": {value: "256Mi", shows: `"limits":{"memory":"256Mi"}`},
	},
	"sql-proxy": {
		"image":       {value: "registry.example/cloud-sql-proxy:9.9", shows: `"image":"registry.example/cloud-sql-proxy:9.9"`},
		"instances":   {value: "example.com:p:r:a,p:r:b", shows: `"--port=5432","example.com:p:r:a","p:r:b"`},
		"port":        {value: "3306", shows: `{"containerPort":3306,"name":"sql-0"`},
		"address":     {value: "psc", shows: `"--psc"`},
		"iamAuthn":    {value: "true", shows: `"--auto-iam-authn"`},
		"drain":       {value: "1m30s", shows: `"--max-sigterm-delay=1m30s"`},
		"healthPort":  {value: "19090", shows: `"httpGet":{"path":"/startup","port":19090}`},
		"cpu":         {value: "100m", shows: `"requests":{"cpu":"100m"`},
		"cpuLimit":    {value: "500m", shows: `"limits":{"cpu":"500m"`},
		"memory":      {value: "96Mi", shows: `"memory":"96Mi"`},
		"memoryLimit": {value: "512Mi", shows: `"limits":{"memory":"512Mi"}`},
	},
}

// TestEveryParameterShows sets each parameter alone, and looks for what it changes. A parameter that
// nobody reads, and a setting of one that is gone, fail it.
func TestEveryParameterShows(t *testing.T) {
	for name, c := range compile(t) {
		left := maps.Clone(settings[name])
		for _, p := range c.Parameters {
			s, ok := left[p.Name]
			delete(left, p.Name)
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				if !ok || p.Annotation == "" {
					t.Fatalf("a setting and an annotation are wanted; the annotation is %q", p.Annotation)
				}
				a := ask{sample: samples["a pod as the API server sends it"], native: true, annotations: maps.Clone(s.with)}
				if a.annotations == nil {
					a.annotations = map[string]string{}
				}
				before := string(pod.Encode(c.must(t, a)))
				if strings.Contains(before, s.shows) {
					t.Fatalf("%s is there without the setting", s.shows)
				}
				a.annotations[p.Annotation] = s.value
				for _, a.native = range []bool{true, false} {
					if after := string(pod.Encode(c.must(t, a))); !strings.Contains(after, s.shows) {
						t.Errorf("%s=%s: want %s in\n%s", p.Annotation, s.value, s.shows, after)
					}
				}
			})
		}
		if len(left) > 0 {
			t.Errorf("%s has no parameter %v", name, slices.Sorted(maps.Keys(left)))
		}
	}
}

// TestAnnotationsAreTheTemplatesOwn keeps the parameters of all templates apart, for they may meet in
// one pod, and below our domain.
func TestAnnotationsAreTheTemplatesOwn(t *testing.T) {
	prefixes := map[string]string{"log-shipper": "logs", "otel-agent": "otel", "vault-agent": "vault", "sql-proxy": "sql"}
	for name, c := range compile(t) {
		for _, p := range c.Parameters {
			if !strings.HasPrefix(p.Annotation, prefixes[name]+".pillion.dev/") {
				t.Errorf("%s: the annotation of %s is %s, want one below %s.pillion.dev", name, p.Name, p.Annotation, prefixes[name])
			}
		}
	}
}

// TestTemplatesMeet lays all templates' default containers side by side: no two take the same port
// or the same name.
func TestTemplatesMeet(t *testing.T) {
	ports, names := map[any]string{}, map[any]string{}
	for name, c := range compile(t) {
		tree := c.must(t, ask{})
		for _, container := range brought(tree) {
			for _, port := range objects(container, "ports") {
				if other := ports[port["containerPort"]]; other != "" {
					t.Errorf("%s and %s both take port %v", name, other, port["containerPort"])
				}
				ports[port["containerPort"]] = name
			}
		}
		for _, item := range slices.Concat(brought(tree), objects(object(tree, "spec"), "volumes")) {
			if other := names[item["name"]]; other != "" && other != name {
				t.Errorf("%s and %s both bring %v", name, other, item["name"])
			}
			names[item["name"]] = name
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
)

// A line is what fits a cost best, by least squares.
type line struct {
	slope, intercept, r2 float64

	off float64 // the distance of the farthest point
}

// through fits a line. A cost that does not change to speak of is a straight line too, which R² alone would
// not tell.
func through(x, y []float64) line {
	n := float64(len(x))
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var sxx, sxy, syy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		sxx, sxy, syy = sxx+dx*dx, sxy+dx*dy, syy+dy*dy
	}
	l := line{slope: sxy / sxx, r2: 1}
	l.intercept = my - l.slope*mx
	if flat := 0.01 * my; math.Sqrt(syy/n) > flat {
		l.r2 = sxy * sxy / (sxx * syy)
	}
	for i := range x {
		l.off = max(l.off, math.Abs(y[i]-l.intercept-l.slope*x[i]))
	}
	return l
}

// A series is a path at several sizes.
type series struct {
	name, unit string
	sizes      []int
	at         func(size int) (path, error)
}

// allSeries are those of the table.
func allSeries(corpus string) ([]series, error) {
	mesh, err := foreign(corpus)
	if err != nil {
		return nil, err
	}
	own, err := native()
	if err != nil {
		return nil, err
	}
	var out []series
	add := func(name, unit string, sizes []int, at func(int) (setup, error)) {
		for _, kind := range []string{"fresh", "reused"} {
			out = append(out, series{name + " " + kind, unit, sizes, func(size int) (path, error) { return one(kind, size, at) }})
		}
	}
	sizes := map[string][]int{"environment variable": {1, 250, 500, 1000, 1500, 2000}, "container": {1, 5, 10, 20, 30, 40, 50}}
	for _, dialect := range []struct {
		name string
		of   setup
	}{{"Istio", mesh}, {"native", own}} {
		add(dialect.name, "environment variable", sizes["environment variable"], func(n int) (setup, error) { return dialect.of.variables(n), nil })
		add(dialect.name, "container", sizes["container"], func(n int) (setup, error) { return dialect.of.containers(n), nil })
	}
	add("native", "template", []int{1, 2, 3, 4, 5, 6, 7, 8}, func(n int) (setup, error) { return nativeOf(smallTemplates(n)) })
	return out, nil
}

// one is a path of its own.
func one(kind string, size int, at func(int) (setup, error)) (path, error) {
	s, err := at(size)
	if err != nil {
		return path{}, err
	}
	p := &paths{}
	name := fmt.Sprintf("%s at %d", kind, size)
	if kind == "fresh" {
		p.fresh(name, "", s, sampled)
	} else {
		p.reused(name, "", s, sampled)
	}
	return p.list[0], p.err
}

// smallTemplates is a configuration of n templates, each of which brings a container and a volume.
func smallTemplates(n int) map[string][]byte {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\ndefaultTemplates: [", config.APIVersion, config.Kind)
	for i := range n {
		fmt.Fprintf(&b, "%.*s small-%d", min(i, 1), ",", i)
	}
	b.WriteString("]\ntemplates:\n")
	for i := range n {
		fmt.Fprintf(&b, `- name: small-%d
  text: |
    spec:
      containers:
      - name: small-%d
        image: registry.example/small:{{ index .ObjectMeta.Labels "app" | default "1" | quote }}
        env: [{name: REGION, value: north}]
        volumeMounts: [{name: small-%d, mountPath: /small}]
      volumes:
      - {name: small-%d, emptyDir: {}}
`, i, i, i, i)
	}
	return map[string][]byte{"config.yaml": []byte(b.String())}
}

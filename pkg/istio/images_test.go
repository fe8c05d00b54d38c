// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1beta1"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// runOf is a run with settings, the type of image that the proxy's configuration names, and the
// annotations of the pod.
func runOf(s settings, imageType string, annotations map[string]string) *run {
	return &run{
		d: &dialect{settings: s}, head: &pod.Head{Metadata: pod.Metadata{Annotations: annotations}},
		proxy: &meshconfig.ProxyConfig{Image: &networking.ProxyImage{ImageType: imageType}},
	}
}

func TestImages(t *testing.T) {
	type notes = map[string]string
	s := func(tag any, variant string) settings {
		return readSettings(map[string]any{"global": map[string]any{"hub": "registry.example/mesh", "tag": tag, "variant": variant}})
	}
	for name, c := range map[string]struct {
		settings    settings
		imageType   string
		annotations notes
		proxy, init string // after the name
	}{
		"as tagged":                        {settings: s("1.20.0", ""), proxy: "1.20.0", init: "1.20.0"},
		"a whole number":                   {settings: s(9.0, ""), proxy: "9", init: "9"},
		"a fraction":                       {settings: s(1.21, ""), imageType: "debug", proxy: "1.21-debug", init: "1.21"},
		"no tag":                           {settings: s(nil, ""), proxy: "", init: ""},
		"the variant is for both":          {settings: s("1.20.0", "debug"), proxy: "1.20.0-debug", init: "1.20.0-debug"},
		"the configuration is the proxy's": {settings: s("1.20.0", "debug"), imageType: "distroless", proxy: "1.20.0-distroless", init: "1.20.0-debug"},
		"the annotation wins":              {settings: s("1.20.0", "debug"), imageType: "debug", annotations: notes{imageTypeKey: "distroless"}, proxy: "1.20.0-distroless", init: "1.20.0-distroless"},
		"an empty annotation wins as well": {settings: s("1.20.0", "debug"), imageType: "debug", annotations: notes{imageTypeKey: ""}, proxy: "1.20.0", init: "1.20.0"},
		"default is no type":               {settings: s("1.20.0", "default"), proxy: "1.20.0", init: "1.20.0"},
		"the tag's own type makes way":     {settings: s("1.20.0-debug", ""), imageType: "distroless", proxy: "1.20.0-distroless", init: "1.20.0-debug"},
		"the tag's own type again":         {settings: s("1.20.0-debug", "debug"), proxy: "1.20.0-debug", init: "1.20.0-debug"},
		"default takes the tag's own away": {settings: s("1.20.0-distroless", "default"), proxy: "1.20.0", init: "1.20.0"},
		"any other end of a tag stays":     {settings: s("1.20.0-rc.1", "debug"), proxy: "1.20.0-rc.1-debug", init: "1.20.0-rc.1-debug"},
	} {
		r := runOf(c.settings, c.imageType, c.annotations)
		if got, want := r.proxyImage(), "registry.example/mesh/proxyv2:"+c.proxy; got != want {
			t.Errorf("%s: the proxy's image is %s, want %s", name, got, want)
		}
		if got, want := r.initImage(), "registry.example/mesh/proxyv2:"+c.init; got != want {
			t.Errorf("%s: the init image is %s, want %s", name, got, want)
		}
	}
}

func TestImageNames(t *testing.T) {
	global := map[string]any{
		"hub": "registry.example", "tag": "1", "proxy": map[string]any{"image": "sidecar"}, "proxy_init": map[string]any{"image": "rules"},
	}
	r := runOf(readSettings(map[string]any{"global": global}), "", nil)
	r.proxy = nil
	if got := r.proxyImage() + " " + r.initImage(); got != "registry.example/sidecar:1 registry.example/rules:1" {
		t.Error(got)
	}
}

// FuzzImage: the hub and the name stay in front, a type that is named ends the tag, and a tag that
// was made for a type is made for it again.
func FuzzImage(f *testing.F) {
	f.Add("registry.example", "proxyv2", "1.20.0-debug", "distroless")
	f.Add("", "", "", "default")
	f.Fuzz(func(t *testing.T, hub, name, tag, imageType string) {
		s := settings{hub: hub, tag: tag}
		got := image(s, name, imageType)
		if name == "" {
			name = defaultImage
		}
		made, ok := strings.CutPrefix(got, hub+"/"+name+":")
		if !ok {
			t.Fatalf("%s does not begin with hub and name", got)
		}
		if strings.Count(made, ":") > strings.Count(tag+imageType, ":") {
			t.Errorf("%s has another colon", got)
		}
		if imageType != "" && imageType != defaultImageType && !strings.HasSuffix(made, "-"+imageType) {
			t.Errorf("%s is not of the type %s", got, imageType)
		}
		if imageType == "debug" || imageType == "distroless" {
			if again := image(settings{hub: hub, tag: made}, name, imageType); again != got {
				t.Errorf("once %s, twice %s", got, again)
			}
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package istio

import "strings"

const (
	defaultImage     = "proxyv2"
	defaultImageType = "default" // the image as it is tagged
)

// proxyImage is the proxy's image: of the type that the pod names, else the proxy's configuration,
// else the values.
func (r *run) proxyImage() string {
	s := r.d.settings
	return image(s, s.image, r.imageType(r.proxy.GetImage().GetImageType()))
}

// initImage is the image of the init containers, on which the proxy's configuration has no say.
func (r *run) initImage() string {
	s := r.d.settings
	return image(s, s.initImage, r.imageType(""))
}

func (r *run) imageType(configured string) string {
	if t, ok := r.annotation(imageTypeKey); ok {
		return t
	}
	if configured != "" {
		return configured
	}
	return r.d.settings.variant
}

// image is the name under the hub, with the tag of the type; the type that the tag names already
// makes way for it.
func image(s settings, name, imageType string) string {
	if name == "" {
		name = defaultImage
	}
	tag := s.tag
	if imageType != "" {
		for _, t := range []string{"-distroless", "-debug"} {
			if cut, ok := strings.CutSuffix(tag, t); ok {
				tag = cut
				break
			}
		}
		if imageType != defaultImageType {
			tag += "-" + imageType
		}
	}
	return s.hub + "/" + name + ":" + tag
}

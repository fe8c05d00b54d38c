// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validate finds what the API server would refuse, and what it would take in silence although it
// cannot work.
func (v Values) validate() field.ErrorList {
	var errs field.ErrorList
	at := func(name string) *field.Path { return field.NewPath(name) }
	for _, check := range []struct {
		name, value string
		valid       func(string) []string
	}{
		// A revision stands in a label and in the name of a Service.
		{"revision", v.Revision, validation.IsDNS1123Label},
		{"name", v.Name, validation.IsDNS1123Subdomain},
		{"namespace", v.Namespace, validation.IsDNS1123Label},
		{"service", v.Service, validation.IsDNS1035Label},
	} {
		if check.value == "" {
			continue
		}
		for _, fault := range check.valid(check.value) {
			errs = append(errs, field.Invalid(at(check.name), check.value, fault))
		}
	}
	errs = append(errs, v.validateAddress(at)...)
	errs = append(errs, oneOf(at("reinvocationPolicy"), v.ReinvocationPolicy,
		admissionregistrationv1.IfNeededReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)...)
	errs = append(errs, oneOf(at("failurePolicy"), v.FailurePolicy, admissionregistrationv1.Fail, admissionregistrationv1.Ignore)...)
	errs = append(errs, oneOf(at("sideEffects"), v.SideEffects,
		admissionregistrationv1.SideEffectClassNoneOnDryRun, admissionregistrationv1.SideEffectClassNone)...)
	errs = append(errs, metav1validation.ValidateLabels(v.Labels, at("labels"))...)
	errs = append(errs, validateEntries(at("entries"), v.Entries)...)
	if v.TimeoutSeconds < 0 || v.TimeoutSeconds > 30 {
		errs = append(errs, field.Invalid(at("timeoutSeconds"), v.TimeoutSeconds, "must be between 1 and 30"))
	}
	if len(v.CABundle) > 0 {
		errs = append(errs, validateBundle(at("caBundle"), v.CABundle)...)
	}
	return errs
}

func validateEntries(at *field.Path, entries []Entry) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, e := range entries {
		at := at.Index(i)
		errs = append(errs, validation.IsFullyQualifiedName(at.Child("name"), e.Name)...)
		if seen[e.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), e.Name))
		}
		seen[e.Name] = true
		valid := metav1validation.LabelSelectorValidationOptions{}
		errs = append(errs, metav1validation.ValidateLabelSelector(&e.NamespaceSelector, valid, at.Child("namespaceSelector"))...)
		errs = append(errs, metav1validation.ValidateLabelSelector(&e.ObjectSelector, valid, at.Child("objectSelector"))...)
	}
	return errs
}

func oneOf[T ~string](at *field.Path, value string, valid ...T) field.ErrorList {
	if value == "" {
		return nil
	}
	for _, v := range valid {
		if value == string(v) {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(at, T(value), valid)}
}

func (v Values) validateAddress(at func(string) *field.Path) field.ErrorList {
	var errs field.ErrorList
	if v.InjectionURL != "" {
		for _, knob := range []struct {
			name string
			set  bool
		}{{"service", v.Service != ""}, {"port", v.Port != 0}, {"injectionPath", v.InjectionPath != ""}} {
			if knob.set {
				errs = append(errs, field.Forbidden(at(knob.name), "injectionURL names the whole address; set one or the other"))
			}
		}
		return append(errs, validateURL(at("injectionURL"), v.InjectionURL)...)
	}
	if v.Port < 0 || v.Port > 65535 {
		errs = append(errs, field.Invalid(at("port"), v.Port, "must be between 1 and 65535"))
	}
	if v.InjectionPath != "" {
		errs = append(errs, validatePath(at("injectionPath"), v.InjectionPath)...)
	}
	return errs
}

func validateURL(at *field.Path, address string) field.ErrorList {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, address, "is no URL; want https://host[:port]/path")}
	case u.Scheme != "https" || u.Host == "":
		return field.ErrorList{field.Invalid(at, address, "want https://host[:port]/path")}
	case u.User != nil:
		return field.ErrorList{field.Invalid(at, u.Redacted(), "must hold no user")}
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return field.ErrorList{field.Invalid(at, address, "must hold no query and no fragment")}
	}
	return nil
}

// validatePath takes a trailing slash, as the API server does; our own server does too, below its
// path.
func validatePath(at *field.Path, path string) field.ErrorList {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return field.ErrorList{field.Invalid(at, path, "must begin with a slash")}
	}
	var errs field.ErrorList
	for segment := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		for _, fault := range validation.IsDNS1123Subdomain(segment) {
			errs = append(errs, field.Invalid(at, path, "segment "+segment+": "+fault))
		}
	}
	return errs
}

// validateBundle wants certificates and nothing else: the API server takes any bytes, and whoever
// may read a webhook configuration could read a key that got in. The value is not repeated.
func validateBundle(at *field.Path, bundle []byte) field.ErrorList {
	wrong := func(what string) field.ErrorList {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, what)}
	}
	block, rest := pem.Decode(bundle)
	if block == nil {
		return wrong("holds no PEM block")
	}
	for ; block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return wrong("holds a block of type " + block.Type + "; only CERTIFICATE may be in it")
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return wrong("holds a certificate that cannot be read")
		}
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return wrong("holds something after its last PEM block")
	}
	return nil
}

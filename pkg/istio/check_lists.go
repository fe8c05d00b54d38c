// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"net/netip"
	"strings"
)

// maxInterface is the longest name that the kernel gives a network interface.
const maxInterface = 15

const interfaceBounds = "names of at most 15 letters, digits, dots, dashes, underscores and +"

// orStar lets a star pass too, which stands for all.
func orStar(check func(string) error) func(string) error {
	return func(value string) error {
		if value == "*" {
			return nil
		}
		return check(value)
	}
}

// checkRanges trims nothing: what reads the list in the pod does not either.
func checkRanges(value string) error {
	if value == "" {
		return nil
	}
	for item := range strings.SplitSeq(value, ",") {
		if _, err := netip.ParsePrefix(item); err != nil {
			return fmt.Errorf("%s is no CIDR, such as 10.0.0.0/8", quoted(item))
		}
	}
	return nil
}

func checkPorts(value string) error {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	for item := range strings.SplitSeq(value, ",") {
		if err := checkPort(item); err != nil {
			return err
		}
	}
	return nil
}

func checkInterfaces(value string) error {
	for item := range strings.SplitSeq(value, ",") {
		name := strings.Trim(item, " ")
		if len(name) > maxInterface || strings.IndexFunc(name, notInInterface) >= 0 {
			return fmt.Errorf("%s is no network interface, want %s", quoted(name), interfaceBounds)
		}
	}
	return nil
}

func notInInterface(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("._-+", r)
}

// SPDX-License-Identifier: Apache-2.0

package cert

import (
	"bytes"
	"testing"
	"time"
)

// Over three years with a publisher that may be slow, a client that holds the bundle last published
// trusts what is served at every moment.
func TestYears(t *testing.T) {
	for _, lag := range []time.Duration{0, step, 3 * day, 80 * day} {
		t.Run(lag.String(), func(t *testing.T) {
			s := fresh(t)
			held, leaves, authorities := s.CABundle(), map[string]bool{}, map[string]bool{}
			var publishAt time.Time
			for now := start; now.Before(start.Add(3 * year)); now = now.Add(step) {
				if renew(t, s, now) && publishAt.IsZero() {
					publishAt = now.Add(lag)
				}
				if !publishAt.IsZero() && !now.Before(publishAt) {
					held, publishAt = s.CABundle(), time.Time{}
					s.Published(held)
				}
				if err := trusts(s, held, name, now); err != nil {
					t.Fatalf("after %s: %v", now.Sub(start), err)
				}
				served, _ := s.GetCertificate(nil)
				leaves[string(served.Certificate[0])] = true
				all := certificates(t, s.CABundle())
				for _, c := range all {
					authorities[string(c.Raw)] = true
				}
				if len(all) > 2 {
					t.Fatalf("%d CAs in the bundle", len(all))
				}
			}
			if len(leaves) < 50 || len(leaves) > 65 || len(authorities) < 4 || len(authorities) > 6 {
				t.Errorf("%d serving certificates by %d CAs", len(leaves), len(authorities))
			}
		})
	}
}

func TestRotationOrder(t *testing.T) {
	s := fresh(t)
	before := s.CABundle()
	s.Published(before)
	now := start.Add(245 * day)
	if !renew(t, s, now) {
		t.Fatal("a worn CA was kept")
	}
	both := s.CABundle()
	if n := len(certificates(t, both)); n != 2 || !bytes.HasSuffix(both, before) {
		t.Fatalf("%d CAs in the bundle, the new one first", n)
	}
	for _, told := range [][]byte{nil, before, []byte("junk"), bytes.Replace(both, []byte("CERTIFICATE"), []byte("PRIVATE KEY"), -1)} {
		s.Published(told)
		now = now.Add(time.Minute)
		if renew(t, s, now) || trusts(s, before, name, now) != nil {
			t.Fatalf("switched after %.20q was published", told)
		}
	}
	s.Published(append([]byte("\n\n"), both...))
	if trusts(s, before, name, now) != nil {
		t.Fatal("Published itself switched")
	}
	s.Published(before) // taken back by somebody
	if now = now.Add(time.Minute); renew(t, s, now) {
		t.Fatal("switched to a CA that the callers do not hold")
	}
	s.Published(both)
	now = now.Add(time.Minute)
	if !renew(t, s, now) || trusts(s, before, name, now) == nil || trusts(s, both, name, now) != nil {
		t.Fatal("did not switch to the new CA")
	}
	if renew(t, s, now.Add(time.Minute)) || !bytes.Equal(s.CABundle(), both) {
		t.Fatal("the old CA went before its last certificate")
	}
	for range 2 * 70 {
		now = now.Add(step)
		renew(t, s, now)
		if err := trusts(s, s.CABundle(), name, now); err != nil {
			t.Fatal(err)
		}
	}
	if after := s.CABundle(); !bytes.HasPrefix(both, after) || len(certificates(t, after)) != 1 {
		t.Error("the old CA stayed after its last certificate")
	}
}

// Where nobody publishes, the old CA serves to its very end, without a certificate every minute.
func TestNeverPublished(t *testing.T) {
	s := fresh(t)
	held, changes := s.CABundle(), 0
	end := start.Add(year)
	for now := start; now.Before(end); now = now.Add(step) {
		if renew(t, s, now) {
			changes++
		}
		if err := trusts(s, held, name, now); err != nil {
			t.Fatalf("after %s: %v", now.Sub(start), err)
		}
	}
	if changes > 25 {
		t.Errorf("%d changes in a year", changes)
	}
	if !renew(t, s, end) || trusts(s, s.CABundle(), name, end) != nil {
		t.Error("serves a certificate that nobody can trust")
	}
}

func TestClockJumps(t *testing.T) {
	tests := map[string]struct {
		reason string
		jumps  []time.Duration // from the start, one after the other
		same   bool            // the client that holds the first bundle trusts the end
	}{
		"an hour ahead":      {"nothing is worn", []time.Duration{time.Hour}, true},
		"an hour back":       {"within the skew", []time.Duration{-time.Hour}, true},
		"some hours back":    {"a serving certificate by the same CA", []time.Duration{-20 * time.Hour}, true},
		"a month asleep":     {"the serving certificate ended", []time.Duration{31 * day}, true},
		"ten years and back": {"the first CA comes back into use", []time.Duration{10 * year, time.Minute}, true},
		"ten years ago":      {"nothing is valid yet", []time.Duration{-10 * year}, false},
		"ago and back":       {"the first CA comes back into use", []time.Duration{-10 * year, time.Minute}, true},
		"two years asleep":   {"the CA ended", []time.Duration{2 * year}, false},
		"to and fro":         {"the first CA outlasts short visits", []time.Duration{10 * year, -10 * year, 10 * year, day}, true},
		"all over the place": {"the bundle stays bounded", []time.Duration{10 * year, 20 * year, 30 * year, 40 * year, 50 * year, 60 * year, 70 * year, 80 * year}, false},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			s := fresh(t)
			first := s.CABundle()
			s.Published(first)
			now := start
			for _, jump := range tt.jumps {
				now = start.Add(jump)
				renew(t, s, now)
				if err := trusts(s, s.CABundle(), name, now); err != nil {
					t.Fatalf("%s: at %s: %v", tt.reason, jump, err)
				}
				s.Published(s.CABundle())
				if n := len(certificates(t, s.CABundle())); n > maxAuthorities {
					t.Fatalf("%d CAs in the bundle", n)
				}
			}
			if err := trusts(s, first, name, now); (err == nil) != tt.same {
				t.Errorf("%s: a client with the first bundle: %v", tt.reason, err)
			}
			if renew(t, s, now) {
				t.Error("the same moment again changes something")
			}
		})
	}
}

// A clock that stays wrong is believed in the end: the CAs of another time go.
func TestWrongClockIsBelieved(t *testing.T) {
	s := fresh(t)
	first := s.CABundle()
	now := start.Add(10 * year)
	for range grace {
		renew(t, s, now)
		now = now.Add(time.Minute)
	}
	if !bytes.HasSuffix(s.CABundle(), first) {
		t.Fatal("the first CA went early")
	}
	if !renew(t, s, now) || len(certificates(t, s.CABundle())) != 1 {
		t.Fatal("the first CA stayed")
	}
}

// However the clock jumps, what is served is trusted under the bundle of the same moment, the bundle
// is bounded, and a clock that stands still brings rest.
func FuzzRotation(f *testing.F) {
	f.Add([]byte{0, 200, 1, 255, 2, 3, 128, 7})
	f.Add(bytes.Repeat([]byte{250, 1}, 40))
	f.Fuzz(func(t *testing.T, steps []byte) {
		s := fresh(t)
		now := start
		for i, b := range steps {
			if i == 200 {
				return
			}
			now = now.Add(time.Duration(int8(b)) * 10 * day)
			renew(t, s, now)
			if b%3 == 0 {
				s.Published(s.CABundle())
			}
			if err := trusts(s, s.CABundle(), name, now); err != nil {
				t.Fatalf("step %d, after %s: %v", i, now.Sub(start), err)
			}
			if n := len(certificates(t, s.CABundle())); n > maxAuthorities {
				t.Fatalf("step %d: %d CAs", i, n)
			}
		}
		for range grace + 3 {
			renew(t, s, now)
		}
		if renew(t, s, now) {
			t.Fatal("changes for ever at one moment")
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package reason

// maxWord bounds the words that Nearest compares: the time grows with the product of two lengths.
const maxWord = 320

// Nearest is the known word that somebody most probably meant by an unknown one, or empty when none
// is near. A third of the word may differ, and two letters always may.
func Nearest(word string, known []string) string {
	return NearestWithin(word, known, max(2, len(word)/3))
}

// NearestWithin is Nearest with a bound on the number of letters that differ. Of equally near words
// it takes the first.
func NearestWithin(word string, known []string, most int) string {
	best := ""
	for _, k := range known {
		if d := distance(word, k, most); d <= most {
			best, most = k, d-1
		}
	}
	return best
}

// distance counts the bytes to insert, remove, replace or swap with their neighbour between a and b.
// It stops early, with a number above most, when there are more than most of them.
func distance(a, b string, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if len(a) > maxWord || len(b) > maxWord || len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differ(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > most {
			return most + 1
		}
	}
	return row[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}

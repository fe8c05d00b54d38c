// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"errors"
	"strconv"
	"strings"
)

var (
	errPointer = errors.New("no valid JSON pointer")
	errIndex   = errors.New("no valid index of the list")
)

// split appends the tokens of a pointer to a list.
func split(tokens []string, pointer string) ([]string, error) {
	if pointer == "" {
		return tokens, nil
	}
	if pointer[0] != '/' {
		return tokens, errPointer
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token, ok := unescape(token)
		if !ok {
			return tokens, errPointer
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// unescape is false for a tilde that begins no escape.
func unescape(token string) (string, bool) {
	if strings.IndexByte(token, '~') < 0 {
		return token, true
	}
	if strings.Count(token, "~") != strings.Count(token, "~0")+strings.Count(token, "~1") {
		return "", false
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"), true
}

// index reads a list index below limit.
func index(token string, limit int) (int, error) {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= limit || strconv.Itoa(i) != token {
		return 0, errIndex
	}
	return i, nil
}

func appendIndex(path []byte, index int) []byte {
	return strconv.AppendInt(append(path, '/'), int64(index), 10)
}

func appendToken(path []byte, token string) []byte {
	path = append(path, '/')
	for i := range len(token) {
		switch token[i] {
		case '~':
			path = append(path, "~0"...)
		case '/':
			path = append(path, "~1"...)
		default:
			path = append(path, token[i])
		}
	}
	return path
}

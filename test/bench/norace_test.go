// SPDX-License-Identifier: Apache-2.0

//go:build !race

package bench

const raced = false

package main

import "strings"

// maxDiffWords bounds the words of each side that are compared: the table has
// their product as its size.
const maxDiffWords = 400

// wordDiff shows how b differs from a, word by word: [-only in a-] {+only in
// b+}. It is empty for equal texts and for ones that are too long.
func wordDiff(a, b string) string {
	x, y := strings.Fields(a), strings.Fields(b)
	if a == b || len(x) > maxDiffWords || len(y) > maxDiffWords {
		return ""
	}
	// common[i][j] is the length of the longest common subsequence of x[i:], y[j:].
	common := make([][]int, len(x)+1)
	for i := range common {
		common[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	var gone, come []string
	flush := func() {
		if len(gone) > 0 {
			out = append(out, "[-"+strings.Join(gone, " ")+"-]")
		}
		if len(come) > 0 {
			out = append(out, "{+"+strings.Join(come, " ")+"+}")
		}
		gone, come = nil, nil
	}
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			flush()
			out = append(out, x[i])
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			gone = append(gone, x[i])
			i++
		default:
			come = append(come, y[j])
			j++
		}
	}
	flush()
	return strings.Join(out, " ")
}

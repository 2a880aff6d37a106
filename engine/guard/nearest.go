package guard

import "unicode/utf8"

// nearest returns the name with the smallest edit distance to s, or "" when
// none is near: at most 1 for short names, a third of the length for others.
func nearest(s string, names []string) string {
	best, limit := "", max(1, utf8.RuneCountInString(s)/3)
	for _, n := range names {
		if d := distance(s, n); d <= limit {
			best, limit = n, d-1
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of
// neighbours.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return 64
	}
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range y {
		d[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, d[i][j]+unequal(x[i], y[j]))
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

func unequal(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}

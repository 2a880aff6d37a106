package spec

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean returns a hint with the nearest of the allowed words, or the list
// of them when none is near.
func didYouMean(word string, allowed []string) string {
	if near := nearest(word, allowed); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(allowed) == 0 {
		return ""
	}
	return "allowed: " + join(allowed, 24)
}

// nearest returns the allowed word that differs least from word, "" when every
// one differs by more than a third of its length.
func nearest(word string, allowed []string) string {
	if len(word) > 64 {
		return ""
	}
	best, bestDist := "", 1<<30
	for _, a := range slices.Sorted(slices.Values(allowed)) {
		d := distance(strings.ToLower(word), strings.ToLower(a))
		if d < bestDist {
			best, bestDist = a, d
		}
	}
	if bestDist > max(1, (max(len(word), len(best))+1)/3) {
		return ""
	}
	return best
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of two neighbours count one each.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, row
	}
	return prev[len(b)]
}

// join lists words for a sentence: a, b or c.
func join(words []string, limit int) string {
	if len(words) > limit {
		return strings.Join(words[:limit], ", ") + fmt.Sprintf(" and %d more", len(words)-limit)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// clip shortens what is repeated from a file, and keeps a message on one line.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

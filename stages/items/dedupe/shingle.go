package dedupe

import (
	"slices"
)

// gram is the length of a shingle in characters.
const gram = 5

// Shingles returns the sorted set of the hashes of all runs of five characters
// of a normalised text. A shorter text is one shingle; an empty one has none.
// The hashes have 64 bits: two shingles of one pair of texts collide with a
// probability below 1e-9 up to 100,000 characters.
func Shingles(normalised string) []uint64 {
	var window [gram]rune
	n := 0
	out := make([]uint64, 0, len(normalised))
	for _, r := range normalised {
		copy(window[:], window[1:])
		window[gram-1] = r
		if n++; n >= gram {
			out = append(out, hashRunes(window[:]))
		}
	}
	if n > 0 && n < gram {
		out = append(out, hashRunes(window[gram-n:]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func hashRunes(runes []rune) uint64 {
	h := uint64(len(runes))
	for _, r := range runes {
		h = mix(h ^ uint64(r)*0x9e3779b97f4a7c15)
	}
	return h
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Jaccard returns the size of the intersection by that of the union of two
// sorted sets, in [0,1]; 1 for two empty sets.
func Jaccard(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common, i, j = common+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

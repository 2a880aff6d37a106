package dedupe

import (
	"fmt"
	"math"

	"github.com/cupel-dev/cupel/engine/step"
)

// bins is the length of a MinHash signature.
const bins = 128

// Bands are the parameters of LSH for one threshold.
type Bands struct {
	Threshold float64
	Count     int // bands
	Rows      int // values of a band
}

// BandsFor returns the most selective bands that miss a pair at the threshold
// with a probability below 0.1 %: (1 - t^rows)^count.
func BandsFor(threshold float64) (Bands, error) {
	if !(threshold >= 0.5 && threshold <= 1) {
		return Bands{}, step.WithHint(fmt.Errorf("near-duplicates: the threshold %v is not from 0.5 to 1", threshold),
			"0.85 is usual")
	}
	best := Bands{threshold, bins, 1}
	for rows := 1; rows <= 16; rows++ {
		b := Bands{threshold, bins / rows, rows}
		if b.Miss(threshold) > 0.001 {
			break
		}
		best = b
	}
	return best, nil
}

// Miss is the probability that a pair with this Jaccard index shares no band.
func (b Bands) Miss(jaccard float64) float64 {
	return math.Pow(1-math.Pow(jaccard, float64(b.Rows)), float64(b.Count))
}

// Signature fills dst, of b.Count values, with the band hashes of a set.
//
// One permutation hashing (Li, Owen, Zhang 2012): each shingle falls into one bin
// and the smallest stays. An empty bin takes the value of another, drawn by a
// hash of its own number until that bin is full (optimal densification,
// Shrivastava 2017), so that short texts compare like long ones.
func (b Bands) Signature(shingles []uint64, dst []uint32) {
	var low [bins]uint64
	var full [bins]bool
	for _, s := range shingles {
		h := mix(s)
		i := h % bins
		if v := h / bins; !full[i] || v < low[i] {
			low[i], full[i] = v, true
		}
	}
	if len(shingles) == 0 {
		full[0] = true // texts without characters are alike
	}
	for band := range b.Count {
		h := mix(uint64(band))
		for row := range b.Rows {
			bin := uint64(band*b.Rows + row)
			for try := uint64(1); !full[bin]; try++ {
				bin = mix(uint64(band*b.Rows+row)<<20|try) % bins
			}
			h = mix(h ^ low[bin] ^ bin<<57)
		}
		dst[band] = uint32(h >> 32)
	}
}

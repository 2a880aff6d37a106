package energy

import "fmt"

// Band says how far the starts of two arms may lie apart.
type Band struct{ StartC float64 }

// Comparable says why the energies of two arms must not be held against each other.
func Comparable(a, b *Cell, _ Band) (why []string) {
	for i := range min(len(a.Bases), len(b.Bases)) {
		if a.Bases[i].Digest != b.Bases[i].Digest {
			why = append(why, fmt.Sprintf("%s was read from other counters on the two sides", a.Bases[i].Base))
		}
	}
	if x, y := a.PowerCapShare.Value, b.PowerCapShare.Value; x != nil && y != nil && (*x-*y > 0.05 || *y-*x > 0.05) {
		why = append(why, fmt.Sprintf("the power cap held %.1f %% of one side's time and %.1f %% of the other's", 100**x, 100**y))
	}
	return why
}

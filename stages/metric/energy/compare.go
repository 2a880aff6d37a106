package energy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
)

// Band says how far two arms may be apart.
type Band struct {
	StartC float64 // °C at the start, 0 = [DefaultStartC]
}

// DefaultStartC is by how many °C the starts of two arms may differ.
const DefaultStartC = 5.0

// capMost is by how much the shares of power-capped time may differ: 5 points.
const capMost = 0.05

// Comparable says in sentences why the energies of two arms must not be compared;
// none = they may. What is known of neither is no reason.
func Comparable(a, b *Cell, o Band) (why []string) {
	if a == nil || b == nil {
		return []string{"one of the two has no energy"}
	}
	for i := range a.Bases {
		x := &a.Bases[i]
		k := slices.IndexFunc(b.Bases, func(y Of) bool { return y.Base == x.Base })
		if k >= 0 {
			why = append(why, otherMeans(x.Base, x.Digest, b.Bases[k].Digest)...)
		}
	}
	band := o.StartC
	if band == 0 {
		band = DefaultStartC
	}
	for _, s := range []string{
		apart("the share of time at the power cap", a.PowerCapShare, b.PowerCapShare, capMost, ""),
		apart("the temperature at the start", a.StartC, b.StartC, band, unitC),
		apart("the power limit", a.PowerLimitW, b.PowerLimitW, 0, unitW),
	} {
		if s != "" {
			why = append(why, s)
		}
	}
	return why
}

// PowerComparable says why asiai's power_watts, and what is derived from it, must not
// be compared: it is of the GPUs, whatever the bases that were asked for.
func PowerComparable(a, b *Asiai) []string {
	if a.PowerBase != b.PowerBase {
		return []string{fmt.Sprintf("power_watts is of %s on one side and of %s on the other", named(a.PowerBase), named(b.PowerBase))}
	}
	return otherMeans("power_watts of "+named(a.PowerBase), a.PowerDigest, b.PowerDigest)
}

// TurnsComparable says likewise of asiai's other numbers, which are of a base.
func TurnsComparable(a, b *Cell) []string {
	x, y := a.Asiai.Base, b.Asiai.Base
	if x != y {
		return []string{fmt.Sprintf("asiai's numbers are of %s on one side and of %s on the other", named(x), named(y))}
	}
	return otherMeans(named(x), a.digestOf(x), b.digestOf(x))
}

func (c *Cell) digestOf(base string) string {
	for i := range c.Bases {
		if c.Bases[i].Base == base {
			return c.Bases[i].Digest
		}
	}
	return ""
}

// otherMeans says that two digests are not of one set of domains and sources. None is
// like no other: nothing was read, or not alike in each trial.
func otherMeans(what, a, b string) []string {
	switch {
	case a == "" && b == "":
		return []string{what + " was not measured alike in the trials of either"}
	case a == "" || b == "":
		return []string{what + " was not measured alike in the trials of one of them"}
	case a != b:
		return []string{what + " was read from other domains or by other means"}
	}
	return nil
}

func named(base string) string { return cmp.Or(base, "nothing that is known") }

// apart says that two values are further apart than they may be, "" = they are not.
func apart(what string, a, b metric.Value, most float64, unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case a.Value == nil && b.Value == nil:
		return ""
	case a.Value == nil || b.Value == nil:
		return what + " is known of one of them only"
	case math.Abs(*a.Value-*b.Value) <= most*(1+1e-9):
		return ""
	case most == 0:
		return fmt.Sprintf("%s differs: %.4g and %.4g%s", what, *a.Value, *b.Value, unit)
	}
	return fmt.Sprintf("%s differs by more than %.4g%s: %.4g and %.4g", what, most, unit, *a.Value, *b.Value)
}

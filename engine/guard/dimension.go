package guard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// dimension says what a value is a quantity of: a product of factors to powers. No
// factors at all is a pure number.
type dimension struct {
	constant bool // it is of whatever dimension is needed
	powers   map[factor]int
}

// factor is an id, or a value that has none. The latter matter only beside an id:
// a joule for each token is not a joule for each request, though a rule divides by
// plain counts.
type factor struct {
	name string
	id   bool
}

var (
	aConstant = dimension{constant: true}
	pure      = dimension{}
)

// dimensionOf is that of a named value. The first name of a path is left out of the
// factor of a value without an id: it is the side, and sides are compared.
func dimensionOf(f *field) dimension {
	switch {
	case f.kind != number:
		return pure
	case f.id != "":
		return dimension{powers: map[factor]int{{f.id, true}: 1}}
	}
	return plainly(cmp.Or(afterFirst(f.path), f.path))
}

func afterFirst(path string) string {
	_, rest, _ := strings.Cut(path, ".")
	return rest
}

// plainly is a value without an id, named by what it is or by its text.
func plainly(name string) dimension { return dimension{powers: map[factor]int{{name, false}: 1}} }

// has reports whether an id is part of it.
func (d dimension) has() bool {
	for f := range d.powers {
		if f.id {
			return true
		}
	}
	return false
}

func (d dimension) equal(o dimension) bool { return maps.Equal(d.powers, o.powers) }

// times is d multiplied by o to the power of sign, 1 or -1.
func (d dimension) times(o dimension, sign int) dimension {
	if d.constant && o.constant {
		return aConstant
	}
	out := dimension{powers: maps.Clone(d.powers)}
	if out.powers == nil {
		out.powers = map[factor]int{}
	}
	for f, n := range o.powers {
		if out.powers[f] += sign * n; out.powers[f] == 0 {
			delete(out.powers, f)
		}
	}
	return out
}

// String writes it as a product: a * b^2 / c.
func (d dimension) String() string {
	if d.constant {
		return "a constant"
	}
	var over, under []string
	for _, f := range slices.SortedFunc(maps.Keys(d.powers), func(a, b factor) int { return cmp.Compare(a.name, b.name) }) {
		switch n := d.powers[f]; {
		case n > 0:
			over = append(over, power(f.name, n))
		default:
			under = append(under, " / "+power(f.name, -n))
		}
	}
	if len(over)+len(under) == 0 {
		return "a pure number"
	}
	s := cmp.Or(strings.Join(over, " * "), "1") + strings.Join(under, "")
	if !d.has() {
		s += " (no id)"
	}
	return s
}

func power(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s^%d", name, n)
}

package scrub

import "strings"

// openLeft reports whether a number may begin at i: not inside a word, a longer
// number, a path, a version or an identifier such as ORD-4111.
func openLeft(s string, i int) bool {
	prev, before := at(s, i-1), at(s, i-2)
	switch {
	case isAlpha(prev), isDigit(prev), prev == '_':
		return false
	case prev == '-', prev == '/', prev == '.':
		return !isWord(before)
	case prev == ',', prev == ':':
		return !isDigit(before)
	}
	return true
}

// openRight is openLeft for the end of a number.
func openRight(s string, i int) bool {
	next, after := at(s, i), at(s, i+1)
	switch {
	case isAlpha(next), isDigit(next), next == '_':
		return false
	case next == '-', next == '/':
		return !isAlpha(after) && !isDigit(after)
	case next == '.', next == ',', next == ':':
		return !isDigit(after)
	}
	return true
}

// eachNumber calls try with the start of every group of digits at which a number
// may begin; try returns where it ended, or 0.
func eachNumber(s string, try func(lo int) int) {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		if openLeft(s, i) {
			if hi := try(i); hi > i {
				i = hi - 1
				continue
			}
		}
		for isDigit(at(s, i+1)) {
			i++
		}
	}
}

// groups are groups of digits with separators between them.
type groups struct {
	s string
	g [maxGroups][2]int
	n int
}

const maxGroups = 12

// readGroups reads groups from lo, where a digit stands.
func readGroups(s string, lo int) groups {
	gs := groups{s: s}
	for i := lo; gs.n < maxGroups; {
		hi := i
		for isDigit(at(s, hi)) {
			hi++
		}
		gs.g[gs.n] = [2]int{i, hi}
		gs.n++
		if i = skipSeparator(s, hi); i == hi || !isDigit(at(s, i)) {
			break
		}
	}
	return gs
}

// skipSeparator moves over what may stand between two groups: one mark, with a
// space or a bracket at its side.
func skipSeparator(s string, i int) int {
	for range 3 {
		switch c := at(s, i); {
		case c == ' ', c == '-', c == '.', c == '/', c == '(', c == ')':
			i++
		case strings.HasPrefix(s[min(i, len(s)):], "\u00a0"):
			i += len("\u00a0")
		case strings.HasPrefix(s[min(i, len(s)):], "\u202f"):
			i += len("\u202f")
		default:
			return i
		}
	}
	return i
}

// first returns the first k groups.
func (gs *groups) first(k int) groups {
	out := *gs
	out.n = k
	return out
}

func (gs *groups) lo() int           { return gs.g[0][0] }
func (gs *groups) hi() int           { return gs.g[gs.n-1][1] }
func (gs *groups) len(i int) int     { return gs.g[i][1] - gs.g[i][0] }
func (gs *groups) text(i int) string { return gs.s[gs.g[i][0]:gs.g[i][1]] }

// sep returns what stands before group i; every kind of space is " ".
func (gs *groups) sep(i int) string {
	sep := gs.s[gs.g[i-1][1]:gs.g[i][0]]
	if sep == "\u00a0" || sep == "\u202f" {
		return " "
	}
	return sep
}

// oneSep returns the separator that all groups share, and whether there is one;
// "" for a single group.
func (gs *groups) oneSep() (string, bool) {
	sep := ""
	for i := 1; i < gs.n; i++ {
		if i > 1 && gs.sep(i) != sep {
			return "", false
		}
		sep = gs.sep(i)
	}
	return sep, true
}

func (gs *groups) digits() string { return digitsOnly(gs.s[gs.lo():gs.hi()]) }

func (gs *groups) count() int {
	n := 0
	for i := range gs.n {
		n += gs.len(i)
	}
	return n
}

// hasLens reports whether the groups have exactly these lengths.
func (gs *groups) hasLens(lens ...int) bool {
	if gs.n != len(lens) {
		return false
	}
	for i, n := range lens {
		if gs.len(i) != n {
			return false
		}
	}
	return true
}

// isDate reports whether the number begins like a date: 2024-01-15, 15.01.2024,
// 1/15/2024.
func (gs *groups) isDate() bool {
	if gs.n < 3 || gs.sep(1) != gs.sep(2) {
		return false
	}
	a, b, c := gs.len(0), gs.len(1), gs.len(2)
	return b <= 2 && (a == 4 && c <= 2 || a <= 2 && c == 4 && (gs.text(2)[:2] == "19" || gs.text(2)[:2] == "20"))
}

// matchShape compares s from lo with a shape: d a digit, A a capital letter, *
// either; a space is a separator that stands everywhere or nowhere, and always
// the same; anything else is itself. It returns the end and the characters
// without separators.
func matchShape(s string, lo int, shape string) (hi int, compact string, separated, ok bool) {
	var buf [32]byte
	out := buf[:0]
	i, sep := lo, byte(0)
	begun := false
	for j := range len(shape) {
		c := at(s, i)
		switch want := shape[j]; want {
		case 'd', 'A', '*':
			if !(isDigit(c) && want != 'A' || isUpper(c) && want != 'd') {
				return 0, "", false, false
			}
			out = append(out, c)
		case ' ':
			if !begun {
				begun = true
				if c == ' ' || c == '-' {
					sep = c
				}
			}
			if sep == 0 {
				continue // nothing stands here
			}
			if c != sep {
				return 0, "", false, false
			}
		default:
			if c != want {
				return 0, "", false, false
			}
		}
		i++
	}
	return i, string(out), sep != 0, true
}

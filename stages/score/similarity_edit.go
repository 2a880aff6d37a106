package score

// editRatio is 1 - d/m, where d is the Levenshtein distance in code points
// (insert, delete, replace: 1 each) and m the length of the longer text.
func editRatio(got, want string) float64 {
	a, b := []rune(got), []rune(want)
	most := max(len(a), len(b))
	if most == 0 {
		return 1
	}
	return 1 - float64(levenshtein(a, b))/float64(most)
}

// levenshtein is Myers' bit-parallel algorithm (1999) in Hyyrö's form for
// blocks of 64 rows (2003): 64 cells of the matrix in a dozen operations, so
// that two texts of 100 KB take a fraction of a second.
func levenshtein(a, b []rune) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return len(b)
	}
	blocks := (len(a) + 63) / 64
	at := map[rune][]uint64{} // code point -> rows where it stands
	for i, r := range a {
		if at[r] == nil {
			at[r] = make([]uint64, blocks)
		}
		at[r][i/64] |= 1 << (i % 64)
	}
	none := make([]uint64, blocks)
	up, down := make([]uint64, blocks), make([]uint64, blocks) // where a row is one more, one less than that above
	for i := range up {
		up[i] = ^uint64(0)
	}
	distance := len(a)
	last := uint64(1) << ((len(a) - 1) % 64)
	for _, r := range b {
		equal := at[r]
		if equal == nil {
			equal = none
		}
		carryPlus, carryMinus := uint64(1), uint64(0) // the row above the matrix grows by one a column
		for i := range blocks {
			var plus, minus uint64
			plus, minus, up[i], down[i] = column(equal[i], up[i], down[i], carryPlus, carryMinus)
			if i == blocks-1 {
				distance += int(boolean(plus&last != 0)) - int(boolean(minus&last != 0))
			}
			carryPlus, carryMinus = plus>>63, minus>>63
		}
	}
	return distance
}

// column moves one block of rows by one column. plus and minus say by which
// rows the distance grows and shrinks from the column before.
func column(equal, up, down, carryPlus, carryMinus uint64) (plus, minus, newUp, newDown uint64) {
	x := equal | down
	equal |= carryMinus
	diagonal := ((equal & up) + up) ^ up | equal
	plus = down | ^(diagonal | up)
	minus = up & diagonal
	p, m := plus<<1|carryPlus, minus<<1|carryMinus
	return plus, minus, m | ^(x | p), p & x
}

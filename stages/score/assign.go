package score

import "math"

// matching pairs each of n left elements with its own right one of m, along
// pairs for which fits is true, by augmenting paths. It returns false and a
// left element that is left over when that cannot be done.
func matching(n, m int, fits func(left, right int) bool) (left int, ok bool) {
	owner := make([]int, m)
	for i := range owner {
		owner[i] = -1
	}
	var place func(left int, tried []bool) bool
	place = func(left int, tried []bool) bool {
		for right := range m {
			if tried[right] || !fits(left, right) {
				continue
			}
			tried[right] = true
			if owner[right] < 0 || place(owner[right], tried) {
				owner[right] = left
				return true
			}
		}
		return false
	}
	for left := range n {
		if !place(left, make([]bool, m)) {
			return left, false
		}
	}
	return 0, true
}

// assign pairs rows with columns so that the sum of gain is largest (the
// Hungarian method with potentials, O(rows^2 columns)). It returns the column
// of each row, -1 for a row without one; ties go to the smaller column.
func assign(gain [][]float64, columns int) []int {
	rows := len(gain)
	size := max(rows, columns) // square: missing rows and columns gain 0
	cost := func(i, j int) float64 {
		if i < rows && j < columns {
			return -gain[i][j]
		}
		return 0
	}
	u, v := make([]float64, size+1), make([]float64, size+1)
	match := make([]int, size+1) // column (1-based) -> row (1-based)
	for i := 1; i <= size; i++ {
		augment(i, size, cost, u, v, match)
	}
	out := make([]int, rows)
	for i := range out {
		out[i] = -1
	}
	for j := 1; j <= columns; j++ {
		if i := match[j]; i >= 1 && i <= rows {
			out[i-1] = j - 1
		}
	}
	return out
}

func augment(row, size int, cost func(i, j int) float64, u, v []float64, match []int) {
	match[0] = row
	least, way, used := make([]float64, size+1), make([]int, size+1), make([]bool, size+1)
	for j := range least {
		least[j] = math.Inf(1)
	}
	j0 := 0
	for match[j0] != 0 {
		used[j0] = true
		i0, next, delta := match[j0], 0, math.Inf(1)
		for j := 1; j <= size; j++ {
			if used[j] {
				continue
			}
			if c := cost(i0-1, j-1) - u[i0] - v[j]; c < least[j] {
				least[j], way[j] = c, j0
			}
			if least[j] < delta {
				delta, next = least[j], j
			}
		}
		for j := 0; j <= size; j++ {
			if used[j] {
				u[match[j]] += delta
				v[j] -= delta
			} else {
				least[j] -= delta
			}
		}
		j0 = next
	}
	for j0 != 0 {
		match[j0] = match[way[j0]]
		j0 = way[j0]
	}
}

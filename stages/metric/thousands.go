package metric

import "fmt"

// Thousands writes a count for people: 1963 as 1,963.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

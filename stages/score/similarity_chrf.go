package score

import (
	"strings"
	"unicode"
)

// chrF (Popović, WMT 2015) with the parameters of chrF2, which are sacreBLEU's
// defaults: n-grams of 1 to 6 characters, recall counts twice as much.
const (
	chrfOrder = 6
	chrfBeta  = 2
)

// chrF is (1+b²)PR/(b²P+R), where P and R are the shares of character n-grams
// that the other text has too, averaged over the orders that both texts are
// long enough for. White space does not count.
func chrF(got, want string) float64 {
	a, b := unspaced(got), unspaced(want)
	var precision, recall float64
	orders := min(chrfOrder, len(a), len(b))
	for n := 1; n <= orders; n++ {
		shared := sharedGrams(a, b, n)
		precision += float64(shared) / float64(len(a)-n+1)
		recall += float64(shared) / float64(len(b)-n+1)
	}
	if precision == 0 || recall == 0 {
		return 0
	}
	precision, recall = precision/float64(orders), recall/float64(orders)
	const b2 = chrfBeta * chrfBeta
	return min(1, (1+b2)*precision*recall/(b2*precision+recall))
}

// sharedGrams counts the n-grams of a that b has, each at most as often.
func sharedGrams(a, b []rune, n int) int {
	left := make(map[[chrfOrder]rune]int, len(b))
	each(b, n, func(g [chrfOrder]rune) { left[g]++ })
	shared := 0
	each(a, n, func(g [chrfOrder]rune) {
		if left[g] > 0 {
			left[g]--
			shared++
		}
	})
	return shared
}

func each(r []rune, n int, f func([chrfOrder]rune)) {
	for i := range len(r) - n + 1 {
		var g [chrfOrder]rune
		copy(g[:], r[i:i+n])
		f(g)
	}
}

func unspaced(s string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
}

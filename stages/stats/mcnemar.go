package stats

// McNemar holds the tests of a paired 0/1 table with b items that only A
// passes and c items that only B passes.
type McNemar struct {
	Discordant int `json:"discordant"`
	// Exact is the two-sided binomial test; MidP gives the observed table half
	// its weight (M. Fagerland, S. Lydersen, P. Laake, 2013).
	Exact float64 `json:"exact"`
	MidP  float64 `json:"mid_p"`
	// Worse is one-sided: P(X >= b), small when B is worse than A.
	Worse float64 `json:"worse"`
	// ChiSquare and Edwards (with continuity correction) are nil without
	// discordant items.
	ChiSquare *ChiSquare `json:"chi2,omitempty"`
	Edwards   *ChiSquare `json:"edwards,omitempty"`
}

// ChiSquare is a statistic with one degree of freedom and its p-value.
type ChiSquare struct {
	Statistic float64 `json:"statistic"`
	P         float64 `json:"p"`
}

// McNemarTest needs b, c >= 0.
func McNemarTest(b, c int) McNemar {
	m, k := b+c, min(b, c)
	if m == 0 {
		return McNemar{Exact: 1, MidP: 1, Worse: 1}
	}
	lower, point := halfTail(k, m), halfPoint(k, m)
	t := McNemar{
		Discordant: m,
		Exact:      min(1, 2*lower),
		MidP:       2*lower - point,
		Worse:      halfTail(m-b, m),
	}
	if b == c {
		t.MidP = 1 - float64(point/2)
	}
	diff := float64(max(b, c) - k)
	t.ChiSquare = chiSquare(diff, m)
	t.Edwards = chiSquare(diff-1, m)
	return t
}

func chiSquare(diff float64, m int) *ChiSquare {
	z := diff * diff / float64(m)
	return &ChiSquare{Statistic: z, P: chiSquareTail(z)}
}

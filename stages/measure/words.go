package measure

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// codeWords are short, common and unlike one another. No model's tokenizer was
// looked at for the protocol; token counts are the engine's own.
var codeWords = strings.Fields(`
alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa
quebec romeo sierra tango uniform victor whiskey xray yankee zulu amber basil cedar denim ember flint
garnet hazel indigo jasper kelp lilac maple nickel olive pearl quartz raven saffron tulip umber velvet
walnut yarrow zinc basalt copper dune fern granite harbor ivory jade lotus mango nectar onyx plum`)

// draw returns n words; none comes twice before all have come.
func draw(rng *rand.Rand, n int) []string {
	out := make([]string, 0, n)
	for len(out) < n {
		deck := slices.Clone(codeWords)
		rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		out = append(out, deck[:min(len(deck), n-len(out))]...)
	}
	return out
}

// filler returns n bytes of text: lines of ten words that a model can neither
// continue nor answer.
func filler(n int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(strings.Join(draw(rng, 10), " "))
		b.WriteString(".\n")
	}
	return b.String()[:n]
}

package prompts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// wordsBuilder is cupel/words-v1: filler of code words, then what is asked for.
type wordsBuilder struct {
	id     string
	cell   Cell
	key    string // of the cell: no two cells or trials have the same
	parts  []part
	plan   plan
	prefix string // that every prompt of the cell begins with
	fixed  string // the filler of every prompt when all of it is shared, "" = each has its own
	nonce  bool   // the template alone does not make prompts part
	marker int    // where the markers of the cell begin
	marks  bool   // the text names its marker
}

func newWords(c Cell, id string) (*wordsBuilder, error) {
	if err := c.checkWords(); err != nil {
		return nil, err
	}
	b := &wordsBuilder{id: id, cell: c}
	if b.cell.CharsPerToken == 0 {
		b.cell.CharsPerToken = NominalCharsPerToken
	}
	var err error
	if b.parts, err = c.template(); err != nil {
		return nil, err
	}
	if b.plan, err = c.plan(); err != nil {
		return nil, err
	}
	if n := b.plan.least(); c.Prompt.SharedTokens > 0 && n <= c.Prompt.SharedTokens {
		return nil, step.WithHint(fmt.Errorf("a prompt of %d tokens cannot begin with a shared prefix of %d", n, c.Prompt.SharedTokens), "make the prompts longer, or prompt.sharedTokens smaller")
	}
	b.key = key(id, c.Seed, c.Point, c.Concurrency, c.Trial)
	b.marker = random(key(b.key, "marker")).IntN(10000)
	b.marks = slices.ContainsFunc(b.parts, func(p part) bool { return p.name == "canary" })
	b.share()
	return b, nil
}

func (c *Cell) checkWords() error {
	switch {
	case c.Prompt.Cache != "" && c.Prompt.Cache != "unique" && c.Prompt.Cache != "shared":
		return step.WithHint(fmt.Errorf("prompt cache %q is not known", c.Prompt.Cache), "use unique or shared")
	case c.CharsPerToken != 0 && !(c.CharsPerToken > 0 && c.CharsPerToken <= maxCharsPerToken):
		return fmt.Errorf("%v characters a token cannot be: more than 0 and at most %d are", c.CharsPerToken, maxCharsPerToken)
	case c.Prompt.Tokens < 0 || c.Prompt.SharedTokens < 0 || c.Output.Words < 0:
		return fmt.Errorf("a prompt of %d tokens, %d of them shared, that asks for %d words cannot be built", c.Prompt.Tokens, c.Prompt.SharedTokens, c.Output.Words)
	}
	return nil
}

// share builds what prompts have in common. A shared cache is shared by all
// cells and trials of a workload: neither has a part in its text. Otherwise a prefix belongs to its
// cell and trial, as it would be warm from the one before.
func (b *wordsBuilder) share() {
	shared, tokens := b.cell.Prompt.Cache == "shared", b.cell.Prompt.SharedTokens
	switch {
	case shared && tokens > 0:
		b.prefix = string(appendFiller(nil, random(key(b.id, b.cell.Seed, b.cell.Shared, "shared")), b.chars(tokens)))
	case shared:
		longest := slices.Max(append([]int{b.plan.fixed}, b.plan.drawn...))
		b.fixed = string(appendFiller(nil, random(key(b.id, b.cell.Seed, b.cell.Shared, "shared")), b.chars(longest)))
		return
	case tokens > 0:
		rng := random(key(b.key, "prefix"))
		head := nonce(rng)
		b.prefix = string(appendFiller([]byte(head), rng, b.chars(tokens)-len(head)))
	}
	b.nonce = b.prefix != "" || !b.cell.partsEarly(b.parts)
}

func (b *wordsBuilder) chars(tokens int) int {
	return int(math.Round(float64(tokens) * b.cell.CharsPerToken))
}

func (b *wordsBuilder) ID() string { return b.id }

func (b *wordsBuilder) Build(index int) (Prompt, error) {
	if err := indexed(index); err != nil {
		return Prompt{}, err
	}
	rng := random(key(b.key, index))
	p := Prompt{Builder: b.id, AskedTokens: b.plan.at(index)}
	v := values{marker: b.markerOf(index), index: index, words: b.cell.Output.Words}
	if b.marks {
		p.Marker = v.marker
	}
	if v.words > 0 {
		p.Words = draw(rng, v.words)
		v.list = strings.Join(p.Words, " ")
	}
	budget := b.chars(p.AskedTokens)
	used, _ := v.measure(b.parts)
	head := b.blocks([]byte(b.prefix), index, budget-used-nonceSize)
	if b.nonce {
		head = append(head, nonce(rng)...)
	}
	p.Text = b.text(rng, string(head), &v, budget)
	p.Length = countWords(p.Text)
	return p, nil
}

// text puts the values into the template and fills up to the budget in
// characters.
func (b *wordsBuilder) text(rng *rand.Rand, head string, v *values, budget int) string {
	used, fillers := v.measure(b.parts)
	each := 0
	if fillers > 0 {
		each = max(0, (budget-len(head)-used)/fillers)
	}
	out := make([]byte, 0, len(head)+2*used+(each+len(lines[0])+64)*fillers)
	out = append(out, head...)
	for _, p := range b.parts {
		switch {
		case p.name != "filler":
			out = append(out, v.of(p)...)
		case b.fixed != "":
			out = append(out, cut(b.fixed, each)...)
		default:
			out = appendFiller(out, rng, each)
		}
	}
	return string(out)
}

// markerOf names a request: REQ- and at least four digits, different for every
// index of a cell. 7919 is prime to 10,000, so the four digits are a
// permutation, and neighbours do not look alike.
func (b *wordsBuilder) markerOf(index int) string {
	n := (index%10000*7919 + b.marker) % 10000
	return fmt.Sprintf("REQ-%04d", index/10000*10000+n)
}

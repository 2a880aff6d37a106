package score

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/cupel-dev/cupel/stages/items"
)

type numericParams struct {
	Which     string   `json:"which" doc:"which number of the text is the answer: last, first, or only (more than one number is wrong)"`
	Tol       quantity `json:"tol" doc:"absolute tolerance; default: the item's tol, else 0"`
	RTol      quantity `json:"rtol" doc:"relative tolerance, a share of the expected number; the larger of the two counts"`
	Percent   string   `json:"percent" doc:"what 20% is: number (20), fraction (0.2), or refuse (no number)"`
	Fractions bool     `json:"fractions" doc:"3/4, 1 1/2, ½ and \\frac{3}{4} are numbers"`
}

var numeric = define("numeric", 1,
	`1 when a number of the text equals "answer" within the tolerance; compared as exact decimals`,
	numericParams{Which: "last", Percent: "number"}, buildNumeric)

func buildNumeric(p numericParams, it *items.Item, _ *env) (Func, error) {
	if err := oneOf("which", p.Which, "last", "first", "only"); err != nil {
		return nil, err
	}
	if err := oneOf("percent", p.Percent, "number", "fraction", "refuse"); err != nil {
		return nil, err
	}
	g := grammar{p.Fractions, p.Percent}
	want, err := g.reference(it.Answer)
	if err != nil {
		return nil, err
	}
	tol, err := p.tolerance(it, want)
	if err != nil {
		return nil, err
	}
	return func(out Output) (float64, string, error) {
		got, why := p.pick(g.find(out.Text))
		if why != "" {
			return 0, why, nil
		}
		if got.value == nil {
			return 0, fmt.Sprintf("%s is out of range", clip(got.text)), nil
		}
		apart := new(big.Rat).Sub(got.value, want)
		if apart.Abs(apart).Cmp(tol) <= 0 {
			return 1, clip(got.text), nil
		}
		return 0, fmt.Sprintf("%s, want %s", clip(got.text), clip(decimalText(want))), nil
	}, nil
}

func (p numericParams) pick(found []number) (n number, why string) {
	switch {
	case len(found) == 0:
		return n, "no number in the answer"
	case p.Which == "only" && len(found) > 1:
		return n, fmt.Sprintf("%d numbers in the answer, want one", len(found))
	case p.Which == "first":
		return found[0], ""
	}
	return found[len(found)-1], ""
}

// reference reads the expected number by the grammar that reads answers.
func (g grammar) reference(answer json.RawMessage) (*big.Rat, error) {
	if answer == nil {
		return nil, fmt.Errorf(`the item has no "answer"`)
	}
	var text string
	if json.Unmarshal(answer, &text) == nil && answer[0] == '"' {
		found := g.find(text)
		if len(found) != 1 || found[0].value == nil {
			return nil, fmt.Errorf(`"answer" %s holds %d numbers, want one; write it as a JSON number`, clip(string(answer)), len(found))
		}
		return found[0].value, nil
	}
	if c := answer[0]; c != '-' && !isDigit(rune(c)) {
		return nil, fmt.Errorf(`"answer" is %s, want a number`, clip(string(answer)))
	}
	d, err := parseDecimal(string(answer))
	if err != nil {
		return nil, fmt.Errorf(`"answer": %w`, err)
	}
	return d.rat(), nil
}

// tolerance is the larger of the absolute and the relative one.
func (p numericParams) tolerance(it *items.Item, want *big.Rat) (*big.Rat, error) {
	if p.Tol == "" {
		p.Tol = quantity(it.Tol)
	}
	abs, err := p.Tol.parse("tol")
	if err != nil {
		return nil, err
	}
	rel, err := p.RTol.parse("rtol")
	if err != nil {
		return nil, err
	}
	rel.Mul(rel, new(big.Rat).Abs(want))
	if rel.Cmp(abs) > 0 {
		return rel, nil
	}
	return abs, nil
}

// quantity is a JSON number as written, "" when it is not given.
type quantity string

// UnmarshalJSON takes numbers only.
func (q *quantity) UnmarshalJSON(b []byte) error {
	if b[0] != '-' && !isDigit(rune(b[0])) {
		return fmt.Errorf("%s is not a number", b)
	}
	*q = quantity(b)
	return nil
}

// MarshalJSON writes 0 for what is not given.
func (q quantity) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(string(q), "0")), nil }

func (q quantity) parse(name string) (*big.Rat, error) {
	d, err := parseDecimal(cmp.Or(string(q), "0"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if d.neg {
		return nil, fmt.Errorf("%s: %s is negative", name, clip(string(q)))
	}
	return d.rat(), nil
}

// decimalText prints a number for a reason: exactly when it is a short
// decimal, as a fraction otherwise.
func decimalText(r *big.Rat) string {
	if places, exact := r.FloatPrec(); exact && places < 40 {
		return r.FloatString(places)
	}
	return r.RatString()
}

package score

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// scorable are items of every scorer that texts are thrown at.
func scorable(t testing.TB) []*items.Item {
	var out []*items.Item
	for _, c := range []struct{ scorer, fields string }{
		{`"exact"`, `"answer":["yes","1"]`},
		{withParams("exact", `"form":"nfkc","ignore_case":true,"ignore_punctuation":true,"ignore_articles":true,"collapse_space":true`), `"answer":"the Cat"`},
		{`"numeric"`, `"answer":1.5`},
		{withParams("numeric", `"fractions":true,"percent":"fraction","which":"only","rtol":0.1`), `"answer":-1.5`},
		{`"contains_any"`, `"answer":["a","1"]`},
		{`"choice"`, `"answer":"A"`},
		{`"regex"`, `"answer":"a.c"`},
		{`"required_facts"`, `"facts":["a","5","b c"]`},
		{withParams("json_schema", `"extract":true,"formats":true`), person},
		{withParams("json_equal", `"sets":true,"extra":true,"extract":true`), `"answer":{"a":[1,{"b":2}]}`},
		{withParams("tool_call", `"partial":true`), `"expect_tool":[{"name":"f","arguments":{"a":1}},{"name":"g"}]`},
		{withParams("tool_call", `"partial":true,"order":true`), `"expect_tool":[{"name":"f","arguments":{"a":1}},{"name":"f"}]`},
		{`"compat/numeric"`, `"answer":1.5`},
		{`"compat/required_facts"`, `"facts":["a","B"]`},
		{`"compat/json_schema"`, person},
	} {
		out = append(out, itemOf(t, c.scorer, c.fields))
	}
	return out
}

var snippet = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
	"yes", "The cat.", "1.5", "-1 1/2", "150%", "1e5", "1e999999", "\\frac{3}{2}", "½", "1,234", "٣", "{", "}", "[", "]",
	`{"a":[{"b":2},1]}`, `{"name":"x","age":3}`, `{"tool":"f","args":{"a":1}}`, "```json\n", "```", "\xff", "NaN", "×10^5", "a 5 b c",
}))

// Whatever a model writes, a scorer gives a value in [0,1] with a reason, the
// same one every time, and does not fail.
func TestScorersAreTotal(t *testing.T) {
	all := scorable(t)
	rapid.Check(t, func(rt *rapid.T) {
		out := Output{Text: strings.Join(rapid.SliceOfN(snippet, 0, 6).Draw(rt, "text"), rapid.SampledFrom([]string{"", " "}).Draw(rt, "sep"))}
		for range rapid.IntRange(0, 3).Draw(rt, "calls") {
			out.ToolCalls = append(out.ToolCalls, llm.ToolCall{Name: rapid.SampledFrom([]string{"f", "g", ""}).Draw(rt, "name"), Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a":1.0,"b":2}`, "[", `{"a":1,"a":1}`}).Draw(rt, "args")})
		}
		for _, it := range all {
			assertTotal(rt, it, out)
		}
	})
}

type fataler interface {
	Fatalf(string, ...any)
}

func assertTotal(t fataler, it *items.Item, out Output) {
	c, _ := NewCompiler(nil)
	f, err := c.Compile(it)
	if err != nil {
		t.Fatalf("%v", err)
	}
	s := f.Score(out)
	if !s.Scored || s.Reason == "" || !(s.Value >= 0 && s.Value <= 1) {
		t.Fatalf("%s %+v: %+v", it.Scorer[0].Name, out, s)
	}
	if again := f.Score(out); again != s {
		t.Fatalf("%s %+v: %+v, then %+v", it.Scorer[0].Name, out, s, again)
	}
}

// A decimal written in any of its forms is read as itself.
func TestNumericRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		places := rapid.IntRange(0, 12).Draw(t, "places")
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
		want := new(big.Rat).SetFrac(big.NewInt(n), scale)
		lit := want.FloatString(places)
		before := rapid.SampledFrom([]string{"", "= ", "(", "$", "是", "7 or "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", ".", "!", ")", " kg", "kg", "个", ", then"}).Draw(t, "after")
		text := before + lit + after
		if rapid.Bool().Draw(t, "minus") {
			text = strings.ReplaceAll(text, "-", "−")
		}
		found := grammar{}.find(text)
		if len(found) == 0 || found[len(found)-1].value == nil || found[len(found)-1].value.Cmp(want) != 0 {
			t.Fatalf("%q: found %v, want %s", text, found, want.RatString())
		}
		whole := grammar{}.find(groupThousands(lit))
		if len(whole) != 1 || whole[0].value.Cmp(want) != 0 {
			t.Fatalf("%q with separators: %v", groupThousands(lit), whole)
		}
	})
}

func groupThousands(lit string) string {
	whole, frac, hasFrac := strings.Cut(lit, ".")
	whole, neg := strings.CutPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if neg {
		whole = "-" + whole
	}
	if hasFrac {
		whole += "." + frac
	}
	return whole
}

// The assignment is as good as the best of all permutations.
func TestAssignIsMaximal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(0, 5).Draw(t, "columns")
		gain := make([][]float64, rows)
		for i := range gain {
			gain[i] = make([]float64, columns)
			for j := range gain[i] {
				gain[i][j] = float64(rapid.IntRange(0, 4).Draw(t, "gain")) / 4
			}
		}
		got, taken := 0.0, map[int]bool{}
		for i, j := range assign(gain, columns) {
			if j < 0 {
				continue
			}
			if taken[j] {
				t.Fatalf("column %d twice", j)
			}
			taken[j] = true
			got += gain[i][j]
		}
		if want := bruteForce(gain, make([]bool, columns)); got != want {
			t.Fatalf("%v: %v, best is %v", gain, got, want)
		}
	})
}

func bruteForce(gain [][]float64, taken []bool) float64 {
	if len(gain) == 0 {
		return 0
	}
	best := bruteForce(gain[1:], taken)
	for j := range taken {
		if !taken[j] {
			taken[j] = true
			best = max(best, gain[0][j]+bruteForce(gain[1:], taken))
			taken[j] = false
		}
	}
	return best
}

// The order of expected and received calls does not matter.
func TestToolCallOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) call {
			args := map[string]any{}
			for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "keys") {
				args[k] = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "value")
			}
			return call{name: rapid.SampledFrom([]string{"f", "g"}).Draw(t, "name"), args: args}
		}), 0, 4)
		got, want := draw.Draw(t, "got"), draw.Draw(t, "want")
		c := comparer{p: toolCallParams{Partial: true}}
		value, _ := c.compare(got, want)
		other := rapid.Permutation(got).Draw(t, "shuffled")
		again, _ := c.compare(other, rapid.Permutation(want).Draw(t, "shuffled want"))
		if d := value - again; d > 1e-12 || d < -1e-12 {
			t.Fatalf("%v against %v: %v, shuffled %v", got, want, value, again)
		}
		if same, why := c.compare(want, want); same != 1 {
			t.Fatalf("%v against itself: %v %s", want, same, why)
		}
	})
}

func FuzzNumeric(f *testing.F) {
	for _, s := range []string{"1,234.5", "-$5e-3", "1 1/2", "\\frac{1}{2}", "2·10⁻²", "½", "1e99999", "５", "1{,}000", "--5", "0x1F", "3^{-2}", "5 \\times 10^{3}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, g := range []grammar{{false, "number"}, {true, "fraction"}, {true, "refuse"}} {
			found := g.find(text)
			for _, n := range found {
				if n.text == "" || n.value != nil && len(n.value.Num().Bits()) > 4*maxDigits {
					t.Fatalf("%q: %v", text, n)
				}
			}
			if !g.fractions && len(found) > 0 && !slices.ContainsFunc([]rune(text), isDigit) {
				t.Fatalf("%q: numbers without a digit: %v", text, found)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,1e5,"x",null,true]}`, `{"a":1,"a":2}`, "1 2", "```json\n{}\n```", `x {"a":1} y`, "\"\\ud800\""} {
		f.Add(s)
	}
	eq := equality{}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = readJSON(text, true)
		v, err := parseJSON(text)
		if err != nil {
			return
		}
		if d := eq.difference("", v, v); d != "" {
			t.Fatalf("%q differs from itself: %s", text, d)
		}
		again, err := parseJSON(mustJSON(v))
		if err != nil || eq.difference("", again, v) != "" {
			t.Fatalf("%q does not survive being written: %v", text, err)
		}
	})
}

func FuzzToolText(f *testing.F) {
	f.Add(`{"tool":"f","args":{}}`)
	f.Add(`[{"name":"f","arguments":{"a":1}},{"name":"g","arguments":{}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		calls, why := textCalls(text)
		if (why == "") != (len(calls) > 0) {
			t.Fatalf("%q: %v and %q", text, calls, why)
		}
		for _, c := range calls {
			if c.name == "" || c.args == nil {
				t.Fatalf("%q: call %+v", text, c)
			}
		}
	})
}

func FuzzScorers(f *testing.F) {
	all := scorable(f)
	f.Add("yes 1.5 {\"a\":1}", "f", `{"a":1}`)
	f.Fuzz(func(t *testing.T, text, name, args string) {
		for _, it := range all {
			assertTotal(t, it, Output{Text: text})
			assertTotal(t, it, Output{Text: text, ToolCalls: []llm.ToolCall{{Name: name, Arguments: args}}})
		}
	})
}

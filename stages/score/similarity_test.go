package score

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every value is worked out by hand, except where its source is named.
func TestSimilarity(t *testing.T) {
	for _, tc := range []struct {
		metric, got, want string
		value             float64
	}{
		{"edit", "kitten", "sitting", 1 - 3.0/7},
		{"edit", "flaw", "lawn", 1 - 2.0/4},
		{"edit", "straße", "strasse", 1 - 2.0/7},
		{"edit", "abc", "abc", 1},
		{"edit", "abc", "xyz", 0},
		{"edit", "a", "abcd", 1 - 3.0/4},
		{"edit", "cafe\u0301", "caf\u00e9", 1}, // one text in two normal forms
		{"edit", "日本", "日本語", 1 - 1.0/3},
		{"edit", " abc\n", "abc", 1},
		{"edit", "Abc", "abc", 1 - 1.0/3},
		{"token_f1", "the cat sat on the mat", "A cat on a mat.", 2 * 3.0 / (4 + 3)},
		{"token_f1", "cat cat", "cat", 2 * 1.0 / (2 + 1)},
		{"token_f1", "Paris", "paris!", 1},
		{"token_f1", "3.14", "314", 0},
		{"token_f1", "it is 3.14", "3.14", 2 * 1.0 / (3 + 1)},
		{"token_f1", "我爱北京", "我爱上海", 2 * 2.0 / (4 + 4)},
		{"token_f1", "GPT是模型", "gpt 模型", 2 * 3.0 / (4 + 3)},
		{"token_f1", "dog", "cat", 0},
		{"chrf", "abc", "abc", 1},
		{"chrf", "a b c", "abc", 1},
		{"chrf", "xyz", "abc", 0},
		{"chrf", "a", "b", 0},
		// n=1: P 2/2, R 2/3; n=2: P 1/1, R 1/2; so P=1, R=7/12, F = 5PR/(4P+R).
		{"chrf", "ab", "abc", 7.0 / 11},
		// n=1: P 3/3, R 3/3 ("aab" and "aba" have the same letters); n=2: aa ab | ab ba: 1/2, 1/2; n=3: 0.
		{"chrf", "aab", "aba", 0.5},
		// Computed apart from the definition, in another language.
		{"chrf", "risk assessment must be made of those who are qualified and expertise in the sector - these are the scientists .",
			"risk assessment has to be undertaken by those who are qualified and expert in that area - that is the scientists .", 0.6343165368117263},
	} {
		s := scoreText(t, withParams("similarity", `"metric":"`+tc.metric+`"`), `"answer":`+mustJSON(tc.want), tc.got)
		if !s.Scored || math.Abs(s.Value-tc.value) > 1e-14 || !strings.HasPrefix(s.Reason, tc.metric+" ") {
			t.Errorf("%s %q %q: %+v, want %v", tc.metric, tc.got, tc.want, s, tc.value)
		}
	}
}

func TestSimilarityCases(t *testing.T) {
	runCases(t, "similarity", []scorerCase{
		{text: "", fields: `"answer":"a"`, want: 0, reason: "the answer is empty"},
		{text: " \n\t", fields: `"answer":"a"`, want: 0, reason: "the answer is empty"},
		{text: "!?", params: `"metric":"token_f1"`, fields: `"answer":"a"`, want: 0},
		{text: "the", params: `"metric":"token_f1"`, fields: `"answer":"the"`, want: 1},
		{text: "\xff", params: `"metric":"edit"`, fields: `"answer":"a"`, want: 0},
		{text: "ABC", params: `"metric":"edit","ignore_case":true`, fields: `"answer":"abc"`, want: 1},
		{text: "dog", params: `"metric":"edit"`, fields: `"answer":["cat","dog"]`, want: 1, reason: `to "dog"`},
		{text: "\u200b", params: `"metric":"chrf"`, fields: `"answer":"\u200b"`, want: 1},
	})
	for params, want := range map[string]string{
		`"metric":"bleu"`: `"bleu" is not one of chrf, edit, token_f1`,
		`"beta":2`:        `unknown parameter "beta"`,
	} {
		_, err := compiler(t).Compile(itemOf(t, withParams("similarity", params), `"answer":"a"`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", params, err, want)
		}
	}
	long := scoreText(t, `"similarity"`, `"answer":"a"`, strings.Repeat("a", maxSimilar+1))
	if long.Scored || !strings.HasPrefix(long.Reason, ScorerError) {
		t.Errorf("a text that is too long: %+v", long)
	}
}

// The bit-parallel distance is the one of the textbook's matrix.
func TestLevenshtein(t *testing.T) {
	letters := rapid.SliceOfN(rapid.SampledFrom([]rune("abé語")), 0, 300)
	rapid.Check(t, func(t *rapid.T) {
		a := letters.Draw(t, "a")
		b := letters.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") { // few edits apart
			b = append([]rune(nil), a...)
			for range rapid.IntRange(0, 5).Draw(t, "edits") {
				if len(b) > 0 {
					i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
					b = append(b[:i], b[i+rapid.IntRange(0, 1).Draw(t, "cut"):]...)
				}
			}
		}
		if got, want := levenshtein(a, b), matrix(a, b); got != want {
			t.Fatalf("%q %q: %d, want %d", string(a), string(b), got, want)
		}
	})
}

func matrix(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		left := row[0]
		row[0] = i + 1
		for j, y := range b {
			best := left + 1
			if x == y {
				best = left
			}
			left = row[j+1]
			row[j+1] = min(best, left+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// A value is in [0,1], 1 for the same text, and 1 for edit only then; edit and
// token_f1 are the same both ways.
func TestSimilarityProperties(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.TrimSpace(strings.Join(rapid.SliceOfN(snippet, 1, 6).Draw(t, "parts"), " "))
	})
	rapid.Check(t, func(t *rapid.T) {
		p := similarityParams{}
		a, b := p.normalise(text.Draw(t, "a")), p.normalise(text.Draw(t, "b"))
		if a == "" || b == "" {
			return
		}
		for name, f := range closenesses {
			v, again, back := f(a, b), f(a, b), f(b, a)
			same := f(a, a)
			if !(v >= 0 && v <= 1) || v != again || same != 1 && !(name == "token_f1" && len(words(a)) == 0) {
				t.Fatalf("%s %q %q: %v, again %v, with itself %v", name, a, b, v, again, same)
			}
			if name != "chrf" && v != back || name == "edit" && (v == 1) != (a == b) {
				t.Fatalf("%s %q %q: %v, the other way %v", name, a, b, v, back)
			}
		}
	})
}

func BenchmarkEdit100KB(b *testing.B) {
	x, y := strings.Repeat("abcdefghij", 10_000), strings.Repeat("abcdefghik", 10_000)
	for b.Loop() {
		editRatio(x, y)
	}
}

package suite

import (
	"hash/maphash"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cupel-dev/cupel/stages/items"
)

// normal makes texts equal that differ only in Unicode form, case or white
// space. Digits stay: `3 + 4` and `5 + 6` are two questions.
func normal(s string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFKC.String(s))), " ")
}

// words cuts a text into normalised runs of letters and digits.
func words(s string) []string {
	return strings.FieldsFunc(cases.Fold().String(norm.NFKC.String(s)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// Asked is everything that an item asks, as one text.
func Asked(it *items.Item) string {
	var b strings.Builder
	for _, m := range it.Turns() {
		b.WriteString(m.Role)
		b.WriteString(": ")
		b.WriteString(m.Content)
		b.WriteByte('\n')
		b.Write(m.ToolCalls)
		shown(&b, m.Media)
	}
	b.Write(it.Tools)
	return b.String()
}

// shown writes what stands for media in a text: their digests, or their names
// where nobody has looked yet.
func shown(b *strings.Builder, media []items.Media) {
	for i := range media {
		if media[i].SHA256.IsZero() {
			b.WriteString(media[i].Path() + "\n")
		} else {
			b.WriteString(media[i].SHA256.String() + "\n")
		}
	}
}

var seed = maphash.MakeSeed()

// shingles are the hashes of all runs of n words.
func shingles(w []string, n int) []uint64 {
	if len(w) < n {
		return nil
	}
	out := make([]uint64, 0, len(w)-n+1)
	for i := 0; i+n <= len(w); i++ {
		out = append(out, maphash.String(seed, strings.Join(w[i:i+n], " ")))
	}
	return out
}

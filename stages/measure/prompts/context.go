package prompts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// contextSeed is the seed of effective-context workloads that state none.
const contextSeed = 17

// ContextItem is one request of an effective-context workload. Its text, which
// may be of megabytes, is made by Build.
type ContextItem struct {
	Case       string
	Bucket     int // tokens
	Position   float64
	Repetition int    // from 0
	Seed       int64  // of the facts, the repetition added
	Place      string // whose prompt it is: two places share no prefix; "" = nobody's
}

// Context lists what a profile asks, bucket by bucket in ascending order, then
// case, position and repetition. A seed of 0 is 17. place makes the prompts
// those of one workload; the facts are the seed's alone.
func Context(p ContextProfile, place string, seed int64) []ContextItem {
	if seed == 0 {
		seed = contextSeed
	}
	out := make([]ContextItem, 0, p.Requests())
	for _, bucket := range p.Buckets {
		for _, name := range p.Cases {
			for _, at := range p.Positions {
				for rep := range p.Repetitions {
					out = append(out, ContextItem{name, bucket, at, rep, seed + int64(rep), place})
				}
			}
		}
	}
	return out
}

// ID names the item in its workload.
func (c ContextItem) ID() string {
	return fmt.Sprintf("%s-%d-%.3f-r%d", c.Case, c.Bucket, c.Position, c.Repetition)
}

const contextIntro = "Below is a logbook, and after it a question about the logbook.\n\n"

// Build makes the prompt: as much filler as fits into the bucket, in whole lines
// but for the last, with the records at round(lines * position). cpt is the
// characters per token, 0 = nominal. Prompts of one place and bucket have their
// filler in common: it is the answers that count here, and an engine may keep
// what it has read.
func (c ContextItem) Build(cpt float64) (Prompt, error) {
	if cpt == 0 {
		cpt = NominalCharsPerToken
	}
	if !(cpt > 0 && cpt <= maxCharsPerToken) || !(c.Position >= 0 && c.Position <= 1) {
		return Prompt{}, fmt.Errorf("%s: position %v at %v characters a token cannot be built", c.ID(), c.Position, cpt)
	}
	f, err := newFacts(c.Case, c.Seed)
	if err != nil {
		return Prompt{}, err
	}
	ask := "\nQuestion: " + f.question
	intro := contextIntro
	if c.Place != "" {
		intro = nonce(random(key(ContextV1, c.Place))) + intro
	}
	room := int(float64(c.Bucket)*cpt) - len(intro) - len(ask)
	for _, r := range f.records {
		room -= len(r) + 1
	}
	if room < 0 {
		return Prompt{}, fmt.Errorf("%s: a bucket of %d tokens has no room for the question", c.ID(), c.Bucket)
	}
	text := c.text(f, intro, room, ask)
	return Prompt{
		Text: text, Builder: ContextV1, Group: c.Case, Length: countWords(text), AskedTokens: c.Bucket,
		Answer: &Expect{Case: c.Case, Position: strconv.FormatFloat(c.Position, 'g', -1, 64), Want: f.want},
	}, nil
}

// text puts the records between lines of filler that are room bytes together.
func (c ContextItem) text(f facts, intro string, room int, ask string) string {
	n := logLines(room)
	at := c.places(f, n)
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	var b strings.Builder
	b.Grow(len(intro) + n*logLine + len(ask) + 512)
	b.WriteString(intro)
	line := make([]byte, 0, logLine)
	for i := range n + 1 {
		for ; len(order) > 0 && at[order[0]] == i; order = order[1:] {
			b.WriteString(f.records[order[0]])
			b.WriteByte('\n')
		}
		if i < n {
			line = appendLog(line[:0], i)
			b.Write(line)
		}
	}
	if rest := room % logLine; rest > 0 { // a short bucket must not miss its length by a line
		b.Write(appendLog(line[:0], n)[:rest-1])
		b.WriteByte('\n')
	}
	b.WriteString(ask)
	return b.String()
}

// places returns the line before which each record stands.
func (c ContextItem) places(f facts, n int) []int {
	at := make([]int, len(f.records))
	for i := range at {
		share := c.Position
		if f.spread && i > 0 {
			_, share = math.Modf(c.Position + chain[i])
		}
		at[i] = int(math.RoundToEven(float64(n) * share))
	}
	return at
}

// logs are what the logbook says, one after the other. None of it has anything
// to do with what is asked.
var logs = padded(
	"the tide came in as the table had it, and the mooring lines were let out.",
	"two crates of lamp oil were counted and put back under the stairs.",
	"fog until noon; the bell was rung and nobody answered it.",
	"the north window was painted again, and the old paint is kept.",
	"wind from the west, steady, and no sail to be seen all afternoon.",
	"the clock in the hall lost a minute and was set by the noon gun.",
	"bread, salt and candles were brought by the boat from the far side.",
	"the gauge was read three times and gave the same height each time.",
)

// padded brings all to the length of the longest, so that line n begins where
// arithmetic says.
func padded(s ...string) []string {
	longest := 0
	for _, l := range s {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	for i, l := range s {
		s[i] = l + strings.Repeat(".", longest-utf8.RuneCountInString(l))
	}
	return s
}

// logLine is the length of a line of the logbook in bytes.
var logLine = len(appendLog(nil, 0))

// logLines is how many lines fit into n bytes.
func logLines(n int) int { return n / logLine }

// appendLog appends line i: "Entry 0000000: ...".
func appendLog(dst []byte, i int) []byte {
	dst = append(dst, "Entry "...)
	number := strconv.Itoa(i)
	for range 7 - len(number) {
		dst = append(dst, '0')
	}
	dst = append(append(dst, number...), ": "...)
	return append(append(dst, logs[i%len(logs)]...), '\n')
}

// ContextSet is a builder over items; cpt gives the characters per token of a
// bucket, 0 = nominal. An index past the items, which is warm-up, begins again.
type ContextSet struct {
	Items []ContextItem
	CPT   map[int]float64
}

// ID names the builder.
func (ContextSet) ID() string { return ContextV1 }

// Build makes the prompt of one item.
func (s ContextSet) Build(index int) (Prompt, error) {
	if err := indexed(index); err != nil {
		return Prompt{}, err
	}
	if len(s.Items) == 0 {
		return Prompt{}, fmt.Errorf("prompt %d: the workload has no items", index)
	}
	item := s.Items[index%len(s.Items)]
	return item.Build(s.CPT[item.Bucket])
}

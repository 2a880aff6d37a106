package prompts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// The states of a ladder's rung.
const (
	Cold         = "cold"          // new prompts; nothing before them but the calibration's, which have another text
	Warm         = "warm"          // new prompts after an untimed one of the same length
	PrefixCached = "prefix-cached" // prompts whose prefix was sent before, untimed
)

// assumedTemplate is how many tokens of a new prompt a cache may hold where
// nobody measured what the engine's chat template puts around every request.
const assumedTemplate = 64

// LadderSet is what a rung of a context ladder sends. Each timed prompt hides a
// code at a seeded position and asks for it at the end.
//
// In the state prefix-cached all prompts of a rung and trial have one text,
// with a code for each of several names, and ask for one name each: a single
// untimed request brings the text into the cache, and an engine that keeps only
// the last prompt of a slot finds it there as well.
type LadderSet struct {
	Timed   Builder
	Untimed Builder // sent before, Before says how many
	State   string
	Share   float64 // of a timed prompt that was sent before, in characters
}

// Before returns how many untimed prompts are sent before the rung.
func (s LadderSet) Before() int {
	if s.State == Cold {
		return 0
	}
	return 1
}

// cacheBlock is how many tokens the common engines cache as one.
const cacheBlock = 16

// Cached returns the bounds that the cached tokens of a timed prompt must keep
// for the rung to have been in its state, given its tokens as the engine counts
// them and those of them that are not its text, nil = not measured. The block
// that the new part begins in is never cached.
func (s LadderSet) Cached(promptTokens int, template *int) (low, high int) {
	if s.State == PrefixCached {
		return max(0, int(s.Share*float64(promptTokens))-cacheBlock), promptTokens
	}
	known := assumedTemplate
	if template != nil {
		known = *template
	}
	return 0, max(known, promptTokens/100)
}

// Ladder returns the prompts of a rung of so many tokens. Rungs that differ in
// their point, which names cell and workload, share no prompt.
func Ladder(point string, tokens int, state string, trial int, seed int64, cpt float64) (LadderSet, error) {
	if !slices.Contains([]string{Cold, Warm, PrefixCached}, state) {
		return LadderSet{}, step.WithHint(fmt.Errorf("ladder state %q is not known", state), "use cold, warm or prefix-cached")
	}
	if err := (&Cell{CharsPerToken: cpt}).checkWords(); err != nil {
		return LadderSet{}, err
	}
	if cpt == 0 {
		cpt = NominalCharsPerToken
	}
	r := rung{tokens: tokens, chars: int(math.Round(float64(tokens) * cpt)), key: key(LadderV1, point, seed, trial, tokens, state)}
	s := LadderSet{Timed: r.timed(state), Untimed: r.untimed(state), State: state}
	p, err := s.Timed.Build(longestIndex)
	if err != nil {
		return LadderSet{}, err
	}
	if shared, ok := s.Timed.(sharedRung); ok {
		s.Share = float64(len(shared.text)) / float64(len(p.Text))
	}
	return s, nil
}

// longestIndex leaves room for the longest number that a request can have.
const longestIndex = 999999

// rung is what the prompts of a rung and trial have in common.
type rung struct {
	tokens int
	chars  int
	key    string
}

func (r rung) timed(state string) Builder {
	if state != PrefixCached {
		return freshRung{rung: r, use: "timed"}
	}
	rng := random(r.key)
	s := sharedRung{rung: r}
	head, room := nonce(rng)+ladderIntro, r.chars-len(ladderAsk(archives[0], longestIndex))
	for i := range s.positions {
		s.codes[i] = code(rng, i)
		s.positions[i] = (float64(i) + rng.Float64()) / float64(len(s.positions))
		room -= len(needle(archives[i], s.codes[i]))
	}
	if room -= len(head); room >= 0 {
		s.text = head + s.hide(string(appendFiller(nil, rng, room)))
	}
	return s
}

func (r rung) untimed(state string) Builder {
	if state != PrefixCached {
		return freshRung{rung: r, use: "untimed"}
	}
	return openingRung{r.timed(state).(sharedRung)}
}

func (r rung) tooShort() error {
	return step.WithHint(fmt.Errorf("a rung of %d tokens has no room for its question", r.tokens), "begin the ladder at a longer one, 256 say")
}

const ladderIntro = "Below are notes, and after them a question about one of the notes.\n"

func needle(archive, code string) string {
	return "The access code of the " + archive + " archive is " + code + ".\n"
}

func ladderAsk(archive string, index int) string {
	return fmt.Sprintf("\nQuestion %d: what is the access code of the %s archive? Answer with that code and nothing else.", index, archive)
}

// archives are the names that codes have, none of them a code word.
var archives = [...]string{"Meridian", "Larkspur", "Foundry", "Causeway", "Paddock", "Turret", "Gantry", "Belfry"}

// code returns a code word and six digits, the last four of them different for
// any 10,000 neighbouring indices.
func code(rng *rand.Rand, index int) string {
	word := codeWords[rng.IntN(len(codeWords))]
	return fmt.Sprintf("%s%0*d", strings.ToUpper(word), codeDigits, (rng.IntN(100)*10000+index*7919%10000)%1000000)
}

// insert puts line at the beginning of a line of text, about share of the way.
func insert(text, line string, share float64) string {
	at := int(share * float64(len(text)))
	if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
		at += end + 1
	} else if at = len(text); at > 0 && text[at-1] != '\n' {
		line = "\n" + line
	}
	return text[:at] + line + text[at:]
}

func position(share float64) string { return fmt.Sprintf("%.2f", share) }

// freshRung makes prompts that have nothing in common.
type freshRung struct {
	rung
	use string
}

func (freshRung) ID() string { return LadderV1 }

// golden is the fraction by which positions move on, so that any number of
// requests is spread over the text.
const golden = 0.6180339887498949

func (r freshRung) Build(index int) (Prompt, error) {
	if err := indexed(index); err != nil {
		return Prompt{}, err
	}
	rng := random(key(r.key, r.use, index))
	_, share := math.Modf(random(key(r.key, r.use)).Float64() + golden*float64(index))
	name := archives[rng.IntN(len(archives))]
	want := code(rng, index)
	head, line, ask := nonce(rng)+ladderIntro, needle(name, want), ladderAsk(name, index)
	room := r.chars - len(head) - len(line) - len(ask) - 1
	if room < 0 {
		return Prompt{}, r.tooShort()
	}
	return r.prompt(head+insert(string(appendFiller(nil, rng, room)), line, share)+ask, want, share), nil
}

func (r rung) prompt(text, want string, share float64) Prompt {
	return Prompt{
		Text: text, Builder: LadderV1, Length: countWords(text), AskedTokens: r.tokens,
		Answer: &Expect{Case: caseNeedle, Position: position(share), Want: want},
	}
}

// sharedRung makes prompts that are one text and a question each.
type sharedRung struct {
	rung
	text      string // "" = no room
	codes     [len(archives)]string
	positions [len(archives)]float64 // ascending
}

func (sharedRung) ID() string { return LadderV1 }

// hide puts the needles into the filler, the last one first, so that none moves
// those before it.
func (r *sharedRung) hide(filler string) string {
	for i := len(r.codes) - 1; i >= 0; i-- {
		filler = insert(filler, needle(archives[i], r.codes[i]), r.positions[i])
	}
	return filler
}

func (r sharedRung) Build(index int) (Prompt, error) {
	switch err := indexed(index); {
	case err != nil:
		return Prompt{}, err
	case r.text == "":
		return Prompt{}, r.tooShort()
	}
	// 5 is prime to the number of names: neighbours ask at distant positions.
	i := index * 5 % len(r.codes)
	return r.prompt(r.text+ladderAsk(archives[i], index), r.codes[i], r.positions[i]), nil
}

// openingRung makes the untimed prompt that brings the shared text in.
type openingRung struct{ sharedRung }

func (r openingRung) Build(index int) (Prompt, error) {
	switch err := indexed(index); {
	case err != nil:
		return Prompt{}, err
	case r.text == "":
		return Prompt{}, r.tooShort()
	}
	p := r.prompt(r.text+"\nSay in one word whether you have read the notes.", "", 0)
	p.Answer = nil
	return p, nil
}

package prompts

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Why a calibration fails. The length that was asked for cannot be had, and no
// other one is passed off as it.
var (
	ErrNoCount     = errors.New("the engine counted no prompt tokens")
	ErrTruncates   = errors.New("the engine's count stops growing with the prompt: it cuts the prompt off")
	ErrNotMonotone = errors.New("the engine counts fewer tokens for a longer prompt")
	ErrNoLength    = errors.New("no prompt length lands on the number of tokens that is wanted")
)

// CalibrationLooks is how many prompts a calibration counts at most.
const CalibrationLooks = 8

const (
	maxCharsPerToken = 1000
	wholeWord        = 16   // characters that a text may lack of what was asked for, ending after a word
	aimed            = 0.01 // relative error at which the search ends
	accepted         = 0.02 // relative error that is good enough at the end
)

// Calibration finds the prompt length in characters that the engine counts as
// the wanted tokens, from what it counted before:
//
//	asking --Tell, within 1 % and seen to grow--> landed
//	asking --Tell, off--> asking
//	asking --Tell, impossible; or 8 looks and none within 2 %--> failed
//
// The engine's count is overhead + slope * characters; neither is known, the
// overhead being that of the chat template. Use Next until it says no more,
// then Result. The zero value is of no use; see Calibrate.
type Calibration struct {
	want  int
	looks []look // ascending by characters
	asked int    // by the latest Next
	told  int
	err   error
}

type look struct{ chars, tokens int }

// Calibrate begins a calibration for a prompt of so many tokens.
func Calibrate(want int) *Calibration {
	c := &Calibration{want: want}
	if want < 1 {
		c.err = fmt.Errorf("%w: %d tokens", ErrNoLength, want)
	}
	return c
}

// Ratio returns the Cell.CharsPerToken with which a prompt of the wanted
// tokens has so many characters.
func (c *Calibration) Ratio(chars int) float64 { return float64(chars) / float64(c.want) }

// Next returns the length in characters of the prompt to count next, and
// whether there is one: false = landed or failed, see Result.
func (c *Calibration) Next() (chars int, more bool) {
	c.asked, more = c.next()
	return c.asked, more
}

func (c *Calibration) next() (chars int, more bool) {
	if c.err != nil || c.told >= CalibrationLooks {
		return 0, false
	}
	if len(c.looks) == 0 {
		return int(math.Round(float64(c.want) * NominalCharsPerToken)), true
	}
	best := c.best()
	if c.off(best) <= aimed || best.tokens == c.want {
		return c.confirm(best)
	}
	next := c.estimate(best)
	if c.lands(best) && c.seen(next) {
		return c.confirm(best)
	}
	for away := next - best.chars; c.seen(next); away *= 2 {
		if away == 0 {
			away = c.want - best.tokens
		}
		next = max(1, best.chars+away)
		if next == 1 {
			break // there is nothing shorter
		}
	}
	return next, true
}

// seen reports whether a length was counted before.
func (c *Calibration) seen(chars int) bool {
	return slices.ContainsFunc(c.looks, func(l look) bool { return l.chars == chars })
}

// lands reports whether a count is as good as a calibration must be.
func (c *Calibration) lands(l look) bool {
	return c.off(l) <= accepted || abs(l.tokens-c.want) <= 1
}

// confirm asks for a slightly shorter prompt where none tells yet whether the
// count at the best one is the engine's limit rather than the prompt's length.
func (c *Calibration) confirm(best look) (chars int, more bool) {
	shorter := best.chars - max(64, best.chars*3/100)
	seen := slices.ContainsFunc(c.looks, func(l look) bool {
		return l.chars < best.chars && (l.chars*10 >= best.chars*7 || l.chars >= shorter)
	})
	if seen || shorter < 64 {
		return 0, false
	}
	return shorter, true
}

// estimate solves the line through the two looks nearest to what is wanted; a
// single look stands on a line through the origin. No step goes beyond a factor
// of four.
func (c *Calibration) estimate(best look) int {
	chars := float64(best.chars) * float64(c.want) / float64(best.tokens)
	if other, ok := c.second(best); ok {
		slope := float64(best.tokens-other.tokens) / float64(best.chars-other.chars)
		if slope > 0 {
			chars = float64(best.chars) + float64(c.want-best.tokens)/slope
		}
	}
	low, high := float64(best.chars)/4, float64(best.chars)*4
	return max(1, int(math.Round(min(max(chars, low), high))))
}

// Tell says what the engine counted for a prompt of so many characters. A text
// that ends after a word has a few less than Next asked for; the next one that
// is built with the ratio will as well, so what counts is what was asked for.
func (c *Calibration) Tell(chars, tokens int) {
	if c.err != nil {
		return
	}
	c.told++
	if chars < 1 || tokens < 1 {
		c.err = fmt.Errorf("%w of a prompt of %d characters", ErrNoCount, chars)
		return
	}
	if short := c.asked - chars; 0 < short && short <= wholeWord {
		chars = c.asked
	}
	at, seen := slices.BinarySearchFunc(c.looks, chars, func(l look, chars int) int { return l.chars - chars })
	if seen {
		c.looks[at].tokens = tokens
		return
	}
	c.looks = slices.Insert(c.looks, at, look{chars, tokens})
	for i := range c.looks[1:] {
		if c.err = grows(c.looks[i], c.looks[i+1]); c.err != nil {
			return
		}
	}
}

// grows reports counts that cannot be those of the whole prompt. The texts of
// two looks differ, so a few tokens less for a few characters more are none.
func grows(a, b look) error {
	chars, tokens := b.chars-a.chars, b.tokens-a.tokens
	seen := fmt.Sprintf("%d tokens for %d characters, %d for %d", a.tokens, a.chars, b.tokens, b.chars)
	switch {
	case -tokens > max(4, a.tokens/100):
		return fmt.Errorf("%w: %s", ErrNotMonotone, seen)
	case chars >= 64 && tokens*64 < chars:
		return fmt.Errorf("%w: %s", ErrTruncates, seen)
	}
	return nil
}

func (c *Calibration) off(l look) float64 {
	return math.Abs(float64(l.tokens-c.want)) / float64(c.want)
}

func (c *Calibration) best() look {
	return slices.MinFunc(c.looks, func(a, b look) int { return abs(a.tokens-c.want) - abs(b.tokens-c.want) })
}

// second returns the look nearest to what is wanted but for the best one and
// those of as many tokens, with which it makes no line.
func (c *Calibration) second(best look) (near look, ok bool) {
	for _, l := range c.looks {
		if l.tokens != best.tokens && (!ok || abs(l.tokens-c.want) < abs(near.tokens-c.want)) {
			near, ok = l, true
		}
	}
	return near, ok
}

// Result returns the characters per token that land on what is wanted and what
// the engine counted there, within 2 % or one token. Before Next says that
// there is no more, and when no length lands, it is an error.
func (c *Calibration) Result() (cpt float64, counted int, err error) {
	if c.err != nil {
		return 0, 0, fmt.Errorf("a prompt of %d tokens: %w", c.want, c.err)
	}
	if _, more := c.Next(); more {
		return 0, 0, fmt.Errorf("a prompt of %d tokens: the calibration is not done", c.want)
	}
	best := c.best()
	if !c.lands(best) {
		return 0, 0, fmt.Errorf("a prompt of %d tokens: %w: the nearest has %d in %d characters", c.want, ErrNoLength, best.tokens, best.chars)
	}
	return c.Ratio(best.chars), best.tokens, nil
}

func abs(n int) int { return max(n, -n) }

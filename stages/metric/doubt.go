package metric

import (
	"fmt"
	"math"
	"strconv"
)

// Limits above which a reader is told; none of these makes a cell unfit.
const (
	promptOff    = 0.02 // prompt length against the one asked for
	zeroGapsMany = 0.1  // share of gaps that are 0
	eventsOver   = 0.02 // output events beyond the engine's output tokens
	driftMany    = 5.0  // percent between the first and the last trial
)

// What the sentences about the whole client and engine begin with. They hold
// for each prompt of a bench too.
const (
	sayClient    = "client-bound: "
	sayUnchecked = "client-unchecked: "
	sayUsage     = "usage-off: "
	sayNoCache   = "nothing reports cached tokens, so nothing confirms that the prompts were new"
)

var ofWhole = []string{sayClient, sayUnchecked, sayUsage, sayNoCache}

// doubt judges a single trial: whether the client can be trusted, and what a
// reader of its numbers should know.
func (c *Cell) doubt(p *pool) {
	t := &p.trials[0]
	if !p.part {
		c.wholeDoubts(p, t)
	}
	if c.WarmCache {
		c.say(c.warmSentence(), nil)
	}
	if t.WrongState != "" {
		c.say("wrong-state: "+t.WrongState, &c.WrongState)
	}
	if c.OffRate {
		c.say(fmt.Sprintf("off-rate: %s req/s were sent where %s were planned", short(*c.AchievedRate.Value), short(*c.OfferedRate.Value)), nil)
	}
	c.say(c.lateSentence(), &c.OffRate)
	c.say(c.planDoubt(t), nil)
	if c.PeakTokS.Reason == BelowMean {
		c.say("the largest rate of a second came out below the mean rate, which cannot be: tokens were counted twice or lost", nil)
	}
	if s, many := p.promptDoubt(); many && !t.Nominal {
		c.say("off-length: "+s, &c.OffLength)
	} else {
		c.say(s, nil)
	}
	c.say(p.reasoningDoubt(), nil)
	c.say(p.eventsDoubt(), nil)
	c.say(p.zeroGapsDoubt(), nil)
}

// wholeDoubts are about the client and the engine, which a part of a trial
// cannot judge.
func (c *Cell) wholeDoubts(p *pool, t *Trial) {
	bound, told := c.uncovered(t)
	for _, s := range append(c.clientBound(p, t), bound) {
		c.say(s, &c.ClientBound)
	}
	for _, s := range append(c.unchecked(t), told) {
		c.say(s, nil)
	}
	c.say(c.gapsDoubt(), &c.GapsUncertain)
	if c.UsageOff {
		c.say(fmt.Sprintf(sayUsage+"the client counted %s of the output tokens that the engine's own metrics did", short(*c.UsageRatio.Value)), nil)
	}
	if !p.o.IntendedCache && c.Completed > 0 && c.CachedShare.Value == nil && c.ServerPrefixHits.Value == nil {
		c.say(sayNoCache, nil)
	}
}

// say adds a sentence, and sets the mark that it explains.
func (c *Cell) say(sentence string, mark *bool) {
	if sentence == "" {
		return
	}
	c.Doubts = append(c.Doubts, sentence)
	if mark != nil {
		*mark = true
	}
}

// clientBound are the reasons for which the client, and not the engine, may
// have made the numbers.
func (c *Cell) clientBound(p *pool, t *Trial) (why []string) {
	if above(c.ClientOverhead, ClientBoundAbove) {
		why = append(why, fmt.Sprintf(sayClient+"the client used %s of a core", short(*c.ClientOverhead.Value)))
	}
	limit := max(c.lagLimit(), p.o.LagMS)
	if s := t.SelfCheck; s != nil && ms(s.judged()) > limit {
		why = append(why, lagSentence(s, limit))
	}
	why = append(why, pulseSentences(t, limit)...)
	if outside(c.LittleRatio, LittleOff) && p.littleMatters(t) {
		why = append(why, fmt.Sprintf(sayClient+"the requests in flight add up to %s of the time that the requests took", short(*c.LittleRatio.Value)))
	}
	if c.Concurrency > 0 && t.MaxInFlight > c.Concurrency {
		why = append(why, fmt.Sprintf(sayClient+"%d requests were in flight at once, and %d were to be", t.MaxInFlight, c.Concurrency))
	}
	return why
}

func lagSentence(s *SelfCheck, limit float64) string {
	late := fmt.Sprintf(sayClient+"time stamps came up to %s ms late (p95 of the self-check, at most %s ms)", short(ms(s.judged())), short(limit))
	if ms(s.ServerLagP99) <= limit {
		return late
	}
	return late + fmt.Sprintf("; the machine itself was late: the check's server ran %s ms behind its schedule", short(ms(s.ServerLagP99)))
}

// judged is the lag that a self-check is judged by. Documents from before there
// was a p95 have none.
func (s *SelfCheck) judged() int64 {
	if s.LagP95 == 0 {
		return s.LagP99
	}
	return s.LagP95
}

// pulseSentences say when the client itself was held up while the cell ran.
func pulseSentences(t *Trial, limit float64) (why []string) {
	p := t.Pulse
	if p == nil {
		return nil
	}
	if p.Ticks >= PulseTicks && ms(p.LagP99) > limit {
		why = append(why, fmt.Sprintf(sayClient+"while the cell ran, the client's timers woke up to %s ms late (p99, at most %s ms)", short(ms(p.LagP99)), short(limit)))
	}
	if t.WallNS > 0 && float64(p.Frozen) > FrozenShare*float64(t.WallNS) {
		why = append(why, fmt.Sprintf(sayClient+"the client did not run for %s s of the cell's %s s", short(seconds(p.Frozen)), short(seconds(t.WallNS))))
	}
	return why
}

// littleMatters leaves out differences that the pool's own bookkeeping makes on
// requests of a few milliseconds.
func (p *pool) littleMatters(t *Trial) bool {
	took, _ := p.took()
	return math.Abs(ms(t.InFlightNS-took)) > LagLeastMS*float64(len(t.Requests))
}

func (c *Cell) warmSentence() string {
	who, v := "the engine's usage counts", c.CachedShare
	if !above(v, WarmCacheAbove) {
		who, v = "the engine's own metrics", c.ServerPrefixHits
	}
	return fmt.Sprintf("warm-cache: %s %% of the prompt tokens came from a cache, by %s, and the prompts were to be new", short(100**v.Value), who)
}

// planDoubt is about what a schedule planned and the client did.
func (c *Cell) planDoubt(t *Trial) string {
	if n := t.unaccounted(); n != 0 {
		return fmt.Sprintf("%d requests were planned; %d answered, %d failed and %d not sent do not add up to them", t.Planned, c.Completed, c.Failed, t.Unsent)
	}
	if t.Unsent > 0 {
		return fmt.Sprintf("%d planned requests were not sent before the window ended", t.Unsent)
	}
	if p99 := c.ScheduleLag.P99; p99 != nil && *p99 > c.lagLimit() && *p99 <= c.lateLimit() {
		return fmt.Sprintf("requests left up to %s ms after their planned time (p99)", short(*p99))
	}
	return ""
}

// offLengthShare is the share of prompts that may miss their length.
const offLengthShare = 0.05

// promptDoubt: a nominal length is not the real one. It also reports whether so
// many prompts miss it that the cell is another one than was asked for.
func (p *pool) promptDoubt() (string, bool) {
	many, asked, worst := 0, 0, 1.0
	for _, r := range p.good {
		s := promptAccuracy(r, p.o.Protocol)
		if !s.there() {
			continue
		}
		asked++
		if off(s.v, promptOff) {
			many++
		}
		if math.Abs(s.v-1) > math.Abs(worst-1) {
			worst = s.v
		}
	}
	if many == 0 {
		return "", false
	}
	return fmt.Sprintf("%d of %d prompts are more than 2 %% off the length asked for; the furthest is %s of it", many, asked, short(worst)),
		float64(many) > offLengthShare*float64(asked)
}

// reasoningDoubt: which protocol times a cell is declared, not found out.
func (p *pool) reasoningDoubt() string {
	n := 0
	for _, r := range p.good {
		if r.ReasoningChunks > 0 {
			n++
		}
	}
	if n == 0 || p.o.Protocol == CapacityV4Reasoning {
		return ""
	}
	return fmt.Sprintf("%d of %d answers streamed reasoning, which %s does not time; capacity-v4-reasoning does", n, len(p.good), p.o.Protocol)
}

// eventsDoubt: an event carries a token or more, so the engine's count must not
// be below the number of events.
func (p *pool) eventsDoubt() string {
	events, tokens := 0, int64(0)
	for _, r := range p.good {
		if r.OutputTokens != nil && !r.Unstreamed {
			events += r.events()
			tokens += *r.OutputTokens
		}
	}
	if float64(events) <= (1+eventsOver)*float64(tokens) {
		return ""
	}
	return fmt.Sprintf("the engine counted %d output tokens in %d output events: it may leave some out", tokens, events)
}

// zeroGapsDoubt: the median of gaps looks best when reads are starved.
func (p *pool) zeroGapsDoubt() string {
	zero, all := 0, 0
	for _, r := range p.good {
		all += len(r.Gaps)
		for _, g := range r.Gaps {
			if g == 0 {
				zero++
			}
		}
	}
	if float64(zero) <= zeroGapsMany*float64(all) {
		return ""
	}
	return fmt.Sprintf("%s %% of the output events came in one read with the event before", short(100*float64(zero)/float64(all)))
}

// betweenDoubts gathers the doubts of the trials, and those about all.
func (c *Cell) betweenDoubts(per []Cell, trials []Trial) {
	if len(per) > 1 {
		c.Doubts = nil
		for i, one := range per {
			for _, s := range one.Doubts {
				c.say(fmt.Sprintf("trial %d: %s", i+1, s), nil)
			}
		}
	}
	if v := c.DriftPct.Value; v != nil && math.Abs(*v) > driftMany {
		c.say(fmt.Sprintf("drift: the last trial's throughput is %s %% off the first's", short(*v)), nil)
	}
	c.say(apartDoubt(trials), nil)
}

// short writes a number for people.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

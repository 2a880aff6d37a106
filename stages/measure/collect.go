package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// collector journals answers as they come and writes them in order. It belongs
// to one goroutine.
type collector struct {
	job       step.Job
	total     int
	done      int // rows that are there
	cut       int // of these, answers whose stream was cut
	fresh     int // of these, asked for in this attempt
	began     time.Time
	responses *lines
	timings   *lines
	next      place // the first row that is not written yet
	waiting   map[place]row
	outside   tally
	streak    int    // failures of the outside since the last answer
	patience  int    // streak at which sending stops
	record    bool   // failures of the outside become failed answers
	todo      string // what a person can do about failures of the outside
	earlier   *takeover
	err       error
}

// What to do when an endpoint did not answer.
const (
	runAgain     = "answers that came are kept; run again when the endpoint is well"
	orRecordThem = ", or count such requests as failed answers with failures: record"
)

func newCollector(job step.Job, total, concurrency int) (*collector, error) {
	c := &collector{job: job, total: total, began: time.Now(), waiting: map[place]row{}, patience: 3 * concurrency}
	var err error
	if c.responses, err = createLines(job, evidence.OutResponses); err != nil {
		return nil, err
	}
	c.timings, err = createLines(job, evidence.OutTimings)
	return c, err
}

// take deals with one result and reports whether to go on sending.
func (c *collector) take(r result) bool {
	if r.ask.held {
		withoutWords(&r.resp)
	}
	switch f := r.resp.Failure; {
	case c.err != nil:
		return false
	case r.kept != nil:
		c.write(r.ask.place, *r.kept)
	case f != nil && f.Class == llm.ClassCanceled:
		return false
	case f != nil && f.Class.Outside():
		c.outside.add(f)
		c.streak++
		if c.record {
			c.failed(r)
		}
	default:
		c.answer(r)
	}
	c.job.Progress(c.done, c.total, c.rate())
	return c.err == nil && c.streak < c.patience
}

// withoutWords drops what an endpoint said of a request that it failed: many
// quote it, and a held-out item is quoted nowhere. What the client says of a
// connection stays.
func withoutWords(r *llm.Response) {
	if r.Failure == nil {
		return
	}
	switch r.Failure.Class {
	case llm.ClassUnreachable, llm.ClassTimeout, llm.ClassCanceled:
		if r.Failure.Status == 0 {
			return
		}
	}
	f := *r.Failure
	f.Message = "what it said is not kept: the item is held out"
	r.Failure = &f
}

// answer keeps an answer. One whose stream was cut is not journaled: a server
// that is killed cuts the streams in flight before it refuses the next ones,
// and those must be asked for again. It is written, and so counts if the whole
// pass ends without a failure of the outside.
func (c *collector) answer(r result) {
	row, err := newRow(r.ask, &r.resp, r.attempts)
	if err != nil {
		c.err = fmt.Errorf("item %s: %w", r.ask.key.ID, err)
		return
	}
	cut := r.resp.Failure != nil && r.resp.Failure.Class == llm.ClassCutStream
	if cut {
		c.cut++
	} else {
		c.streak = 0
		c.err = c.journal(row)
	}
	if c.err != nil {
		return
	}
	c.fresh++
	c.write(r.ask.place, row)
}

// failed writes a failure of the outside as a failed answer. It is not
// journaled: should the pass not end well, it is asked for again.
func (c *collector) failed(r result) {
	f := *r.resp.Failure
	if f.Status == 0 {
		f.Message = "" // the client's own words; they name addresses
	}
	r.resp.Failure = &f
	row, err := newRow(r.ask, &r.resp, r.attempts)
	if err != nil {
		c.err = fmt.Errorf("item %s: %w", r.ask.key.ID, err)
		return
	}
	c.cut++
	c.fresh++
	c.write(r.ask.place, row)
}

func (c *collector) journal(r row) error {
	line, err := encode(r)
	if err != nil {
		return err
	}
	return c.job.Append(line)
}

// write puts a row at its place; rows that come early wait.
func (c *collector) write(at place, r row) {
	c.done++
	c.waiting[at] = r
	for {
		r, ok := c.waiting[c.next]
		if !ok {
			return
		}
		c.responses.put(r.Response)
		c.timings.put(r.Timing)
		delete(c.waiting, c.next)
		c.next++
	}
}

func (c *collector) rate() string {
	s := time.Since(c.began).Seconds()
	if s <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f items/s", float64(c.fresh)/s)
}

// verdict says why a pass is not whole, nil when it is.
func (c *collector) verdict(ctx context.Context) error {
	switch {
	case c.err != nil:
		return c.err
	case ctx.Err() != nil:
		return ctx.Err()
	case c.outside.n > 0 && !(c.record && c.done == c.total && c.outside.n < c.total-len(c.earlier.rows)):
		cut := c.cut
		if c.record {
			cut -= c.outside.n // those are counted as failures already
		}
		return step.WithHint(c.outside.err(c.done-c.cut, cut, c.total),
			c.todo)
	case c.done != c.total:
		return context.Canceled // killed
	}
	return nil
}

// finish ends the outputs. After a drift they stay as evidence, and the
// journal is taken back: which of its rows came from which endpoint is not
// known.
func (c *collector) finish(identity error) error {
	var drift *step.Drift
	if identity != nil && !errors.As(identity, &drift) {
		return identity
	}
	if drift != nil {
		if err := c.job.Append(voidLine); err != nil {
			return err
		}
	}
	if err := c.responses.close(); err != nil {
		return err
	}
	if err := c.timings.close(); err != nil {
		return err
	}
	if err := c.provenance(); err != nil {
		return err
	}
	return identity
}

// provenance writes down what was not asked for, if there is such a thing.
func (c *collector) provenance() error {
	for _, n := range c.earlier.notes {
		c.job.Note("%s", n)
	}
	if len(c.earlier.rows) == 0 {
		return nil
	}
	k := c.earlier.kept(c.total)
	c.job.Note("%s", c.earlier.note(k.Asked))
	b, err := encode(k) // not in RFC 8785 form: a wall clock in nanoseconds has no place there
	if err != nil {
		return err
	}
	return step.Write(c.job, evidence.OutKept, "application/json", append(b, '\n'))
}

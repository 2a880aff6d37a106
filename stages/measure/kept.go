package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
)

// grows is what says how many rows a generation has. None of it changes what is
// asked for one row: that is the request, whose digest is compared. failures
// only says what becomes of a request without an answer, and rows without an
// answer are never taken over.
var grows = step.Growth{
	Params: []string{"where", "split", "limit", "stratify", "samples", "repeats", "failures"},
	Inputs: []string{itemsInput},
}

// prepare makes a request's bytes and digest.
type prepare func(llm.Request) (*llm.Prepared, error)

// takeover collects the rows that need not be asked for.
type takeover struct {
	wanted map[rowKey]step.Digest   // rows that nobody has yet, by their request
	rows   journal                  // taken over
	own    map[evidence.Beside]bool // the requests of these rows
	beside map[evidence.Beside]bool // the requests in the records that they are from
	from   []evidence.KeptFrom
	notes  []string
}

func newTakeover() *takeover {
	return &takeover{wanted: map[rowKey]step.Digest{}, rows: journal{}, own: map[evidence.Beside]bool{}, beside: map[evidence.Beside]bool{}}
}

// takeOver finds rows of earlier sets whose very same request was answered. kept
// are the rows of this step's own journal, which come first.
func takeOver(ctx context.Context, job step.Known, q questions, prepare prepare, kept journal) (*takeover, error) {
	t := newTakeover()
	earlier := job.Earlier()
	if len(earlier) == 0 {
		return t, nil
	}
	err := q.asks(ctx, job, prepare, func(a ask) error {
		if !kept.has(a) {
			t.wanted[a.key] = a.req.Digest
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, from := range earlier {
		if len(t.wanted) == 0 {
			break
		}
		if err := t.read(from); err != nil {
			t.notes = append(t.notes, fmt.Sprintf("the earlier set of %s cannot be read, its rows are not used: %v", from.Key.Short(), err))
		}
	}
	return t, nil
}

// read takes what is wanted from one record. All of it is read before any row
// is believed: that its content is what was written shows at its end.
func (t *takeover) read(from step.Earlier) error {
	taken, failed := journal{}, []rowKey{}
	var own, others []evidence.Beside
	err := eachPair(from, func(r row, x extract) {
		list := &others
		switch {
		case t.wanted[r.Key] != r.Request:
		case x.failed:
			failed = append(failed, r.Key)
		default:
			taken[r.Key] = r
			list = &own
		}
		if at, ok := x.span(); ok {
			*list = append(*list, evidence.Beside{ID: r.Key.ID, Sample: r.Key.Sample, Repeat: r.Key.Repeat, Span: at})
		}
	})
	if err != nil {
		return err
	}
	was, err := readKept(from)
	if err != nil {
		return err
	}
	// The last word on a request is that it failed: it is asked again, whatever
	// an older record says.
	for _, key := range failed {
		delete(t.wanted, key)
	}
	if len(taken) == 0 {
		return nil
	}
	for key, r := range taken {
		t.rows[key] = r
		delete(t.wanted, key)
	}
	for _, at := range own {
		t.own[at] = true
	}
	for _, at := range slices.Concat(others, was.Beside) {
		t.beside[at] = true
	}
	t.from = append(t.from, evidence.KeptFrom{Key: from.Key, Record: from.Record, Rows: len(taken)})
	return nil
}

// kept says what was taken over, of total rows.
func (t *takeover) kept(total int) evidence.Kept {
	return evidence.Kept{Rows: len(t.rows), Asked: total - len(t.rows), From: t.from, Beside: t.overlapping()}
}

// overlapping are the requests beside the rows, sorted, without those that are
// rows themselves and those that were over before or came after.
func (t *takeover) overlapping() []evidence.Beside {
	busy := stretches(maps.Keys(t.own))
	out := []evidence.Beside{}
	for at := range t.beside {
		if t.own[at] {
			continue
		}
		i, _ := slices.BinarySearchFunc(busy, at.Start, func(s metric.Span, start int64) int { return cmp.Compare(s.End, start) })
		if i < len(busy) && busy[i].Start < at.End {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b evidence.Beside) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Sample, b.Sample), cmp.Compare(a.Repeat, b.Repeat))
	})
	return out
}

// stretches joins requests into the stretches of time in which there was one,
// in order.
func stretches(requests iter.Seq[evidence.Beside]) (out []metric.Span) {
	byStart := func(a, b evidence.Beside) int { return cmp.Compare(a.Start, b.Start) }
	for _, at := range slices.SortedFunc(requests, byStart) {
		if n := len(out); n > 0 && at.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, at.End)
			continue
		}
		out = append(out, at.Span)
	}
	return out
}

// note is the sentence for people.
func (t *takeover) note(asked int) string {
	sets := "an earlier set"
	if len(t.from) > 1 {
		sets = fmt.Sprintf("%d earlier sets", len(t.from))
	}
	rows := "rows"
	if len(t.rows) == 1 {
		rows = "row"
	}
	return fmt.Sprintf("%s %s kept from %s, %s asked", metric.Thousands(len(t.rows)), rows, sets, metric.Thousands(asked))
}

// extract is what has to be known of a row to decide about it.
type extract struct {
	failed     bool
	start, end int64
}

// span is when the row's request was in flight; not all of them ended.
func (x extract) span() (metric.Span, bool) {
	return metric.Span{Start: x.start, End: x.start + x.end}, x.start > 0 && x.end > 0
}

// eachPair calls f with every row of a record.
func eachPair(from step.Earlier, f func(row, extract)) (err error) {
	responses, err := from.Open(evidence.OutResponses)
	if err != nil {
		return err
	}
	defer responses.Close()
	timings, err := from.Open(evidence.OutTimings)
	if err != nil {
		return err
	}
	defer timings.Close()
	a, b := bufio.NewReaderSize(responses, 64<<10), bufio.NewReaderSize(timings, 64<<10)
	for n := 1; ; n++ {
		response, errA := a.ReadBytes('\n')
		timing, errB := b.ReadBytes('\n')
		switch {
		case errA == io.EOF && errB == io.EOF && len(response)+len(timing) == 0:
			return nil
		case errA != nil && errA != io.EOF:
			return errA
		case errB != nil && errB != io.EOF:
			return errB
		}
		r, x, ok := parsePair(bytes.TrimSuffix(response, []byte("\n")), bytes.TrimSuffix(timing, []byte("\n")))
		if !ok {
			return fmt.Errorf("row %d of %s and %s cannot be read", n, evidence.OutResponses, evidence.OutTimings)
		}
		f(r, x)
	}
}

func readKept(from step.Earlier) (k evidence.Kept, err error) {
	rc, err := from.Open(evidence.OutKept)
	if errors.Is(err, step.ErrNoInput) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	defer rc.Close()
	b, err := io.ReadAll(rc)
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	return k, err
}

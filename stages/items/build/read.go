package build

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// reading spools what the logs ask. The requests file has the items; the times
// file has the window of each, so that sampling does not read the requests.
type reading struct {
	o        *Options
	parser   *parser
	report   *Report
	requests *spool
	times    *spool
}

// rawBatch is a run of lines of one source.
type rawBatch struct {
	source string
	buf    []byte
	lines  []rawLine
}

type rawLine struct {
	end  int
	num  int
	long bool
}

// readBatch is a rawBatch as records, with what was left out.
type readBatch struct {
	buf     []byte
	ends    []int
	windows []int64
	skips   []Skip
	reasons []reason
	cut     int

	unmapped int
}

func (rd *reading) readAll(ctx context.Context) error {
	for _, src := range rd.o.Logs {
		if err := rd.readSource(ctx, src); err != nil {
			return fmt.Errorf("%s: %w", src.Name, err)
		}
	}
	return rd.refuse()
}

func (rd *reading) readSource(ctx context.Context, src Source) error {
	r, err := src.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	ls := newLines(r, rd.o.MaxLine)
	done := false
	next := func() (*rawBatch, error) {
		if done {
			return nil, io.EOF
		}
		b := &rawBatch{source: src.Name, buf: make([]byte, 0, batchBytes+batchBytes/8)}
		for len(b.buf) < batchBytes && len(b.lines) < 1<<13 { // blank and long lines add no bytes
			line, long, err := ls.next()
			if err == io.EOF {
				done = true
				break
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", ls.n+1, err)
			}
			if long {
				line = nil
			}
			b.buf = append(b.buf, line...)
			b.lines = append(b.lines, rawLine{len(b.buf), ls.n, long})
		}
		return b, nil
	}
	return ordered(ctx, next, rd.parse, rd.store)
}

// parse runs in several goroutines.
func (rd *reading) parse(in *rawBatch) (*readBatch, error) {
	out := &readBatch{buf: make([]byte, 0, len(in.buf)+len(in.buf)/4)}
	lo := 0
	for _, l := range in.lines {
		line := in.buf[lo:l.end:l.end]
		lo = l.end
		if blank(line) && !l.long {
			out.reasons = append(out.reasons, "")
			continue
		}
		req, err := rd.parser.parse(line)
		if l.long {
			err = tooLong
		}
		var why reason
		if errors.As(err, &why) {
			out.reasons = append(out.reasons, why)
			out.skips = append(out.skips, Skip{in.source, l.num, string(why)})
			continue
		}
		if out.buf, err = appendItem(out.buf, &req.item); err != nil {
			return nil, err
		}
		out.ends = append(out.ends, len(out.buf))
		out.windows = append(out.windows, rd.window(req.time))
		if req.cut {
			out.cut++
		}
		if req.unmapped {
			out.unmapped++
		}
	}
	return out, nil
}

func (rd *reading) window(t time.Time) int64 {
	if t.IsZero() {
		return undated
	}
	return windowOf(t, rd.o.Sample.Window)
}

func (rd *reading) store(b *readBatch) error {
	r := rd.report
	lo := 0
	for i, hi := range b.ends {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], uint64(b.windows[i]))
		if _, err := rd.times.append(w[:]); err != nil {
			return err
		}
		if _, err := rd.requests.append(b.buf[lo:hi]); err != nil {
			return err
		}
		lo = hi
	}
	for _, why := range b.reasons {
		r.skip(why)
	}
	r.Read += len(b.ends)
	r.Lines += len(b.ends)
	r.AnswersCut += b.cut
	r.UnmappedAnswers += b.unmapped
	if room := maxSkips - len(r.Skips); room > 0 {
		r.Skips = append(r.Skips, b.skips[:min(room, len(b.skips))]...)
	}
	return nil
}

// skip counts a line without a request; the empty reason is a blank line.
func (r *Report) skip(why reason) {
	if why == "" {
		r.Blank++
		return
	}
	r.Lines++
	r.Skipped++
	r.Reasons[string(why)]++
	if why.unsupported() {
		r.Unsupported++
		return
	}
	r.Broken++
}

// refuse is the answer to logs of another form: too many lines are broken, or
// there is no request at all.
func (rd *reading) refuse() error {
	r := rd.report
	if share := float64(r.Broken); share > rd.o.MaxBroken*float64(r.Lines) {
		return step.WithHint(fmt.Errorf("%d of %d lines are broken, %.1f %% (allowed: %g %%): %s; first %s", r.Broken, r.Lines,
			100*share/float64(r.Lines), 100*rd.o.MaxBroken, r.why(), r.firstBroken()),
			"say where a line has what in the field map, or allow more")
	}
	if r.Read == 0 && len(rd.o.Logs) > 0 {
		return step.WithHint(fmt.Errorf("none of %d lines is a request: %s", r.Lines, r.why()), "say where a line has what in the field map")
	}
	return nil
}

// why lists the reasons, the most frequent first.
func (r *Report) why() string {
	var all []string
	for why := range r.Reasons {
		all = append(all, why)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := r.Reasons[b] - r.Reasons[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, why := range all {
		all[i] = fmt.Sprintf("%s (%d)", why, r.Reasons[why])
	}
	return strings.Join(all, ", ")
}

func (r *Report) firstBroken() string {
	for _, s := range r.Skips {
		if !reason(s.Reason).unsupported() {
			return fmt.Sprintf("%s:%d", s.Source, s.Line)
		}
	}
	return "behind the lines that are listed"
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

func appendItem(buf []byte, it *items.Item) ([]byte, error) {
	b, err := jsonv2.Marshal(it, jsonv2.Deterministic(true))
	if err != nil {
		return buf, fmt.Errorf("item: %w", err)
	}
	return append(buf, b...), nil
}

// decodeItem reads what appendItem wrote.
func decodeItem(b []byte) (items.Item, error) {
	var it items.Item
	if err := jsonv2.Unmarshal(b, &it); err != nil {
		return it, fmt.Errorf("temporary file: %w", err)
	}
	if len(it.Scorer) == 0 {
		it.Scorer = nil
	}
	return it, nil
}

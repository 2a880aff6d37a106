package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// earlierOf is a finished job as others of its family see it.
func earlierOf(job *pintest.Job) step.Earlier {
	return step.Earlier{Key: step.Key(step.Sum(job.Output(evidence.OutTimings))), Record: 1, Open: func(output string) (io.ReadCloser, error) {
		b := job.Output(output)
		if b == nil {
			return nil, step.ErrNoInput
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

func keptOf(t testing.TB, job *pintest.Job) (k evidence.Kept) {
	t.Helper()
	if b := job.Output(evidence.OutKept); b != nil {
		if err := json.Unmarshal(b, &k); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
	return k
}

// spansOf are when a job's requests were in flight.
func spansOf(t testing.TB, job *pintest.Job) (out []metric.Span) {
	for _, r := range rows[evidence.TimingRow](t, job.Output(evidence.OutTimings)) {
		out = append(out, metric.Span{Start: r.Times.StartUnixNS, End: r.Times.StartUnixNS + r.Times.End})
	}
	return out
}

// besideOf are when others were, as the record counts them.
func besideOf(t testing.TB, job *pintest.Job) (out []metric.Span) {
	for _, at := range keptOf(t, job).Beside {
		out = append(out, at.Span)
	}
	return out
}

// timedEcho takes a second, and notes on the wall clock when.
func timedEcho(ctx context.Context, r llm.Request) llm.Response {
	began := time.Now()
	time.Sleep(time.Second) // of the bubble's clock
	out := echo(ctx, r)
	out.Times.StartUnixNS, out.Times.End = began.UnixNano(), time.Since(began).Nanoseconds()
	return out
}

// TestTakeOver: whatever sets come one after another, only requests that no
// earlier one has are sent, the answers are those of a set that was asked as a
// whole, and so is the cost: between that of all requests alone and that of all
// in company.
func TestTakeOver(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			var earlier []step.Earlier
			answered := map[string]bool{}
			for range rapid.IntRange(1, 5).Draw(rt, "sets") {
				q := quality(func(q *spec.Quality) {
					q.Samples, q.Repeats = rapid.IntRange(1, 3).Draw(rt, "samples"), rapid.IntRange(1, 2).Draw(rt, "repeats")
					q.Limit = rapid.IntRange(0, 2).Draw(rt, "limit")
				})
				var items bytes.Buffer
				for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(rt, "items")[:rapid.IntRange(1, 6).Draw(rt, "n")] {
					fmt.Fprintf(&items, `{"id":"i%d","strata":{"task":"t%d"},"input":"question %d.%d","scorer":"exact","answer":"x"}`+"\n", i, i%2, i, rapid.IntRange(0, 1).Draw(rt, "version"))
				}
				whole, grown := generateJob(t, q, items.Bytes()), generateJob(t, q, items.Bytes())
				if err := generate(t, whole, endpoint(echo)); err != nil {
					rt.Fatal(err)
				}
				grown.Before = slices.Clone(earlier)
				ep := endpoint(timedEcho)
				if err := generate(t, grown, ep); err != nil {
					rt.Fatal(err)
				}
				if !bytes.Equal(whole.Output(evidence.OutResponses), grown.Output(evidence.OutResponses)) {
					rt.Fatalf("other answers than a set that was asked as a whole:\n%s", grown.Output(evidence.OutResponses))
				}
				want := 0
				for _, r := range rows[evidence.ResponseRow](t, grown.Output(evidence.OutResponses)) {
					if at := fmt.Sprint(r.ID, r.Sample, r.Repeat, r.Request); !answered[at] {
						answered[at] = true
						want++
					}
				}
				k := keptOf(t, grown)
				if len(ep.Sent()) != want || k.Rows > 0 && k.Asked != want {
					rt.Fatalf("%d sent, %+v, want %d", len(ep.Sent()), k, want)
				}
				// Each request is one second, two at a time.
				busy := *metric.Busy(spansOf(t, grown), besideOf(t, grown)).Value
				n := float64(len(spansOf(t, grown)))
				if busy < n/2-1e-6 || busy > n+1e-6 {
					rt.Fatalf("%v s for %v requests of a second each, two at a time", busy, n)
				}
				if k.Rows > 0 {
					if all := *metric.Busy(slices.Concat(spansOf(t, grown), besideOf(t, grown)), nil).Value; busy > all+1e-6 {
						rt.Fatalf("%v s, more than the %v s of all", busy, all)
					}
				}
				earlier = append([]step.Earlier{earlierOf(grown)}, earlier...)
				time.Sleep(time.Minute)
			}
		})
	})
}

// TestCostOfAPart: of eight requests, two at a time, four seconds long, the set
// that keeps every second one costs two seconds, and a set made of that one
// costs no more although it never saw the others.
func TestCostOfAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := func(job *pintest.Job) float64 {
			return *metric.Busy(spansOf(t, job), besideOf(t, job)).Value
		}
		whole := generateJob(t, quality(), suite(8))
		if err := generate(t, whole, endpoint(timedEcho)); err != nil || busy(whole) != 4 {
			t.Fatalf("%v, %v s", err, busy(whole))
		}
		part := generateJob(t, quality(func(q *spec.Quality) { q.Where = map[string][]string{"task": {"t0"}} }), suite(8))
		part.Before = []step.Earlier{earlierOf(whole)}
		ep := endpoint(timedEcho)
		if err := generate(t, part, ep); err != nil || len(ep.Sent()) != 0 || math.Abs(busy(part)-2) > 1e-6 {
			t.Errorf("%v, %d sent, %v s", err, len(ep.Sent()), busy(part))
		}
		time.Sleep(time.Hour)
		again := generateJob(t, quality(func(q *spec.Quality) { q.Where, q.Limit = map[string][]string{"task": {"t0"}}, 5 }), suite(12))
		again.Before = []step.Earlier{earlierOf(part)}
		ep = endpoint(timedEcho)
		if err := generate(t, again, ep); err != nil || len(ep.Sent()) != 1 || math.Abs(busy(again)-3) > 1e-6 {
			t.Errorf("%v, %d sent, %v s: want the share of four and a second of the new one", err, len(ep.Sent()), busy(again))
		}
		if k := keptOf(t, again); k.Rows != 4 || k.Asked != 1 || len(k.From) != 1 || k.From[0].Rows != 4 || len(k.Beside) != 4 {
			t.Errorf("%+v", k)
		}
		// Where all are wanted again, none is beside another.
		all := generateJob(t, quality(func(q *spec.Quality) { q.Limit = 9 }), suite(8))
		all.Before = []step.Earlier{earlierOf(part), earlierOf(whole)}
		ep = endpoint(timedEcho)
		if err := generate(t, all, ep); err != nil || len(ep.Sent()) != 0 || busy(all) != 4 {
			t.Errorf("%v, %d sent, %v s", err, len(ep.Sent()), busy(all))
		}
		if k := keptOf(t, all); len(k.From) != 2 || len(k.Beside) != 0 {
			t.Errorf("%+v", k)
		}
		if want := []string{"8 rows kept from 2 earlier sets, 0 asked"}; !slices.Equal(all.Remarks, want) {
			t.Errorf("%v", all.Remarks)
		}
	})
}

// TestFailedRowsAreAskedAgain: also where an older record has an answer.
func TestFailedRowsAreAskedAgain(t *testing.T) {
	good := generateJob(t, quality(), suite(3))
	if err := generate(t, good, endpoint(echo)); err != nil {
		t.Fatal(err)
	}
	bad := generateJob(t, quality(), suite(4))
	if err := generate(t, bad, endpoint(func(ctx context.Context, r llm.Request) llm.Response {
		if strings.Contains(r.Messages[1].Content, "<1>") {
			return failing(llm.Failure{Class: llm.ClassEmpty})
		}
		return echo(ctx, r)
	})); err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string][]step.Earlier{"alone": {earlierOf(bad)}, "before an answer": {earlierOf(bad), earlierOf(good)}} {
		job, ep := generateJob(t, quality(), suite(5)), endpoint(echo)
		job.Before = before
		if err := generate(t, job, ep); err != nil || len(ep.Sent()) != 2 {
			t.Errorf("%s: %v, %d sent", name, err, len(ep.Sent()))
		}
		if strings.Contains(string(job.Output(evidence.OutResponses)), "failure") {
			t.Errorf("%s: a failed row was taken over", name)
		}
	}
	job, ep := generateJob(t, quality(), suite(5)), endpoint(echo)
	job.Before = []step.Earlier{earlierOf(good), earlierOf(bad)}
	if err := generate(t, job, ep); err != nil || len(ep.Sent()) != 1 {
		t.Errorf("answered since: %v, %d sent", err, len(ep.Sent()))
	}
}

// TestDamagedEarlier: an earlier record is used as a whole or not at all.
func TestDamagedEarlier(t *testing.T) {
	whole := generateJob(t, quality(), suite(3))
	if err := generate(t, whole, endpoint(echo)); err != nil {
		t.Fatal(err)
	}
	sound := earlierOf(whole)
	with := func(output string, change func([]byte) io.Reader) step.Earlier {
		e := sound
		e.Open = func(name string) (io.ReadCloser, error) {
			if name != output {
				return sound.Open(name)
			}
			return io.NopCloser(change(whole.Output(name))), nil
		}
		return e
	}
	damaged := errors.New("it hashes to something else")
	for name, e := range map[string]step.Earlier{
		"gone": {Open: func(string) (io.ReadCloser, error) { return nil, damaged }},
		"damaged at the end": with(evidence.OutResponses, func(b []byte) io.Reader {
			return io.MultiReader(bytes.NewReader(b), failingReader{damaged})
		}),
		"damaged times": with(evidence.OutTimings, func(b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b), failingReader{damaged}) }),
		"a row less": with(evidence.OutTimings, func(b []byte) io.Reader {
			return bytes.NewReader(b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1])
		}),
		"other rows": with(evidence.OutTimings, func(b []byte) io.Reader { return bytes.NewReader(bytes.ReplaceAll(b, []byte("i01"), []byte("i02"))) }),
		"no rows":    with(evidence.OutResponses, func([]byte) io.Reader { return strings.NewReader("rows\n") }),
		"kept":       with(evidence.OutKept, func([]byte) io.Reader { return strings.NewReader("[]") }),
	} {
		job, ep := generateJob(t, quality(), suite(4)), endpoint(echo)
		job.Before = []step.Earlier{e}
		if err := generate(t, job, ep); err != nil || len(ep.Sent()) != 4 || job.Output(evidence.OutKept) != nil {
			t.Errorf("%s: %v, %d sent", name, err, len(ep.Sent()))
		}
		if len(job.Remarks) != 1 || !strings.Contains(job.Remarks[0], "its rows are not used") {
			t.Errorf("%s: remarks %q", name, job.Remarks)
		}
		job, ep = generateJob(t, quality(), suite(4)), endpoint(echo)
		job.Before = []step.Earlier{e, sound}
		if err := generate(t, job, ep); err != nil || len(ep.Sent()) != 1 || len(job.Remarks) != 2 {
			t.Errorf("%s, and a sound one: %v, %d sent, %q", name, err, len(ep.Sent()), job.Remarks)
		}
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// TestGrowingInterrupted: the journal's rows come first, the rest of the earlier
// set is there in the next attempt as well.
func TestGrowingInterrupted(t *testing.T) {
	whole := generateJob(t, quality(), suite(3))
	if err := generate(t, whole, endpoint(echo)); err != nil {
		t.Fatal(err)
	}
	first := generateJob(t, quality(), suite(8))
	first.Before = []step.Earlier{earlierOf(whole)}
	down := func(ctx context.Context, r llm.Request) llm.Response {
		if strings.Contains(r.Messages[1].Content, "<5>") {
			return failing(llm.Failure{Class: llm.ClassTimeout})
		}
		return echo(ctx, r)
	}
	if err := generate(t, first, endpoint(down)); !errors.Is(err, step.ErrOutside) || len(first.Lines) != 4 || first.Output(evidence.OutKept) != nil {
		t.Fatalf("%v, %d journaled", err, len(first.Lines))
	}
	again, ep := generateJob(t, quality(), suite(8)), endpoint(echo)
	again.Lines, again.Before = first.Lines, first.Before
	if err := generate(t, again, ep); err != nil || len(ep.Sent()) != 1 {
		t.Errorf("%v, %d sent", err, len(ep.Sent()))
	}
	if k := keptOf(t, again); k.Rows != 3 || k.Asked != 5 {
		t.Errorf("%+v", k)
	}
}

// TestRecordFailuresOfAGrownSet: what an earlier set has answered does not show
// that the endpoint answers now.
func TestRecordFailuresOfAGrownSet(t *testing.T) {
	record := quality(func(q *spec.Quality) { q.Failures = "record" })
	whole := generateJob(t, record, suite(3))
	if err := generate(t, whole, endpoint(echo)); err != nil {
		t.Fatal(err)
	}
	job := generateJob(t, record, suite(5))
	job.Before = []step.Earlier{earlierOf(whole)}
	ep := endpoint(func(context.Context, llm.Request) llm.Response { return failing(llm.Failure{Class: llm.ClassTimeout}) })
	if err := generate(t, job, ep); !errors.Is(err, step.ErrOutside) || job.Output(evidence.OutResponses) != nil {
		t.Errorf("nothing was answered: %v", err)
	}
}

// TestForecast: the plan's number is that of the requests that are sent, for an
// endpoint that is known by its pin alone.
func TestForecast(t *testing.T) {
	id := llm.Identity{API: llm.OpenAI, Served: "m"}
	prepared := func(job *pintest.Job) *pintest.Job {
		doc, err := json.Marshal(evidence.PinDoc{Observed: id})
		if err != nil {
			t.Fatal(err)
		}
		job.Inputs["pin"] = doc
		return job
	}
	real := func(job *pintest.Job) *onWire {
		ep := &onWire{Endpoint: endpoint(nil), prepare: llm.PrepareFor(id)}
		ep.ID = id
		if err := (Generate{Dial: dial(ep), Backoff: noWait}).Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		return ep
	}
	g := Generate{}
	job := prepared(generateJob(t, quality(), suite(4)))
	if cost, note, err := g.Forecast(job); err != nil || note != "" || cost != (step.Cost{Requests: 4, Tokens: 400, Exact: true}) {
		t.Errorf("nothing there: %+v %q %v", cost, note, err)
	}
	real(job)
	grown := prepared(generateJob(t, quality(func(q *spec.Quality) { q.Samples = 2 }), suite(6)))
	grown.Before = []step.Earlier{earlierOf(job)}
	grown.Lines = job.Lines[:1] // an answer that the journal has as well is not kept twice
	cost, note, err := g.Forecast(grown)
	if err != nil || note != "3 rows kept from an earlier set, 8 asked" || cost.Requests != 8 || !cost.Exact {
		t.Errorf("%+v %q %v", cost, note, err)
	}
	if ep := real(grown); ep.sent.Load() != 8 {
		t.Errorf("%d sent", ep.sent.Load())
	}
	id.ServedCut = true // the name that requests use is not known here
	if cost, note, err := g.Forecast(prepared(grown)); err != nil || note != "" || cost != (step.Cost{Requests: 12, Tokens: 1200}) {
		t.Errorf("a name that was cut: %+v %q %v", cost, note, err)
	}
	id.ServedCut = false
	for name, broken := range map[string]*pintest.Job{
		"no worker": generateJob(t, quality(func(q *spec.Quality) { q.Concurrency = 0 }), suite(1)),
		"no item":   generateJob(t, quality(func(q *spec.Quality) { q.Where = map[string][]string{"a": {"b"}} }), suite(1)),
	} {
		if _, _, err := g.Forecast(broken); err == nil {
			t.Errorf("%s: a forecast", name)
		}
	}
	nobody := generateJob(t, quality(), suite(1))
	nobody.Before = []step.Earlier{earlierOf(job)} // the pin says no API
	if _, _, err := g.Forecast(nobody); err == nil {
		t.Error("a forecast for an endpoint that nothing is known of")
	}
}

// onWire prepares as a client does and answers everything.
type onWire struct {
	*pintest.Endpoint
	prepare prepare
	sent    atomic.Int64
}

func (o *onWire) Prepare(r llm.Request) (*llm.Prepared, error) { return o.prepare(r) }

func (o *onWire) Do(context.Context, *llm.Prepared) llm.Response {
	o.sent.Add(1)
	return llm.Response{Text: "x", FinishReason: "stop"}
}

// TestWhatGrows: every parameter of a generation is either named as one that
// says how much is asked, or part of the family. A new one is a decision.
func TestWhatGrows(t *testing.T) {
	var all []string
	for f := range reflect.TypeFor[generateParams]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
	}
	want := slices.Sorted(slices.Values(slices.Concat(grows.Params, []string{"sampling", "reasoning", "systemPrompt", "concurrency"})))
	slices.Sort(all)
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	s := Steps(&spec.Campaign{Candidates: map[string]spec.Candidate{"a": {}}, Measure: map[string]spec.Workload{"q": {Quality: &spec.Quality{}}}})[0]
	if s.Grows != &grows {
		t.Errorf("%+v", s.Grows)
	}
	for _, name := range grows.Inputs {
		if _, ok := s.Inputs[name]; !ok {
			t.Errorf("%s is no input", name)
		}
	}
}

func TestKeptNote(t *testing.T) {
	for n, want := range map[int]string{1: "1 row kept from an earlier set, 0 asked", 1960: "1,960 rows kept from an earlier set, 1,234,567 asked"} {
		x, asked := newTakeover(), 0
		x.from = make([]evidence.KeptFrom, 1)
		for i := range n {
			x.rows[rowKey{Sample: i}] = row{}
		}
		if n > 1 {
			asked = 1234567
		}
		if got := x.note(asked); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzEarlier: whatever an earlier record holds, it is read to its end or not
// used; what is taken over answers what was wanted.
func FuzzEarlier(f *testing.F) {
	f.Add([]byte(`{"id":"a","request":"`+strings.Repeat("0", 63)+`1"}`+"\n"), []byte(`{"id":"a","times":{"start_unix_ns":5,"end_ns":7}}`+"\n"), []byte(`{"beside":[{"id":"b","start":6,"end":9}]}`))
	f.Add([]byte("\n"), []byte("{}"), []byte("null"))
	f.Fuzz(func(t *testing.T, responses, timings, kept []byte) {
		request := step.Digest{31: 1}
		x := newTakeover()
		x.wanted[rowKey{ID: "a"}] = request
		err := x.read(step.Earlier{Open: func(output string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(map[string][]byte{evidence.OutResponses: responses, evidence.OutTimings: timings, evidence.OutKept: kept}[output])), nil
		}})
		if err != nil && (len(x.rows) > 0 || len(x.wanted) != 1) {
			t.Fatalf("%v, and %+v was taken over", err, x.rows)
		}
		for key, r := range x.rows {
			if key != r.Key || key.ID != "a" || r.Request != request {
				t.Fatalf("%+v is not what was wanted", r)
			}
		}
		for _, at := range x.kept(1).Beside {
			if x.own[at] {
				t.Fatalf("%+v is beside itself", at)
			}
		}
	})
}

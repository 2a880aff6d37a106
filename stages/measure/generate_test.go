package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// suite returns n items; every third has its own system text.
func suite(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		system := ""
		if i%3 == 2 {
			system = `,"system":"own"`
		}
		fmt.Fprintf(&b, `{"id":"i%02d","strata":{"task":"t%d"},"input":"question <%d>","scorer":"exact","answer":"x"%s}`+"\n", i, i%2, i, system)
	}
	return b.Bytes()
}

// echo answers with what identifies the request, at once.
func echo(_ context.Context, r llm.Request) llm.Response {
	n := int64(4)
	return llm.Response{Text: fmt.Sprintf("%s & %d\u2028", r.Messages[len(r.Messages)-1].Content, r.Sampling.Seed), FinishReason: "stop", Model: "m",
		Usage: &llm.Usage{OutputTokens: &n}, Times: llm.Times{FirstVisible: rand.Int64N(1e9), End: 1e9}, ContentChunks: 2}
}

func failing(f llm.Failure) llm.Response { return llm.Response{Failure: &f} }

var me = llm.Identity{Served: "m", EngineVersion: "1"}

func endpoint(answer func(context.Context, llm.Request) llm.Response) *pintest.Endpoint {
	return &pintest.Endpoint{ID: me, Answer: answer}
}

func quality(change ...func(*spec.Quality)) spec.Quality {
	q := spec.Quality{Samples: 1, Repeats: 1, Concurrency: 2, Stratify: "task", Retries: 2, Timeout: "5m"}
	for _, f := range change {
		f(&q)
	}
	return q
}

func generateJob(t testing.TB, q spec.Quality, items []byte) *pintest.Job {
	t.Helper()
	c := spec.Candidate{SystemPrompt: "be brief", Sampling: spec.Sampling{TopP: 1, Seed: 5, MaxTokens: 64}, Reasoning: &spec.Reasoning{Control: "none", HeadroomTokens: 36}}
	doc, err := json.Marshal(evidence.PinDoc{Observed: me})
	if err != nil {
		t.Fatal(err)
	}
	return &pintest.Job{
		S:      step.Step{Name: "measure/fp8/support/generate", Where: "fp8", Params: plain(newGenerateParams(c, q)), Hints: plain(generateHints{q.Retries, q.Timeout})},
		Inputs: map[string][]byte{pin.Input: doc, itemsInput: items},
	}
}

func dial(ep Endpoint) Dial { return func(Need) (Endpoint, error) { return ep, nil } }

func noWait(int) time.Duration { return 0 }

func generate(t testing.TB, job *pintest.Job, ep *pintest.Endpoint) error {
	t.Helper()
	err := Generate{Dial: dial(ep), Backoff: noWait}.Run(context.Background(), job)
	if ep.Closed != 1 {
		t.Errorf("the endpoint was closed %d times", ep.Closed)
	}
	return err
}

func rows[T any](t testing.TB, b []byte) (out []T) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, v)
	}
	return out
}

// TestOrder: answers come back out of order, rows stand in file order, then by
// sample and repeat; the requests carry what the campaign says.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []llm.Request
		rng := rand.New(rand.NewPCG(1, 2))
		ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
			mu.Lock()
			asked = append(asked, r)
			d := time.Duration(rng.IntN(1000)) * time.Millisecond
			mu.Unlock()
			time.Sleep(d) // of the bubble's clock
			return echo(ctx, r)
		})
		job := generateJob(t, quality(func(q *spec.Quality) { q.Samples, q.Repeats, q.Concurrency = 2, 2, 5 }), suite(9))
		if err := generate(t, job, ep); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, r := range rows[evidence.ResponseRow](t, job.Output(evidence.OutResponses)) {
			got = append(got, fmt.Sprintf("%s %d %d %s", r.ID, r.Sample, r.Repeat, r.Text))
		}
		timings := rows[evidence.TimingRow](t, job.Output(evidence.OutTimings))
		for i := range 36 {
			id, s, r := i/4, i/2%2, i%2
			want = append(want, fmt.Sprintf("i%02d %d %d question <%d> & %d\u2028", id, s, r, id, 5+s))
			if x := timings[i]; x.ID != fmt.Sprintf("i%02d", id) || x.Sample != s || x.Repeat != r || x.Attempts != 1 || x.Times.End != 1e9 || x.ContentChunks != 2 {
				t.Errorf("timing %d: %+v", i, x)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		for _, r := range asked {
			own := strings.HasSuffix(r.Messages[1].Content, "2>") || strings.HasSuffix(r.Messages[1].Content, "5>") || strings.HasSuffix(r.Messages[1].Content, "8>")
			if len(r.Messages) != 2 || (r.Messages[0].Content == "own") != own || (r.Messages[0].Content == "be brief") == own || r.Sampling.MaxTokens != 100 || r.Sampling.TopP != 1 {
				t.Errorf("%+v", r)
			}
		}
		if last := job.Notes[len(job.Notes)-1]; !strings.HasPrefix(last, "36/36 ") || !strings.HasSuffix(last, "items/s") {
			t.Errorf("%q", last)
		}
	})
}

// TestControlIsSent: a generation asks for the reasoning that is declared.
func TestControlIsSent(t *testing.T) {
	job := generateJob(t, quality(), suite(2))
	job.S.Params = plain(generateParams{Samples: 1, Repeats: 1, Concurrency: 1, Reasoning: &spec.Reasoning{Control: "thinking-on"}})
	ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
		if r.Reasoning != "thinking-on" {
			t.Errorf("%q was sent", r.Reasoning)
		}
		return echo(ctx, r)
	})
	if err := generate(t, job, ep); err != nil {
		t.Fatal(err)
	}
}

// TestResume: with any part of an earlier journal, in any order and with
// damaged lines in it, only what is missing is sent, and the responses have the
// same bytes as those of an undisturbed run.
func TestResume(t *testing.T) {
	q := quality(func(q *spec.Quality) { q.Samples, q.Concurrency = 2, 3 })
	whole := generateJob(t, q, suite(6))
	if err := generate(t, whole, endpoint(echo)); err != nil {
		t.Fatal(err)
	}
	if len(whole.Lines) != 12 {
		t.Fatalf("%d lines in the journal", len(whole.Lines))
	}
	rapid.Check(t, func(rt *rapid.T) {
		kept := rapid.Permutation(whole.Lines).Draw(rt, "lines")[:rapid.IntRange(0, 12).Draw(rt, "kept")]
		job := generateJob(t, q, suite(6))
		job.Lines = slices.Concat([][]byte{[]byte("{"), nil, []byte(`{"response":{}}`)}, kept)
		ep := endpoint(echo)
		if err := generate(t, job, ep); err != nil {
			rt.Fatal(err)
		}
		if len(ep.Sent()) != 12-len(kept) {
			rt.Fatalf("%d sent, %d were missing", len(ep.Sent()), 12-len(kept))
		}
		if !bytes.Equal(job.Output(evidence.OutResponses), whole.Output(evidence.OutResponses)) {
			rt.Fatal("other bytes than an undisturbed run")
		}
		for _, line := range kept {
			var r row
			if err := json.Unmarshal(line, &r); err != nil || !bytes.Contains(job.Output(evidence.OutTimings), r.Timing) {
				rt.Fatalf("the timing of a kept row was not kept: %v %s", err, r.Timing)
			}
		}
	})
}

// TestChangedItemIsAskedAgain: a kept answer counts for the very same request.
func TestChangedItemIsAskedAgain(t *testing.T) {
	job := generateJob(t, quality(), suite(4))
	if err := generate(t, job, endpoint(echo)); err != nil {
		t.Fatal(err)
	}
	again := generateJob(t, quality(), bytes.Replace(suite(4), []byte("question <1>"), []byte("question <one>"), 1))
	again.Lines = job.Lines
	ep := endpoint(echo)
	if err := generate(t, again, ep); err != nil || len(ep.Sent()) != 1 {
		t.Fatalf("%v, %d sent", err, len(ep.Sent()))
	}
	if got := rows[evidence.ResponseRow](t, again.Output(evidence.OutResponses))[1].Text; !strings.Contains(got, "<one>") {
		t.Errorf("%q", got)
	}
}

func TestSelection(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*spec.Quality)
		want   []string
	}{
		"where":        {func(q *spec.Quality) { q.Where = map[string][]string{"task": {"t1", "none"}} }, []string{"i01", "i03", "i05", "i07"}},
		"limit":        {func(q *spec.Quality) { q.Limit = 2 }, []string{"i00", "i01", "i02", "i03"}},
		"where, limit": {func(q *spec.Quality) { q.Limit, q.Where = 1, map[string][]string{"task": {"t1"}} }, []string{"i01"}},
		"no item":      {func(q *spec.Quality) { q.Where = map[string][]string{"task": {"t9"}} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			job, ep := generateJob(t, quality(c.change), suite(8)), endpoint(echo)
			err := Generate{Dial: dial(ep)}.Run(t.Context(), job)
			var got []string
			for _, r := range rows[evidence.ResponseRow](t, job.Output(evidence.OutResponses)) {
				got = append(got, r.ID)
			}
			if d := cmp.Diff(c.want, got); d != "" || (err != nil) != (c.want == nil) {
				t.Errorf("%v %s", err, d)
			}
		})
	}
}

// TestOutsideFailures: answers are kept, the rest is an error with the
// endpoint's words, and the next run sends only the rest.
func TestOutsideFailures(t *testing.T) {
	bad := func(f llm.Failure) func(context.Context, llm.Request) llm.Response {
		return func(ctx context.Context, r llm.Request) llm.Response {
			if strings.Contains(r.Messages[1].Content, "<2>") {
				return failing(f)
			}
			return echo(ctx, r)
		}
	}
	for _, c := range []struct {
		f    llm.Failure
		want error
		sent int // of 5 items, retries counted
	}{
		{llm.Failure{Class: llm.ClassUnreachable, Message: "connection refused", NoByte: true}, step.ErrUnreachable, 7},
		{llm.Failure{Class: llm.ClassUnreachable, Message: "reset"}, step.ErrUnreachable, 5},
		{llm.Failure{Class: llm.ClassOverload, Status: 429, Message: "slow down"}, step.ErrOutside, 7},
		{llm.Failure{Class: llm.ClassServerError, Status: 500, Message: "oom"}, step.ErrOutside, 7},
		{llm.Failure{Class: llm.ClassTimeout, Message: "deadline"}, step.ErrOutside, 5},
		{llm.Failure{Class: llm.ClassAuth, Status: 401, Message: "no key"}, step.ErrOutside, 5},
		{llm.Failure{Class: llm.ClassProtocol, Message: "html"}, step.ErrOutside, 5},
	} {
		t.Run(string(c.f.Class), func(t *testing.T) {
			job, ep := generateJob(t, quality(), suite(5)), endpoint(bad(c.f))
			err := generate(t, job, ep)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.f.Message) || !strings.Contains(err.Error(), "1 of 5 requests") {
				t.Errorf("%v", err)
			}
			if len(ep.Sent()) != c.sent || len(job.Lines) != 4 || job.Output(evidence.OutResponses) != nil {
				t.Errorf("%d sent, %d journaled", len(ep.Sent()), len(job.Lines))
			}
			again, well := generateJob(t, quality(), suite(5)), endpoint(echo)
			again.Lines = job.Lines
			if err := generate(t, again, well); err != nil || len(well.Sent()) != 1 {
				t.Errorf("%v, %d sent", err, len(well.Sent()))
			}
		})
	}
}

// With failures: record a request that the endpoint keeps failing for is a
// failed answer, but only beside requests that it answers.
func TestRecordFailures(t *testing.T) {
	down := func(ids string) func(context.Context, llm.Request) llm.Response {
		return func(ctx context.Context, r llm.Request) llm.Response {
			if strings.ContainsAny(r.Messages[1].Content, ids) {
				return failing(llm.Failure{Class: llm.ClassTimeout, Message: "dial 127.0.0.1:8000: deadline"})
			}
			return echo(ctx, r)
		}
	}
	record := quality(func(q *spec.Quality) { q.Failures = "record" })
	job := generateJob(t, record, suite(5))
	if err := generate(t, job, endpoint(down("2"))); err != nil {
		t.Fatal(err)
	}
	out := string(job.Output(evidence.OutResponses))
	if strings.Count(out, "\n") != 5 || !strings.Contains(out, `"class":"timeout"`) || strings.Contains(out, "127.0.0.1") || len(job.Lines) != 4 {
		t.Errorf("%d journaled:\n%s", len(job.Lines), out)
	}
	all := generateJob(t, record, suite(5))
	if err := generate(t, all, endpoint(down("01234"))); !errors.Is(err, step.ErrOutside) || all.Output(evidence.OutResponses) != nil {
		t.Errorf("nothing was answered: %v", err)
	}
	plain, recorded := generateJob(t, quality(), nil).S.Params, job.S.Params
	if string(plain) == string(recorded) {
		t.Error("the option is not in the key")
	}
}

// TestResultsAboutTheCandidate: failures that are not the outside's are rows.
func TestResultsAboutTheCandidate(t *testing.T) {
	for _, class := range []llm.Class{llm.ClassRejected, llm.ClassInBandError, llm.ClassInvalidJSON, llm.ClassEmpty, llm.ClassWrongModel, llm.ClassInconsistent, llm.ClassCutStream} {
		job := generateJob(t, quality(), suite(2))
		ep := endpoint(func(context.Context, llm.Request) llm.Response {
			return llm.Response{Text: "part", Failure: &llm.Failure{Class: class, Message: "said"}}
		})
		if err := generate(t, job, ep); err != nil || len(ep.Sent()) != 2 {
			t.Errorf("%s: %v, %d sent", class, err, len(ep.Sent()))
			continue
		}
		if r := rows[evidence.ResponseRow](t, job.Output(evidence.OutResponses))[1]; r.Failure.Class != class || r.Failure.Message != "said" || r.Text != "part" {
			t.Errorf("%s: %+v", class, r)
		}
	}
}

// TestCutStreamsOfAKilledServer: what was cut when the server went is asked
// for again.
func TestCutStreamsOfAKilledServer(t *testing.T) {
	ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
		switch q := r.Messages[1].Content; {
		case strings.Contains(q, "<0>"):
			return echo(ctx, r)
		case strings.Contains(q, "<1>"):
			return failing(llm.Failure{Class: llm.ClassCutStream})
		}
		return failing(llm.Failure{Class: llm.ClassUnreachable, NoByte: true})
	})
	job := generateJob(t, quality(func(q *spec.Quality) { q.Concurrency, q.Retries = 1, 0 }), suite(30))
	err := generate(t, job, ep)
	if !errors.Is(err, step.ErrUnreachable) || len(job.Lines) != 1 {
		t.Errorf("%v, %d journaled", err, len(job.Lines))
	}
	// One answered, one cut, three refused: nothing succeeds any more. The next
	// one may be under way by then.
	if n := len(ep.Sent()); n < 5 || n > 6 {
		t.Errorf("%d sent", n)
	}
	if !strings.Contains(err.Error(), "of 30 requests") || !strings.Contains(err.Error(), "1 were answered, 1 cut off") {
		t.Error(err)
	}
}

// TestPatience: an endpoint that fails now and then is gone on with.
func TestPatience(t *testing.T) {
	n := 0
	ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
		if n++; n%3 != 0 {
			return failing(llm.Failure{Class: llm.ClassTimeout})
		}
		return echo(ctx, r)
	})
	job := generateJob(t, quality(func(q *spec.Quality) { q.Concurrency = 1 }), suite(30))
	if err := generate(t, job, ep); !errors.Is(err, step.ErrOutside) || len(ep.Sent()) != 30 || len(job.Lines) != 10 {
		t.Errorf("%v: %d sent, %d journaled", err, len(ep.Sent()), len(job.Lines))
	}
}

// TestInterruptedAtTheEnd: an interrupt while the identity is read again is an
// interrupt, and all answers are kept.
func TestInterruptedAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ep := &dying{Endpoint: endpoint(echo), dies: cancel}
	job := generateJob(t, quality(), suite(3))
	if err := (Generate{Dial: dial(ep)}).Run(ctx, job); err != context.Canceled || len(job.Lines) != 3 {
		t.Errorf("%v, %d journaled", err, len(job.Lines))
	}
}

// TestCutAtTheEnd: nothing was refused after the cut, as nothing was left to
// send; the identity that cannot be read tells.
func TestCutAtTheEnd(t *testing.T) {
	ep := endpoint(func(context.Context, llm.Request) llm.Response {
		return failing(llm.Failure{Class: llm.ClassCutStream})
	})
	gone := &dying{Endpoint: ep}
	job := generateJob(t, quality(), suite(1))
	err := Generate{Dial: dial(gone)}.Run(t.Context(), job)
	if !errors.Is(err, step.ErrUnreachable) || len(job.Lines) != 0 || job.Output(evidence.OutResponses) != nil {
		t.Errorf("%v, %d journaled", err, len(job.Lines))
	}
}

// dying says what it is once.
type dying struct {
	*pintest.Endpoint
	asked int
	dies  func()
}

func (d *dying) Identity(ctx context.Context) (llm.Identity, error) {
	if d.asked++; d.asked > 1 {
		if d.dies != nil {
			d.dies()
		}
		return llm.Identity{}, fmt.Errorf("dial: %w", step.ErrUnreachable)
	}
	return d.Endpoint.Identity(ctx)
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
			switch n++; n {
			case 1:
				return failing(llm.Failure{Class: llm.ClassOverload, Status: 503, RetryAfter: 7})
			case 2:
				return failing(llm.Failure{Class: llm.ClassUnreachable, NoByte: true})
			case 3:
				return failing(llm.Failure{Class: llm.ClassOverload, Status: 429, RetryAfter: 3600})
			}
			return echo(ctx, r)
		})
		job := generateJob(t, quality(func(q *spec.Quality) { q.Retries = 3 }), suite(1))
		began := time.Now()
		if err := (Generate{Dial: dial(ep)}).Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		// 7 s as asked, then our own second, then 30 s of the hour asked.
		if got := time.Since(began); got != 38*time.Second {
			t.Errorf("waited %s", got)
		}
		if x := rows[evidence.TimingRow](t, job.Output(evidence.OutTimings))[0]; x.Attempts != 4 {
			t.Errorf("%+v", x)
		}
	})
}

func TestDefaultBackoff(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 6: 16 * time.Second, 7: 30 * time.Second, 1000: 30 * time.Second} {
		if got := DefaultBackoff(n); got != want {
			t.Errorf("attempt %d: %s, want %s", n, got, want)
		}
	}
}

// TestStop: cancelling stops sending and lets what is in flight finish; Kill
// ends that too.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct{ kill, kept bool }{"cancelled": {false, true}, "killed": {true, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				kill := make(chan struct{})
				ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
					select {
					case <-time.After(time.Minute):
						return echo(ctx, r)
					case <-ctx.Done():
						return failing(llm.Failure{Class: llm.ClassCanceled})
					}
				})
				time.AfterFunc(90*time.Second, cancel)
				if c.kill {
					time.AfterFunc(100*time.Second, func() { close(kill) })
				}
				job := generateJob(t, quality(func(q *spec.Quality) { q.Concurrency = 3 }), suite(20))
				err := Generate{Dial: dial(ep), Kill: kill}.Run(ctx, job)
				want := 3
				if c.kept {
					want = 6
				}
				if err != context.Canceled || len(job.Lines) != want || len(ep.Sent()) != 6 || job.Output(evidence.OutResponses) != nil {
					t.Errorf("%v: %d journaled, %d sent", err, len(job.Lines), len(ep.Sent()))
				}
			})
		})
	}
}

// TestCancelWhileWaiting: a retry that is being waited for is not made.
func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ep := endpoint(func(context.Context, llm.Request) llm.Response {
			return failing(llm.Failure{Class: llm.ClassOverload, Status: 503, RetryAfter: 20})
		})
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		err := Generate{Dial: dial(ep)}.Run(ctx, generateJob(t, quality(), suite(1)))
		if err != context.Canceled || time.Since(began) != time.Second || len(ep.Sent()) != 1 {
			t.Errorf("%v after %s, %d sent", err, time.Since(began), len(ep.Sent()))
		}
	})
}

// TestDrift: an endpoint that is another one afterwards leaves evidence, and no
// journal to go on with.
func TestDrift(t *testing.T) {
	other := me
	other.EngineVersion = "2"
	ep := endpoint(echo)
	ep.IDs = []llm.Identity{me, other}
	job := generateJob(t, quality(), suite(3))
	err := generate(t, job, ep)
	var drift *step.Drift
	if !errors.As(err, &drift) || len(rows[evidence.ResponseRow](t, job.Output(evidence.OutResponses))) != 3 {
		t.Fatalf("%v", err)
	}
	again, back := generateJob(t, quality(), suite(3)), endpoint(echo)
	again.Lines = job.Lines
	if err := generate(t, again, back); err != nil || len(back.Sent()) != 3 {
		t.Errorf("%v, %d sent", err, len(back.Sent()))
	}
	before := endpoint(echo)
	before.ID = other
	if err := generate(t, generateJob(t, quality(), suite(3)), before); !errors.As(err, &drift) || len(before.Sent()) != 0 {
		t.Errorf("%v, %d sent to another endpoint than the pin's", err, len(before.Sent()))
	}
}

func TestFullDisk(t *testing.T) {
	full := errors.New("no space left")
	job, ep := generateJob(t, quality(), suite(50)), endpoint(echo)
	job.OnLine = func([]byte) error {
		if len(job.Lines) == 3 {
			return full
		}
		return nil
	}
	if err := generate(t, job, ep); !errors.Is(err, full) || len(job.Lines) != 3 || len(ep.Sent()) > 10 {
		t.Errorf("%v, %d journaled, %d sent", err, len(job.Lines), len(ep.Sent()))
	}
}

// TestNothingIsSentInVain: what cannot end well is found before the first
// request.
func TestNothingIsSentInVain(t *testing.T) {
	job := generateJob(t, quality(), append(suite(2), "{\n"...))
	split := generateJob(t, quality(func(q *spec.Quality) { q.Split = "half" }), suite(2))
	idle := generateJob(t, quality(func(q *spec.Quality) { q.Concurrency = 0 }), suite(2))
	slow := generateJob(t, quality(func(q *spec.Quality) { q.Timeout = "5" }), suite(2))
	for name, c := range map[string]struct {
		job  *pintest.Job
		want string
	}{"split": {split, `"half"`}, "no worker": {idle, "concurrency 0"}, "damaged items": {job, "items.jsonl:3"}, "timeout": {slow, `"5"`}} {
		ep := endpoint(echo)
		if err := (Generate{Dial: dial(ep)}).Run(t.Context(), c.job); err == nil || !strings.Contains(err.Error(), c.want) || len(ep.Sent()) != 0 {
			t.Errorf("%s: %v, %d sent", name, err, len(ep.Sent()))
		}
	}
	gone := Dial(func(Need) (Endpoint, error) { return nil, step.ErrUnreachable })
	if err := (Generate{Dial: gone}).Run(t.Context(), generateJob(t, quality(), suite(1))); !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
}

func TestNeed(t *testing.T) {
	var got Need
	d := Dial(func(n Need) (Endpoint, error) { got = n; return endpoint(echo), nil })
	if err := (Generate{Dial: d}).Run(t.Context(), generateJob(t, quality(), suite(1))); err != nil {
		t.Fatal(err)
	}
	if got != (Need{Candidate: "fp8", Timeout: 5 * time.Minute, Conns: 2}) {
		t.Errorf("%+v", got)
	}
}

// FuzzJournalLine: no line of a journal breaks a run; one that is accepted
// belongs to one row and says the same when written again.
func FuzzJournalLine(f *testing.F) {
	f.Add([]byte(`{"void":true}`))
	f.Add([]byte(`{"request":"` + strings.Repeat("0", 63) + `1","response":{"id":"a","request":"` + strings.Repeat("0", 63) + `1"},"timing":{"id":"a"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := parseRow(line)
		if !ok {
			return
		}
		again, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := parseRow(again); !ok || back.Key != r.Key || back.Request != r.Request {
			t.Fatalf("%s became %s", line, again)
		}
	})
}

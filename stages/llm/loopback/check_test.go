package loopback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
)

// three is a schedule of three events, and t0 the dispatch of a request to it.
var three = Schedule{First: 50 * time.Millisecond, Gap: 10 * time.Millisecond, Events: 3}

const t0 = int64(1_700_000_000_000_000_000)

// answered is the answer to a request dispatched at t0: what the server wrote
// into its events, as offsets from t0, and what the client stamped.
func answered(wrote, stamped [3]time.Duration) llm.Response {
	r := llm.Response{Times: llm.Times{StartUnixNS: t0, FirstVisible: int64(stamped[0])}}
	last := time.Duration(0)
	for i := range wrote {
		r.Text += fmt.Sprint(t0 + int64(wrote[i]))
		r.OutputNS = append(r.OutputNS, int64(stamped[i]-last))
		last = stamped[i]
	}
	return r
}

func ms(a, b, c float64) [3]time.Duration {
	of := func(v float64) time.Duration { return time.Duration(v * 1e6) }
	return [3]time.Duration{of(a), of(b), of(c)}
}

// TestCheckArithmetic: by hand. Lags in ms: 0.5 0.2 0.3 and 2 0 0; the second
// event of the second answer is stamped within the clocks' grain too early.
func TestCheckArithmetic(t *testing.T) {
	in := newReading(Probe{Concurrency: 2, Requests: 2}, three)
	for _, r := range []llm.Response{
		answered(ms(50.5, 60, 70), ms(51, 60.2, 70.3)),
		answered(ms(50, 60, 72), ms(52, 59.95, 72)),
	} {
		if err := in.add(&r); err != nil {
			t.Fatal(err)
		}
	}
	in.CPU, in.Server = 600, Stats{FirstMean: 50_200_000, LagP99: 77}
	got, err := in.SelfCheck()
	if err != nil {
		t.Fatal(err)
	}
	want := metric.SelfCheck{Concurrency: 2, Events: 6, LagP50: 200_000, LagP95: 2_000_000, LagP99: 2_000_000, LagMax: 2_000_000,
		TTFTExcess: 1_300_000, CPUPerEvent: 100, ServerLagP99: 77}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{9.2e6, 10.1e6, 7.95e6, 12.05e6}, in.Gaps); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{0.5e6, 0.2e6, 0.3e6, 2e6, 0, 0}, in.Lags); diff != "" {
		t.Error(diff)
	}
	in.CPU = -1
	if got, _ := in.SelfCheck(); got.CPUPerEvent != -1 {
		t.Errorf("CPU per event is %d where the system does not tell", got.CPUPerEvent)
	}
	if _, err := (Reading{Events: 3}).SelfCheck(); err == nil {
		t.Error("a reading without lags makes a self-check")
	}
}

// TestCheckDoubts: what cannot be compared is an error, never a number.
func TestCheckDoubts(t *testing.T) {
	good := func() llm.Response { return answered(ms(50, 60, 70), ms(50, 60, 70)) }
	for _, tc := range []struct {
		name, want string
		r          llm.Response
	}{
		{"clock set forward by 2 ms", "the clock was set", answered(ms(50, 62, 72), ms(50, 60, 70))},
		{"clock set back by 2 ms", "the clock was set", answered(ms(50, 58, 68), ms(50, 60, 70))},
		{"clock set back by an hour", "the clock was set", answered(ms(50, 60, 70-3.6e6), ms(50, 60, 70))},
		{"written before the dispatch", "the clock was set", answered(ms(-1, 60, 70), ms(50, 60, 70))},
		{"failed", "cut-stream: gone", func() llm.Response {
			r := good()
			r.Failure = &llm.Failure{Class: llm.ClassCutStream, Message: "gone"}
			return r
		}()},
		{"an event missing", "2 events", func() llm.Response { r := good(); r.OutputNS = r.OutputNS[:2]; return r }()},
		{"text missing", "56 bytes", func() llm.Response { r := good(); r.Text = r.Text[1:]; return r }()},
		{"another server", "is not a clock", func() llm.Response { r := good(); r.Text = strings.Repeat("word ", 12)[:57]; return r }()},
	} {
		in := newReading(Probe{Concurrency: 1, Requests: 1}, three)
		if err := in.add(&tc.r); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestTakeStops: the first answer that cannot be used ends the probe.
func TestTakeStops(t *testing.T) {
	in := newReading(Probe{Concurrency: 2, Requests: 1000}, three)
	asked := 0
	in.take(t.Context(), func(context.Context) llm.Response {
		in.mu.Lock()
		defer in.mu.Unlock()
		asked++
		return llm.Response{Failure: &llm.Failure{Class: llm.ClassUnreachable, Message: "none"}}
	})
	if in.err == nil || asked > 4 {
		t.Errorf("%d requests, %v", asked, in.err)
	}
}

// TestCheck: through the client and a socket. Times are not asserted.
func TestCheck(t *testing.T) {
	url := start(t, brisk)
	for range 2 { // the second does not see the first's counts
		got, err := Check(t.Context(), url, Probe{Concurrency: 3, Requests: 7})
		if err != nil {
			t.Fatal(err)
		}
		if got.Concurrency != 3 || got.Events != 7*brisk.Events || got.Reduced || got.LagP50 > got.LagP99 || got.LagP99 > got.LagMax {
			t.Errorf("%+v", got)
		}
	}
	got, err := Check(t.Context(), url, Probe{Concurrency: MaxStreams + 1})
	if err != nil || got.Concurrency != MaxStreams || got.Events != MaxStreams*brisk.Events || !got.Reduced {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCheckRefuses(t *testing.T) {
	paced, fast := start(t, brisk), start(t, Schedule{Events: 3})
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name, want, url string
		ctx             context.Context
		p               Probe
	}{
		{"no concurrency", "cannot be read", paced, t.Context(), Probe{}},
		{"negative requests", "cannot be read", paced, t.Context(), Probe{Concurrency: 1, Requests: -1}},
		{"no server", "refused", "http://127.0.0.1:1", t.Context(), Probe{Concurrency: 1}},
		{"no schedule", "keeps no schedule", fast, t.Context(), Probe{Concurrency: 1}},
		{"stopped", "canceled", paced, stopped, Probe{Concurrency: 1}},
	} {
		if _, err := Check(tc.ctx, tc.url, tc.p); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestReadAgain: clocks that disagree are read once more, and no more often.
func TestReadAgain(t *testing.T) {
	s := Schedule{First: time.Millisecond, Gap: time.Millisecond, Events: 1}
	for wrong, ok := range map[int]bool{1: true, 2: false} {
		readings := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch r.Method + " " + r.URL.Path {
			case "POST /stats":
				readings++
				fallthrough
			case "GET /stats":
				_ = json.NewEncoder(w).Encode(Stats{Schedule: s, Requests: 1, Events: 1})
			case "POST /v1/chat/completions":
				w.Header().Set("Content-Type", "text/event-stream")
				clock := time.Now()
				if readings <= wrong {
					clock = clock.Add(-time.Hour)
				}
				_, body, _ := strings.Cut(string(newFrames(s, false).event(0, clock.UnixNano())), "\r\n\r\n")
				_, _ = io.WriteString(w, body)
			default:
				_, _ = io.WriteString(w, "{}")
			}
		}))
		_, err := Read(t.Context(), srv.URL, Probe{Concurrency: 1})
		if readings != 2 || (err == nil) != ok || !ok && !errors.Is(err, errClock) {
			t.Errorf("%d readings, %v", readings, err)
		}
		srv.Close()
	}
}

// TestAgree: another client's requests would shift the server's truth.
func TestAgree(t *testing.T) {
	in := reading{Reading: Reading{Requests: 2, Events: 6}}
	for _, tc := range []struct {
		s  Stats
		ok bool
	}{
		{Stats{Requests: 2, Events: 6}, true},
		{Stats{Requests: 3, Events: 9}, false},
		{Stats{Requests: 2, Events: 7}, false},
		{Stats{Requests: 2, Events: 6, Cut: 1}, false},
	} {
		in.Server = tc.s
		if err := in.agree(); (err == nil) != tc.ok {
			t.Errorf("%+v: %v", tc.s, err)
		}
	}
}

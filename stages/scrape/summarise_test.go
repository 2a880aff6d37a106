package scrape

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cupel-dev/cupel/stages/metric"
)

// golden are three looks in the words of a real server; the numbers are ours.
func golden(t testing.TB, folder string) []Look {
	t.Helper()
	var looks []Look
	for i, phase := range []string{PhaseBefore, PhaseDuring, PhaseAfter} {
		body, err := os.ReadFile(filepath.Join("testdata", folder, phase+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		looks = append(looks, Look{AtNS: int64(i-1) * 1e9, Phase: phase, Body: body})
	}
	return looks
}

// edited is golden with every match of a pattern replaced in the looks of the phases.
func edited(t testing.TB, folder, pattern, with string, phases ...string) []Look {
	t.Helper()
	looks := golden(t, folder)
	re := regexp.MustCompile(`(?m)` + pattern)
	for i, l := range looks {
		if strings.Contains(strings.Join(phases, " "), l.Phase) {
			if !re.Match(l.Body) {
				t.Fatalf("%s %s has no %s", folder, l.Phase, pattern)
			}
			looks[i].Body = re.ReplaceAll(l.Body, []byte(with))
		}
	}
	return looks
}

const allPhases = "before during after"

// text makes a before and an after look.
func text(before, after string) []Look {
	return []Look{{-1, PhaseBefore, []byte(before)}, {1, PhaseAfter, []byte(after)}}
}

func summarise(t testing.TB, looks []Look) *metric.Server {
	t.Helper()
	s, _, err := Summarise(looks, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func diff(t testing.TB, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func null(unit string) metric.Value { return metric.Null(metric.NotReported, unit) }

var goldens = map[string]metric.Server{
	"vllm-v1": { // two data-parallel engines
		Engine: vllm, Samples: 3,
		Requests: metric.Of(40, "requests"), PromptTokens: metric.Of(20480, "tokens"), OutputTokens: metric.Of(5120, "tokens"),
		QueueMS: metric.Of(70, "ms"), PrefillMS: metric.Of(50, "ms"), DecodeMS: metric.Of(850, "ms"), TTFTMS: metric.Of(120, "ms"), E2EMS: metric.Of(962.5, "ms"),
		KVUsePeak: metric.Of(0.4375, "share"), RunningPeak: metric.Of(16, "requests"), WaitingPeak: metric.Of(3, "requests"),
		PrefixHitShare: metric.Of(96.0/20480, "share"), // the re-counted queries would say 14.6 %
		Preemptions:    metric.Of(2, "preemptions"),
	},
	"vllm-v0": {
		Engine: vllm, Samples: 3,
		Requests: metric.Of(8, "requests"), PromptTokens: metric.Of(800, "tokens"), OutputTokens: metric.Of(320, "tokens"),
		QueueMS: metric.Of(100, "ms"), PrefillMS: null("ms"), DecodeMS: null("ms"), TTFTMS: metric.Of(75, "ms"), E2EMS: metric.Of(900, "ms"),
		KVUsePeak: metric.Of(0.125, "share"), RunningPeak: metric.Of(4, "requests"), WaitingPeak: metric.Of(2, "requests"),
		PrefixHitShare: null("share"), Preemptions: metric.Of(0, "preemptions"),
	},
	"sglang": { // both ranks of a tensor-parallel pair report; requests have priorities
		Engine: sglang, Samples: 3,
		Requests: metric.Of(32, "requests"), PromptTokens: metric.Of(25600, "tokens"), OutputTokens: metric.Of(3200, "tokens"),
		QueueMS: metric.Of(125, "ms"), PrefillMS: metric.Of(120, "ms"), DecodeMS: null("ms"), TTFTMS: metric.Of(300, "ms"), E2EMS: metric.Of(2225, "ms"),
		KVUsePeak: metric.Of(0.71, "share"), RunningPeak: metric.Of(16, "requests"), WaitingPeak: metric.Of(5, "requests"),
		PrefixHitShare: metric.Of(0.015, "share"), Preemptions: metric.Of(2, "preemptions"),
	},
	"llamacpp": {
		Engine: llamaCpp, Samples: 3,
		Requests: null("requests"), PromptTokens: metric.Of(6096, "tokens"), OutputTokens: metric.Of(1024, "tokens"),
		QueueMS: null("ms"), PrefillMS: null("ms"), DecodeMS: null("ms"), TTFTMS: null("ms"), E2EMS: null("ms"),
		KVUsePeak: null("share"), RunningPeak: metric.Of(4, "requests"), WaitingPeak: metric.Of(2, "requests"),
		PrefixHitShare: null("share"), Preemptions: null("preemptions"),
	},
	"tgi": {
		Engine: tgi, Samples: 3,
		Requests: metric.Of(20, "requests"), PromptTokens: metric.Of(10000, "tokens"), OutputTokens: metric.Of(2000, "tokens"),
		QueueMS: metric.Of(250, "ms"), PrefillMS: null("ms"), DecodeMS: null("ms"), TTFTMS: null("ms"), E2EMS: metric.Of(2250, "ms"),
		KVUsePeak: null("share"), RunningPeak: metric.Of(8, "requests"), WaitingPeak: metric.Of(6, "requests"),
		PrefixHitShare: null("share"), Preemptions: null("preemptions"),
	},
}

func TestGolden(t *testing.T) {
	for folder, want := range goldens {
		t.Run(folder, func(t *testing.T) {
			looks := golden(t, folder)
			got, notes, err := Summarise(looks, "some alias")
			if err != nil || len(notes) > 0 {
				t.Fatal(err, notes)
			}
			diff(t, &want, got)

			// The order of the looks is their time's.
			diff(t, got, summarise(t, []Look{looks[2], looks[0], looks[1]}))

			// Routers and some releases print _ for : in the names.
			for i := range looks {
				looks[i].Body = regexp.MustCompile(`(vllm|sglang|llamacpp):`).ReplaceAll(looks[i].Body, []byte("${1}_"))
			}
			diff(t, got, summarise(t, looks))
		})
	}
}

func TestEveryNameOfTheTableIsKnownOnce(t *testing.T) {
	seen := map[string]string{}
	for _, e := range engines {
		for r, sources := range e.sources {
			for _, s := range sources {
				if of, twice := seen[s.name+s.value]; twice {
					t.Errorf("%s is the source of two roles, the other one is %s's", s.name, of)
				}
				seen[s.name+s.value] = e.name
				if (s.over != "") != (r == prefixHits) || s.misses && r != prefixHits || (s.label == "") != (s.value == "") {
					t.Errorf("%s: %+v makes no sense for role %d", e.name, s, r)
				}
			}
		}
	}
}

func TestOldSpellings(t *testing.T) {
	// Before 0.9 only the gpu_ names are there; 0.9 prints both, once each.
	const queries = `vllm:prefix_cache_(hits|queries)_total`
	only := edited(t, "vllm-v1", queries, "vllm:gpu_prefix_cache_${1}_total", allPhases)
	both := edited(t, "vllm-v1", `^`+queries+`(\{.*)$`, "vllm:prefix_cache_${1}_total$2\nvllm:gpu_prefix_cache_${1}_total$2", allPhases)
	for _, looks := range [][]Look{only, both} {
		for i := range looks {
			looks[i].Body = bytes.ReplaceAll(looks[i].Body, []byte("prompt_tokens_cached_total"), []byte("later"))
		}
		diff(t, metric.Of(4128.0/28192, "share"), summarise(t, looks).PrefixHitShare)
	}
	diff(t, metric.Of(0.3125, "share"), summarise(t, golden(t, "llamacpp-kv")).KVUsePeak)
	diff(t, metric.Of(0.4375, "share"), summarise(t, edited(t, "vllm-v1", "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", allPhases)).KVUsePeak)
	diff(t, metric.Of(20, "requests"), summarise(t, edited(t, "tgi", "tgi_request_success", "tgi_request_success_total", allPhases)).Requests)
}

func TestCounters(t *testing.T) {
	m := goldens["vllm-v1"]
	for name, c := range map[string]struct {
		looks []Look
		want  metric.Value
		of    func(*metric.Server) metric.Value
	}{
		"nothing ran: a counter grew by 0": {
			text(`vllm:num_preemptions_total 3`+"\n", `vllm:num_preemptions_total 3`+"\n"),
			metric.Of(0, "preemptions"), func(s *metric.Server) metric.Value { return s.Preemptions },
		},
		"one of two engines restarted while the sum grew": {
			text("vllm:prompt_tokens_total{engine=\"0\"} 10\nvllm:prompt_tokens_total{engine=\"1\"} 10\n", "vllm:prompt_tokens_total{engine=\"0\"} 90\nvllm:prompt_tokens_total{engine=\"1\"} 5\n"),
			metric.Null(metric.CounterReset, "tokens"), func(s *metric.Server) metric.Value { return s.PromptTokens },
		},
		"a restart in the middle, overtaken by the end": {
			edited(t, "vllm-v1", `^(vllm:generation_tokens_total\{engine="1".*\}) .*`, "$1 7.0", PhaseDuring),
			metric.Null(metric.CounterReset, "tokens"), func(s *metric.Server) metric.Value { return s.OutputTokens },
		},
		"another process answers": {
			edited(t, "vllm-v1", `^process_start_time_seconds .*`, "process_start_time_seconds 1.8e+09", PhaseAfter),
			metric.Null(metric.CounterReset, "tokens"), func(s *metric.Server) metric.Value { return s.OutputTokens },
		},
		"a series vanished": {
			edited(t, "vllm-v1", `^vllm:generation_tokens_total\{engine="1".*\n`, "", PhaseAfter),
			metric.Null(metric.CounterReset, "tokens"), func(s *metric.Server) metric.Value { return s.OutputTokens },
		},
		"a line of the last look is broken": {
			edited(t, "vllm-v1", `^vllm:generation_tokens_total\{engine="1".*\n`, "vllm:generation_tok\n", PhaseAfter),
			null("tokens"), func(s *metric.Server) metric.Value { return s.OutputTokens },
		},
		"a line of the first look is broken": {
			edited(t, "vllm-v1", `^vllm:generation_tokens_total\{engine="1".*\n`, "vllm:generation_tok\n", PhaseBefore),
			null("tokens"), func(s *metric.Server) metric.Value { return s.OutputTokens },
		},
		"a broken look during the cell hides nothing": {
			edited(t, "vllm-v1", `^vllm:generation_tokens_total\{engine="1".*\n`, "vllm:generation_tok\n", PhaseDuring),
			m.OutputTokens, func(s *metric.Server) metric.Value { return s.OutputTokens },
		},
		"a counter that was never incremented is only declared": {
			edited(t, "sglang", `^sglang:num_retracted_requests_total\{.*\n`, "", "during after"),
			metric.Of(0, "preemptions"), func(s *metric.Server) metric.Value { return s.Preemptions },
		},
		"a counter below 0": {
			text("sglang:num_requests_total{a=\"1\"} 1\n", "sglang:num_requests_total{a=\"1\"} 9\nsglang:num_requests_total{a=\"2\"} -3\n"),
			metric.Null(metric.CounterReset, "requests"), func(s *metric.Server) metric.Value { return s.Requests },
		},
		"not reported": {
			edited(t, "vllm-v1", `^(# \w+ )?vllm:num_preemptions_total.*\n`, "", allPhases),
			null("preemptions"), func(s *metric.Server) metric.Value { return s.Preemptions },
		},
		"not a number": {
			edited(t, "llamacpp", `^llamacpp:prompt_tokens_total .*`, "llamacpp:prompt_tokens_total NaN", PhaseAfter),
			metric.Null(metric.NotFinite, "tokens"), func(s *metric.Server) metric.Value { return s.PromptTokens },
		},
		"a series that stands twice counts once": {
			edited(t, "llamacpp", `^(llamacpp:prompt_tokens_total .*)`, "$1\n$1", allPhases),
			metric.Of(6096, "tokens"), func(s *metric.Server) metric.Value { return s.PromptTokens },
		},
		"no hit yet, and no counter for it: misses tell": {
			edited(t, "sglang", `^(# \w+ )?sglang:cached_tokens_total.*\n`, "", "during after"),
			metric.Of(0.015, "share"), func(s *metric.Server) metric.Value { return s.PrefixHitShare },
		},
	} {
		t.Run(name, func(t *testing.T) { diff(t, c.want, c.of(summarise(t, c.looks))) })
	}
}

func TestNothingRan(t *testing.T) {
	looks := golden(t, "vllm-v1")
	looks[2].Body = looks[0].Body
	looks = []Look{looks[0], looks[2]}
	got := summarise(t, looks)
	diff(t, metric.Of(0, "requests"), got.Requests)
	for _, v := range []metric.Value{got.QueueMS, got.PrefillMS, got.DecodeMS, got.TTFTMS, got.E2EMS} {
		diff(t, metric.Null(metric.NoRequests, "ms"), v)
	}
	diff(t, metric.Null(metric.NoRequests, "share"), got.PrefixHitShare)
	diff(t, 2, got.Samples)
}

func TestLooksAreMissing(t *testing.T) {
	looks := golden(t, "vllm-v1")
	for name, some := range map[string][]Look{"no before": looks[1:], "no after": looks[:2], "turned around": {{5, PhaseBefore, looks[0].Body}, looks[1], {4, PhaseAfter, looks[2].Body}}} {
		got := summarise(t, some)
		diff(t, metric.Null(metric.NoScrapePair, "requests"), got.Requests)
		diff(t, metric.Null(metric.NoScrapePair, "ms"), got.QueueMS)
		diff(t, metric.Null(metric.NoScrapePair, "share"), got.PrefixHitShare)
		if diff(t, metric.Of(16, "requests"), got.RunningPeak); t.Failed() {
			t.Fatal(name)
		}
	}
	// Two looks after the cell: the first one counts. A look that the server
	// answered with something else is noted and not counted.
	late := edited(t, "vllm-v1", `^(vllm:prompt_tokens_total\{.*\}) .*`, "$1 1e9", PhaseAfter)[2]
	late.AtNS = 9e9
	got, notes, err := Summarise(append(looks, late, Look{10e9, PhaseAfter, []byte("<html>busy</html>\n")}), "")
	diff(t, goldens["vllm-v1"].PromptTokens, got.PromptTokens)
	diff(t, 4, got.Samples)
	diff(t, []string{`look 5 (after): 1 lines skipped, the first: line 1: no metric name: "<html>busy</html>"`, "1 of 5 looks have no metrics of vllm"}, notes)
	diff(t, nil, err)
}

func TestGauges(t *testing.T) {
	nan := edited(t, "llamacpp", `^llamacpp:requests_deferred .*`, "llamacpp:requests_deferred NaN", PhaseDuring)
	diff(t, metric.Of(0, "requests"), summarise(t, nan).WaitingPeak)
	all := edited(t, "llamacpp", `^llamacpp:requests_deferred .*`, "llamacpp:requests_deferred +Inf", allPhases)
	diff(t, metric.Null(metric.NotFinite, "requests"), summarise(t, all).WaitingPeak)
	// Ranks repeat each other; data-parallel engines add up and fill one by one.
	const body = "sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"0\"} 3\nsglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"1\"} 3\nsglang:num_running_reqs{dp_rank=\"1\",tp_rank=\"0\"} 4\n" +
		"sglang:token_usage{dp_rank=\"0\"} 0.25\nsglang:token_usage{dp_rank=\"1\"} 0.5\n"
	got := summarise(t, text(body, body))
	diff(t, metric.Of(7, "requests"), got.RunningPeak)
	diff(t, metric.Of(0.5, "share"), got.KVUsePeak)
}

func TestSeveralModels(t *testing.T) {
	one := func(a, b string) string {
		return "vllm:prompt_tokens_total{model_name=\"a\"} " + a + "\nvllm:prompt_tokens_total{model_name=\"b\"} " + b + "\nvllm:num_requests_running{model_name=\"a\"} 1\nvllm:num_requests_running{model_name=\"b\"} 5\n"
	}
	looks := text(one("100", "1000"), one("130", "5000"))
	for model, want := range map[string][2]metric.Value{
		"a": {metric.Of(30, "tokens"), metric.Of(1, "requests")},
		"b": {metric.Of(4000, "tokens"), metric.Of(5, "requests")},
		"":  {metric.Null(metric.SeveralModels, "tokens"), metric.Null(metric.SeveralModels, "requests")},
		"c": {metric.Null(metric.SeveralModels, "tokens"), metric.Null(metric.SeveralModels, "requests")},
	} {
		got, _, err := Summarise(looks, model)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, want, [2]metric.Value{got.PromptTokens, got.RunningPeak})
	}
}

// TestEngine: a server that prints one name of another engine, for a
// dashboard's sake, is none of those.
func TestEngine(t *testing.T) {
	page := "vllm:num_requests_running 1\nllamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n"
	if got, _, err := Summarise(text(page, page), ""); err != nil || got.Engine != llamaCpp {
		t.Error(got, err)
	}
}

func TestNoEngine(t *testing.T) {
	capture, err := os.ReadFile(filepath.Join("testdata", "ollama-404.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, answer, _ := strings.Cut(string(capture), "\n\n")
	if answer == "" {
		_, answer, _ = strings.Cut(string(capture), "\r\n\r\n")
	}
	for name, c := range map[string]struct{ body, say string }{
		"Ollama's answer":  {answer, "no metrics at all"},
		"its whole record": {string(capture), "no metrics at all"},
		"nothing":          {"", "no metrics at all"},
		"someone else's":   {"go_goroutines 7\nprocess_start_time_seconds 1\nb 1\na 1\n", "seen a, b, go_goroutines, process_start_time_seconds"},
		"many names":       {"a 1\nb 1\nc 1\nd 1\ne 1\nf 1\ng 1\nh 1\ni 1\nj 1\nk 1\n", "seen a, b, c, d, e, f, g, h, i, j and 1 more"},
		"too much":         {strings.Repeat("\n", maxBytes+1), "no metrics at all"},
	} {
		s, notes, err := Summarise(text(c.body, c.body), "")
		if s != nil || !errors.Is(err, errNoEngine) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		if (len(notes) > 0) != (strings.HasPrefix(c.body, "4") || strings.HasPrefix(c.body, "#") || len(c.body) > maxBytes) {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
	if answer != "404 page not found\n" && answer != "404 page not found" {
		t.Errorf("the capture's answer is %q", answer)
	}
}

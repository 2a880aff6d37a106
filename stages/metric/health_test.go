package metric

import "testing"

// calm gives a trial what nothing is doubted in.
func calm(t Trial) Trial {
	t.SelfCheck, t.Server = &SelfCheck{Concurrency: 1000}, &Server{PrefixHitShare: Of(0, unitShare)}
	return t
}

func TestHealth(t *testing.T) {
	fine := func() Trial {
		return Trial{Requests: two(), WallNS: 3e9, CPUNS: 30e6, MaxInFlight: 2, InFlightNS: 5.1e9,
			SelfCheck: &SelfCheck{Concurrency: 2, LagP99: 1e6}, Server: &Server{OutputTokens: Of(50, "tokens"), PrefixHitShare: Of(0, "share")}}
	}
	c := NewCell(at(2), []Trial{fine()})
	want(t, c.ClientOverhead, 0.01, "")
	want(t, c.ClientLag, 1, "")
	want(t, c.InFlightMean, 1.7, "")
	want(t, c.LittleRatio, 1.02, "") // 5 requests of 1 s
	want(t, c.UsageRatio, 1, "")
	if c.ClientBound || c.Doubts != nil {
		t.Errorf("%v %q", c.ClientBound, c.Doubts)
	}
	worse := fine()
	worse.SelfCheck.LagP99 = 7e6
	want(t, NewCell(at(2), []Trial{fine(), worse, fine()}).ClientLag, 7, "")
	for name, tt := range map[string]struct {
		change func(*Trial)
		bound  bool
		doubt  string
	}{
		"CPU":                {func(t *Trial) { t.CPUNS = 2.8e9 }, true, "client-bound: the client used 0.9333 of a core"},
		"lag below a tenth":  {func(t *Trial) { t.SelfCheck.LagP99 = 9e6 }, false, ""}, // TTFT p50 is 100 ms
		"lag":                {func(t *Trial) { t.SelfCheck.LagP99 = 11e6 }, true, "client-bound: time stamps came up to 11 ms late (p95 of the self-check, at most 10 ms)"},
		"the machine's lag":  {func(t *Trial) { t.SelfCheck.LagP99, t.SelfCheck.ServerLagP99 = 11e6, 12e6 }, true, "client-bound: time stamps came up to 11 ms late (p95 of the self-check, at most 10 ms); the machine itself was late: the check's server ran 12 ms behind"},
		"one late event":     {func(t *Trial) { t.SelfCheck.LagP95, t.SelfCheck.LagP99 = 1e6, 9e6 }, false, ""},
		"slow pulse":         {func(t *Trial) { t.Pulse = &Pulse{Ticks: 200, LagP99: 11e6} }, true, "client-bound: while the cell ran, the client's timers woke up to 11 ms late (p99, at most 10 ms)"},
		"pulse of a moment":  {func(t *Trial) { t.Pulse = &Pulse{Ticks: 99, LagP99: 9.9e6} }, false, ""},
		"frozen":             {func(t *Trial) { t.Pulse = &Pulse{Ticks: 600, LagP99: 1e5, LagMax: 4e7, Frozen: 4e7} }, true, "client-bound: the client did not run for 0.04 s of the cell's"},
		"server's lag alone": {func(t *Trial) { t.SelfCheck.ServerLagP99 = 12e6 }, false, ""},
		"Little above":       {func(t *Trial) { t.InFlightNS = 5.3e9 }, true, "client-bound: the requests in flight add up to 1.06 of the time"},
		"Little below":       {func(t *Trial) { t.InFlightNS = 4.7e9 }, true, "client-bound: the requests in flight add up to 0.94 of the time"},
		"too many in flight": {func(t *Trial) { t.MaxInFlight = 3 }, true, "client-bound: 3 requests were in flight at once, and 2 were to be"},
	} {
		one := fine()
		tt.change(&one)
		c := NewCell(at(2), []Trial{one})
		if c.ClientBound != tt.bound || c.UsageOff || tt.doubt == "" && c.Doubts != nil || tt.doubt != "" && count2(c.Doubts, tt.doubt) != 1 {
			t.Errorf("%s: %v %q", name, c.ClientBound, c.Doubts)
		}
		both := NewCell(at(2), []Trial{fine(), one})
		if both.ClientBound != tt.bound || both.UsageOff || tt.doubt != "" && count2(both.Doubts, "trial 2: "+tt.doubt) != 1 {
			t.Errorf("%s, of two trials: %v %q", name, both.ClientBound, both.Doubts)
		}
	}
}

func TestHealthUnknown(t *testing.T) {
	c := NewCell(at(1), []Trial{{Requests: []Request{golden()}, WallNS: 1e9, CPUNS: -1}})
	want(t, c.ClientLag, 0, NoSelfCheck)
	want(t, c.LittleRatio, 0, NotCounted)
	want(t, c.InFlightMean, 0, NotCounted)
	want(t, c.UsageRatio, 0, NoServerMetrics)
	want(t, c.ServerQueue, 0, NoServerMetrics)
	lost := golden(func(r *Request) { r.FailureClass, r.End = "cut-stream", -1 })
	c = NewCell(at(1), []Trial{{Requests: []Request{golden(), lost}, WallNS: 1e9, InFlightNS: 1e9}})
	want(t, c.LittleRatio, 0, NotComplete) // nobody knows how long the lost one took
	want(t, c.InFlightMean, 1, "")
	if c.ClientBound {
		t.Errorf("%q", c.Doubts)
	}
	silent := golden(func(r *Request) { r.OutputTokens = nil })
	c = NewCell(at(1), []Trial{{Requests: []Request{silent}, WallNS: 1e9, Server: &Server{OutputTokens: Of(9, "tokens")}}})
	want(t, c.UsageRatio, 0, NoUsage)
	// Half a millisecond of bookkeeping on requests of 2 ms is no bottleneck.
	quick := golden(func(r *Request) { r.FirstOutput, r.FirstVisible, r.LastOutput, r.End = 1e6, 1e6, 2e6, 2e6 })
	c = NewCell(at(1), []Trial{{Requests: []Request{quick}, WallNS: 1e9, InFlightNS: 2.5e6}})
	want(t, c.LittleRatio, 1.25, "")
	if c.ClientBound {
		t.Errorf("%q", c.Doubts)
	}
}

func TestWarmCache(t *testing.T) {
	hit := func(n int64) func(*Request) { return func(r *Request) { r.CachedTokens = tok(n) } }
	share := func(v float64) *Server { return &Server{PrefixHitShare: Of(v, "share")} }
	for name, tt := range map[string]struct {
		rows   []Request
		server *Server
		o      CellOptions
		share  float64
		reason string
		warm   bool
	}{
		"new":           {[]Request{golden(hit(0)), golden(hit(2))}, nil, at(1), 0.01, "", false},
		"warm":          {[]Request{golden(hit(0)), golden(hit(3))}, nil, at(1), 0.015, "", true},
		"meant":         {[]Request{golden(hit(100))}, nil, CellOptions{Concurrency: 1, IntendedCache: true}, 1, "", false},
		"not reported":  {[]Request{golden()}, nil, at(1), 0, NotReported, false},
		"by the engine": {[]Request{golden()}, share(0.02), at(1), 0, NotReported, true},
		"engine, new":   {[]Request{golden()}, share(0.01), at(1), 0, NotReported, false},
	} {
		c := NewCell(tt.o, []Trial{{Requests: tt.rows, WallNS: 1e9, Server: tt.server}})
		want(t, c.CachedShare, tt.share, tt.reason)
		if c.WarmCache != tt.warm || count2(c.Doubts, "warm-cache: ") == 1 != tt.warm {
			t.Errorf("%s: %v %q", name, c.WarmCache, c.Doubts)
		}
	}
}

func TestServerOverTrials(t *testing.T) {
	said := func(queue, kv, preempted float64) *Server {
		return &Server{QueueMS: Of(queue, "ms"), KVUsePeak: Of(kv, "share"), Preemptions: Of(preempted, ""), PrefillMS: Null(NotReported, "ms")}
	}
	c := NewCell(at(1), []Trial{{Requests: []Request{golden()}, WallNS: 1e9, Server: said(10, 0.4, 2)},
		{Requests: []Request{golden(), golden(), golden()}, WallNS: 1e9, Server: said(30, 0.3, 1)}})
	want(t, c.ServerQueue, 25, "") // (10 + 3*30) / 4
	want(t, c.ServerKVUse, 0.4, "")
	want(t, c.ServerPreempted, 3, "")
	want(t, c.ServerPrefill, 0, NotReported)
	c = NewCell(at(1), []Trial{{WallNS: 1e9, Server: said(10, 0.4, 2)}, {WallNS: 1e9}})
	want(t, c.ServerQueue, 0, NoServerMetrics)
}

func TestUsageOff(t *testing.T) {
	of := func(counted float64) Trial {
		one := calm(Trial{Requests: two(), WallNS: 3e9})
		one.Server.OutputTokens = Of(counted, unitTokens)
		return one
	}
	for _, tt := range []struct {
		counted float64 // where the client counted 50
		off     bool
		doubt   string
	}{
		{50, false, ""}, {51, false, ""}, {50 / 1.02, false, ""}, {50 / 0.98, false, ""},
		{52, true, "usage-off: the client counted 0.9615 of the output tokens"},
		{48.9, true, "usage-off: the client counted 1.022 of the output tokens"},
	} {
		one := NewCell(at(2), []Trial{of(tt.counted)})
		both := NewCell(at(2), []Trial{of(50), of(50), of(50), of(50), of(tt.counted)}) // together within 2 %
		if one.UsageOff != tt.off || both.UsageOff != tt.off || outside(both.UsageRatio, UsageOffAbove) ||
			tt.off && (count2(one.Doubts, tt.doubt) != 1 || count2(both.Doubts, "trial 5: "+tt.doubt) != 1) || !tt.off && one.Doubts != nil {
			t.Errorf("%v counted: %v %v %q %q", tt.counted, one.UsageOff, both.UsageOff, one.Doubts, both.Doubts)
		}
	}
}

func TestWrongState(t *testing.T) {
	fine := calm(Trial{Requests: two(), WallNS: 3e9})
	cold := fine
	cold.WrongState = "3 of 5 prompts were not prefix-cached"
	c := NewCell(at(2), []Trial{fine, cold})
	if !c.WrongState || c.PerTrial[0].WrongState || !c.PerTrial[1].WrongState || count2(c.Doubts, "trial 2: wrong-state: 3 of 5 prompts were not prefix-cached") != 1 {
		t.Errorf("%v %q", c.WrongState, c.Doubts)
	}
	if c := NewCell(at(2), []Trial{fine, fine}); c.WrongState || c.Doubts != nil {
		t.Errorf("%q", c.Doubts)
	}
}

// TestNothingReportsCaching: that prompts were new is not known by itself.
func TestNothingReportsCaching(t *testing.T) {
	hit := func(r *Request) { r.CachedTokens = tok(0) }
	failed := func(r *Request) { r.FailureClass = "timeout" }
	for name, tt := range map[string]struct {
		row    Request
		server *Server
		meant  bool
		told   bool
	}{
		"neither":       {golden(), nil, false, true},
		"no prefix hit": {golden(), &Server{PrefixHitShare: Null(NotReported, unitShare)}, false, true},
		"usage":         {golden(hit), nil, false, false},
		"the engine":    {golden(), &Server{PrefixHitShare: Of(0, unitShare)}, false, false},
		"meant":         {golden(), nil, true, false},
		"no answer":     {golden(failed), nil, false, false},
	} {
		o := at(1)
		o.IntendedCache = tt.meant
		c := NewCell(o, []Trial{{Requests: []Request{tt.row}, WallNS: 1e9, Server: tt.server}})
		if count2(c.Doubts, "nothing reports cached tokens, so nothing confirms that the prompts were new") == 1 != tt.told {
			t.Errorf("%s: %q", name, c.Doubts)
		}
	}
}

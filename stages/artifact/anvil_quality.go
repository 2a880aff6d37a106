package artifact

import (
	"fmt"
	"slices"
)

var (
	uses       = []string{"diagnostic", "ranking"}
	validators = []string{"deterministic_marker", "exact_choice", "typed_structure"}
	builtIn    = []string{"intelligence", "session", "tool"}
)

const (
	suitesMost   = 32
	checksMost   = 1000
	attemptsMost = 100
)

// readAnvilQuality reads the quality shapes: protocols 3 and 2, and the two
// without one.
func readAnvilQuality(f *file) []*Record {
	r, d := f.record()
	id, e := d.get("identity"), d.get("evaluation_protocol")
	r.Labels.Evidence = is([]string{"quality"})
	r.Identity.ServedName = id.get("model").text().or(d.get("model").text())
	r.Identity.Model = id.get("candidate_id").text().or(r.Identity.ServedName)
	r.Engine.Name = id.get("engine").text().or(d.get("engine").text())
	r.Hardware.GPU = id.get("gpu").text().or(d.get("gpu").text())
	r.Memory.ServedContext = d.get("context", "max_model_len").count(1)
	r.anvilControls(d, node{})
	r.Generation.VisibleTokens = e.get("visible_answer_tokens").count(1)
	r.Generation.HeadroomTokens = e.get("reasoning_headroom_tokens").count(0)
	w := &r.Workload
	w.ProtocolVersion = e.get("version").count(1)
	w.Repetitions = e.get("repetitions").count(1)
	w.MinPassRate = e.get("minimum_pass_rate").number()
	if !w.ProtocolVersion.has() {
		r.Notes = append(r.Notes, "without a protocol: one attempt per check, not for ranking")
	}
	r.anvilSuites(d)
	r.Results.TTFTP50 = notZero(d.get("timing", "chat", "ttft_p50_ms").number())
	r.Results.E2EP50 = notZero(d.get("timing", "chat", "e2e_p50_ms").number())
	r.Results.EffectiveContext = unknown[float64]("the ladder's context is nominal, and a rung passes with any visible text")
	if ms := d.get("timing", "wall_ms").number(); ms.has() {
		r.Results.WallS = is(*ms.Value / 1000)
	}
	p := &r.Provenance
	p.RunID, p.StartedAt = d.get("run_id").text(), id.get("started_at").text()
	p.Recipe = recipe(d.get("source_recipe"))
	return []*Record{r}
}

// notZero takes a time of 0 for what it is: nothing was timed.
func notZero(n Number) Number {
	if n.has() && *n.Value == 0 {
		return unknown[float64]("0 stands for what was not timed")
	}
	return n
}

// anvilSuites reads the suites that were run. A section that was not run holds
// nothing and is none: it says nothing about the others.
func (r *Record) anvilSuites(d node) {
	suites := []Suite{}
	var c tally
	take := func(name string, s node) {
		if len(suites) >= suitesMost {
			d.invalid("more than %d suites", suitesMost)
			return
		}
		if !s.isObject() || s.get("status").str() == "not_run" && len(s.get("checks").list()) == 0 {
			return
		}
		suites = append(suites, suite(name, s))
		c.checks(name, s)
	}
	for _, name := range d.get("suites").names() {
		take(name, d.get("suites", name))
	}
	for _, name := range builtIn {
		if s := d.get(name); s.isObject() {
			take(name, s)
		}
	}
	if len(suites) == 0 {
		d.invalid("no suite was run")
	}
	r.Workload.Suites = is(suites)
	r.Results.Items, r.Results.Passed, r.Results.Perfect = is(float64(c.items)), is(float64(c.passed)), is(float64(c.perfect))
	r.Results.Completed = is(float64(c.attempts))
	r.Results.Failed = is(float64(c.errors))
	if c.items > 0 {
		r.Results.Score = is(c.rate / float64(c.items))
	}
}

func suite(name string, s node) Suite {
	out := Suite{Name: plain(name), Use: s.get("evidence_use").str(), Validator: s.get("validator_strength").str()}
	if h := s.get("source_sha256").digest(); h.has() {
		out.SHA256 = *h.Value
	}
	if out.Use == "" {
		out.Use = "diagnostic"
	}
	if out.Validator == "" {
		out.Validator = "deterministic_marker"
	}
	if !slices.Contains(uses, out.Use) {
		s.invalid("suite %s: evidence_use %s is not known", out.Name, plain(out.Use))
		out.Use = "unknown"
	}
	if !slices.Contains(validators, out.Validator) {
		s.invalid("suite %s: validator_strength %s is not known", out.Name, plain(out.Validator))
		out.Validator = "unknown"
	}
	if st := s.get("status").str(); st != "passed" && st != "failed" {
		s.invalid("suite %s has an invalid status", out.Name)
	}
	return out
}

// tally counts checks and attempts.
type tally struct {
	items, passed, perfect, attempts, errors int
	rate                                     float64
}

func (c *tally) checks(name string, s node) {
	list := s.get("checks").list()
	if len(list) == 0 || len(list) > checksMost {
		s.invalid("suite %s has %d checks, want 1 to %d", plain(name), len(list), checksMost)
		return
	}
	for i, check := range list {
		passes, n := attemptsOf(check)
		if n == 0 || n > attemptsMost {
			s.invalid("suite %s: check %d has %d attempts, want 1 to %d", plain(name), i+1, n, attemptsMost)
			continue
		}
		c.items++
		c.attempts += n
		c.rate += float64(passes) / float64(n)
		if passes == n {
			c.perfect++
		}
		if check.get("status").str() == "passed" {
			c.passed++
		}
		if pc, ok := check.get("pass_count").num(); ok && pc > float64(n) {
			s.invalid("suite %s: check %d passed %g of %d attempts", plain(name), i+1, pc, n)
		}
		for _, a := range check.get("attempts").list() {
			if a.get("failure_class").str() == "request_error" {
				c.errors++
			}
		}
	}
}

// attemptsOf counts the attempts of a check and those that passed. A check of
// an old form is its own only attempt.
func attemptsOf(check node) (passes, n int) {
	list := check.get("attempts").list()
	if len(list) == 0 {
		switch check.get("status").str() {
		case "passed":
			return 1, 1
		case "failed":
			return 0, 1
		}
		return 0, 0
	}
	for _, a := range list {
		if a.get("status").str() == "passed" {
			passes++
		}
	}
	return passes, len(list)
}

// verifyQuality recounts the attempts of each check.
func verifyQuality(d node, v *Verification) {
	recount := func(name string, s node) {
		for i, check := range s.get("checks").list() {
			passes, n := attemptsOf(check)
			at := fmt.Sprintf("%s.checks[%d]", plain(name), i)
			if !check.get("attempts").has() {
				continue
			}
			v.number(at+".attempt_count", check.get("attempt_count"), is(float64(n)), 0)
			v.number(at+".pass_count", check.get("pass_count"), is(float64(passes)), 0)
			v.number(at+".pass_rate", check.get("pass_rate"), is(float64(passes)/float64(max(n, 1))), 1e-9)
		}
	}
	for _, name := range d.get("suites").names() {
		recount(name, d.get("suites", name))
	}
	for _, name := range builtIn {
		recount(name, d.get(name))
	}
}

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/compare"
	"github.com/cupel-dev/cupel/stages/decide"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/imported"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/loopback"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/preflight"
	"github.com/cupel-dev/cupel/stages/publish"
	"github.com/cupel-dev/cupel/stages/research"
	"github.com/cupel-dev/cupel/stages/sandbox"
	"github.com/cupel-dev/cupel/stages/score"
	"github.com/cupel-dev/cupel/stages/serve"
)

// wiring joins the stages to the engine and the candidates to their endpoints.
// It is the only place that knows both sides.
type wiring struct {
	loaded   *spec.Loaded
	bindings map[string]spec.Binding
	engine   *child // the embedded engine, when a binding asks for it
	requests atomic.Int64
	vault    *vault // opens held-out items; nil = nobody can
	probes   atomic.Int64

	loopback     *child // for self-checks, started by the first
	loopbackErr  error
	loopbackOnce sync.Once

	serve  bool         // the campaign's commands may be run
	opened *serve.Hooks // that runs them, nil = nobody does

	attemptID   string
	attemptOnce sync.Once
}

func wire(loaded *spec.Loaded, bindings map[string]spec.Binding) *wiring {
	return &wiring{loaded: loaded, bindings: bindings}
}

// adders are the stages' contributions to the plan.
func (w *wiring) adders() []plan.Adder {
	stages := []plan.Adder{
		research.Steps, pin.Steps, preflight.Steps, measure.Planner{Apart: w.apart()}.Steps, imported.Steps, scoring(w.loaded).Steps, compare.Steps,
		publish.Steps(w.loaded.Digest), decide.Steps,
	}
	for i, add := range stages {
		stages[i] = func(c *spec.Campaign) []step.Step { return w.place(add(c)) }
	}
	return stages
}

// place turns "the endpoint of this candidate" into "the endpoint at this
// address": two candidates behind one address must not be measured at once.
// Timing cells run alone, since scoring beside them would show in latencies.
// What looks at a candidate that cupel can start needs it to be up.
func (w *wiring) place(steps []step.Step) []step.Step {
	for i, s := range steps {
		if !s.Pure && s.Kind != measure.KindMeter && w.started(s.Where) {
			steps[i].Session = s.Where
		}
		if len(s.Resources) == 0 {
			continue
		}
		steps[i].Resources = w.resources(s.Where)
		if s.Kind == measure.KindCell {
			steps[i].Resources = append(steps[i].Resources, step.Quiet)
		}
	}
	return steps
}

// scoring is the score stage with a sandbox for scorers that run programs;
// paths of programs start from the campaign file.
func scoring(l *spec.Loaded) score.Stage {
	return score.Stage{Programs: sandbox.New(sandbox.Options{Dir: l.Dir})}
}

// resources are the hosts of a candidate, its replicas included.
func (w *wiring) resources(candidate string) []string {
	b := w.bindings[candidate]
	out := []string{resource(candidate, b.URL)}
	for _, r := range b.Replicas {
		out = append(out, resource(candidate, r))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func resource(candidate, address string) string {
	if strings.HasPrefix(address, embeddedScheme) {
		return "endpoint " + embeddedScheme
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return "endpoint " + u.Host
	}
	return "endpoint of " + candidate
}

// runners maps step kinds to what runs them.
func (w *wiring) runners() map[string]step.Runner {
	dial := func(n measure.Need) (measure.Endpoint, error) { return w.dial(n) }
	out := map[string]step.Runner{
		pin.Kind: pin.Runner{
			Dial:       func(c string) (pin.Identifier, error) { return w.dial(measure.Need{Candidate: c}) },
			ServedName: w.servedName,
		},
		preflight.Kind:       w.preflight(),
		measure.KindGenerate: measure.Generate{Dial: dial},
		measure.KindCell:     measure.Cell{Dial: dial, SelfCheck: w.checker(), Attempt: w.attempt, Beside: w.beside, Meter: w.meterOf, Clock: clientClock},
		measure.KindMetrics:  measure.Metrics{},
		measure.KindMeter:    measure.LookAtMeter(w.lookAtMeter),
		imported.Kind:        imported.Runner{},
		measure.KindJudge:    measure.Judge{Generate: measure.Generate{Dial: dial}},
		publish.RecordKind:   publish.RecordRunner{},
		publish.FindingKind:  publish.FindingRunner{},
		research.Kind:        step.RunnerFunc(research.Run),
		decide.Kind:          step.RunnerFunc(decide.Run),
	}
	maps.Copy(out, scoring(w.loaded).Runners())
	maps.Copy(out, compare.Runners())
	return out
}

// preflight checks endpoints, also by way of another protocol of the same server.
func (w *wiring) preflight() preflight.Runner {
	return preflight.Runner{
		Dial: func(c string) (preflight.Endpoint, error) {
			return w.dial(measure.Need{Candidate: c, Conns: preflight.MostAtOnce})
		},
		Beside: func(at preflight.Endpoint, api llm.API) (preflight.Asker, error) {
			e := at.(endpoint) // that Dial returned
			c, err := e.Client.Beside(api)
			return endpoint{c, e.sent, e.probes, e.under}, err
		},
	}
}

// start starts the embedded engine when a binding asks for it.
func (w *wiring) start() (err error) {
	w.engine, err = startEmbedded(w.bindings)
	return err
}

func (w *wiring) close() {
	_ = w.engine.close() // it has answered all that it was asked
	_ = w.loopback.close()
}

// attempt is the same for every cell of this run, and another one in the next.
func (w *wiring) attempt() string {
	w.attemptOnce.Do(func() { w.attemptID = rand.Text()[:12] })
	return w.attemptID
}

// skipSelfCheck is set by tests whose endpoints answer within microseconds, on
// machines that run other tests at the same moment: every such cell would be
// client-bound.
var skipSelfCheck bool

func (w *wiring) checker() func(context.Context, int) (*metric.SelfCheck, error) {
	if skipSelfCheck {
		return nil
	}
	return w.selfCheck
}

// selfCheck measures this client against a server of known timing, which runs
// in a process of its own so that its work is not counted as the client's.
func (w *wiring) selfCheck(ctx context.Context, concurrency int) (*metric.SelfCheck, error) {
	w.loopbackOnce.Do(func() { w.loopback, w.loopbackErr = startLoopback(loopback.CheckSchedule) })
	if w.loopbackErr != nil {
		return nil, w.loopbackErr
	}
	c, err := loopback.Check(ctx, w.loopback.url, loopback.Probe{Concurrency: concurrency})
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// sent says how many generation requests went out, and how many more of one
// token for the pins.
func (w *wiring) sent() string {
	s := fmt.Sprintf("requests sent: %d", w.requests.Load())
	if n := w.probes.Load(); n > 0 {
		s += fmt.Sprintf("; of pins, to count tokens: %d", n)
	}
	return s
}

// endpoint counts what is sent.
type endpoint struct {
	*llm.Client
	sent, probes *atomic.Int64
	under        func(context.Context) (hardware.Seen, error)
}

// Probe counts the tokens of a fixed text, with two requests where there is no
// tokenizer to ask.
func (e endpoint) Probe(ctx context.Context) (llm.TokenProbe, error) {
	p, err := e.Client.Probe(ctx)
	e.probes.Add(int64(p.Requests))
	return p, err
}

// Do sends one request.
func (e endpoint) Do(ctx context.Context, p *llm.Prepared) llm.Response {
	e.sent.Add(1)
	return e.Client.Do(ctx, p)
}

// dial opens an endpoint of a candidate. It sends nothing.
func (w *wiring) dial(n measure.Need) (endpoint, error) {
	o, err := w.options(n.Candidate, n.Replica)
	if err != nil {
		return endpoint{}, err
	}
	o.Timeout, o.MaxConns = n.Timeout, n.Conns
	c, err := llm.New(o)
	if err != nil {
		return endpoint{}, fmt.Errorf("candidate %s: %w", n.Candidate, err)
	}
	under := func(ctx context.Context) (hardware.Seen, error) { return w.hardwareOf(ctx, n.Candidate) }
	return endpoint{c, &w.requests, &w.probes, under}, nil
}

// servedName is the name that the campaign declares for a candidate or a judge.
func (w *wiring) servedName(endpoint string) string {
	pins, _ := w.loaded.Campaign.Pinned(endpoint)
	return pins.ServedName
}

// options are those of a candidate's binding; replica 0 is its own address.
func (w *wiring) options(candidate string, replica int) (llm.Options, error) {
	b, ok := w.bindings[candidate]
	if !ok {
		return llm.Options{}, step.WithHint(step.Mark(step.ErrUnreachable, fmt.Errorf("no endpoint is bound to candidate %s", candidate)),
			fmt.Sprintf("say where it is with --bind %s=http://127.0.0.1:8000/v1", candidate))
	}
	address := b.URL
	if replica > 0 {
		if replica > len(b.Replicas) {
			return llm.Options{}, step.WithHint(step.Mark(step.ErrUnreachable, fmt.Errorf("candidate %s is bound to %d endpoints, and %d are to run together", candidate, 1+len(b.Replicas), replica+1)),
				fmt.Sprintf("name the others: --bind %s=%s,replica=http://127.0.0.1:8001/v1", candidate, b.URL))
		}
		address = b.Replicas[replica-1]
	}
	o := llm.Options{URL: address, API: llm.API(b.API), Model: w.servedName(candidate)}
	if b.ServedName != "" {
		o.Model = b.ServedName
	}
	if name, ok := strings.CutPrefix(address, embeddedScheme); ok {
		o.URL, o.API, o.Model = w.engine.url+"/v1", llm.OpenAI, name
	}
	var err error
	if o.APIKey, err = fromEnv(b.APIKeyEnv); err != nil {
		return o, fmt.Errorf("candidate %s: %w", candidate, err)
	}
	for header, env := range b.Headers {
		v, err := fromEnv(env)
		if err != nil {
			return o, fmt.Errorf("candidate %s: header %s: %w", candidate, header, err)
		}
		if o.Headers == nil {
			o.Headers = map[string]string{}
		}
		o.Headers[header] = v
	}
	return o, nil
}

func fromEnv(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		return v, nil
	}
	return "", step.WithHint(errors.New("environment variable "+name+" is empty"), "export it before running")
}

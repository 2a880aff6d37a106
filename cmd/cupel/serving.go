package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/serve"
)

// serveEnv allows a campaign's commands as --serve does. bindings.yaml cannot:
// it lies beside the campaign, and may come from where the campaign came from.
const serveEnv = "CUPEL_SERVE"

const serveUsage = "run the campaign's own start and stop commands on this machine (also $CUPEL_SERVE=1)"

func serveAllowed() bool {
	yes, err := strconv.ParseBool(os.Getenv(serveEnv))
	return err == nil && yes
}

// lookTimeout bounds one look at an endpoint that may not be up.
const lookTimeout = 5 * time.Second

// sharedGPUs is why candidates cannot take turns.
const sharedGPUs = "candidates share GPUs"

// started reports whether cupel can start a candidate: it has commands, and an
// address at which they make it answer.
func (w *wiring) started(candidate string) bool {
	c, ok := w.loaded.Campaign.Candidates[candidate]
	b := w.bindings[candidate]
	return ok && c.Serve != nil && b.URL != "" && !strings.HasPrefix(b.URL, embeddedScheme)
}

// servers are the candidates that cupel can start.
func (w *wiring) servers() map[string]serve.Server {
	out := map[string]serve.Server{}
	for name, c := range w.loaded.Campaign.Candidates {
		if !w.started(name) {
			continue
		}
		timeout, err := time.ParseDuration(c.Serve.Timeout)
		if err != nil {
			panic("a loaded campaign has durations: " + err.Error())
		}
		s := serve.Server{
			Candidate: name, Start: c.Serve.Start, Stop: c.Serve.Stop, Timeout: timeout,
			GPUs: w.bindings[name].GPUs, CoResident: c.CoResident, Look: w.look(name, c.Serve.Ready),
		}
		s.Host, s.Address = whereIs(w.bindings[name].URL)
		out[name] = s
	}
	return out
}

// whereIs is the host of an address, all spellings of this machine being one,
// and the host with the port.
func whereIs(address string) (host, at string) {
	u, err := url.Parse(address)
	if err != nil {
		return address, address
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		host = "localhost"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return host, net.JoinHostPort(host, port)
}

// look tells whether all endpoints of a candidate can be used.
func (w *wiring) look(candidate, ready string) func(context.Context) error {
	return func(ctx context.Context) error {
		for i := range 1 + len(w.bindings[candidate].Replicas) {
			o, err := w.options(candidate, i)
			if err != nil {
				return err
			}
			o.Timeout = lookTimeout
			c, err := llm.New(o)
			if err != nil {
				return fmt.Errorf("candidate %s: %w", candidate, err)
			}
			err = c.Ready(ctx, ready)
			c.Close()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// exclusive lists the candidates that cannot be up beside another one, sorted.
func (w *wiring) exclusive() []string { return (&serve.Hooks{Servers: w.servers()}).Exclusive() }

// apart says why candidates cannot take turns, "" when they can.
func (w *wiring) apart() string {
	if w.serve && len(w.exclusive()) > 0 {
		return sharedGPUs
	}
	return ""
}

// takesTurns refuses a workload whose candidates are to take turns and cannot
// be up together: a model would be loaded for every trial, and each would be
// measured cold, which is what turns are to even out.
func (w *wiring) takesTurns() error {
	works := measure.Interleaved(w.loaded.Campaign)
	if w.apart() == "" || len(works) == 0 {
		return nil
	}
	return spec.Errors{w.loaded.At([]string{"measure", works[0], "order"}, turnsRefused(w.exclusive()), turnsHint)}
}

func turnsRefused(names []string) string {
	return fmt.Sprintf("candidates %s share GPUs and cannot take turns: each turn would load a model again", strings.Join(names, ", "))
}

const turnsHint = "leave order out or say sequential; or tell their GPUs apart in the bindings (gpus), or declare coResident"

// hooks run the campaign's commands, and keep their books in the store.
func (w *wiring) hooks(s *store.Store) *serve.Hooks {
	var named []string
	for _, b := range w.bindings {
		named = append(named, b.APIKeyEnv)
		named = slices.AppendSeq(named, maps.Values(b.Headers))
	}
	dir, err := filepath.Abs(w.loaded.Dir)
	if err != nil {
		dir = w.loaded.Dir
	}
	return &serve.Hooks{
		Servers: w.servers(), Campaign: w.loaded.Campaign.Campaign, Dir: dir,
		Environ: os.Environ(), Secrets: serve.SecretsIn(os.Environ(), named...),
		Ledger: ledger{s, "serve/" + w.loaded.Campaign.Campaign + "/"}, Lease: s.Lease,
	}
}

// beside tells a cell who else is up on its GPUs.
func (w *wiring) beside(candidate string) []string {
	if w.opened == nil {
		return nil
	}
	return w.opened.Beside(candidate)
}

// sessions are the servers as the engine knows them.
type sessions struct{ *serve.Hooks }

func (s sessions) Open(ctx context.Context, name string, log exec.SessionLog) ([]step.Attachment, error) {
	return s.Hooks.Open(ctx, name, log)
}
func (s sessions) Close(name string, log exec.SessionLog) error { return s.Hooks.Close(name, log) }
func (s sessions) Finish(log exec.SessionLog) error             { return s.Hooks.Finish(log) }

// ledger keeps in refs what was started and is not settled.
type ledger struct {
	s      *store.Store
	prefix string
}

func (l ledger) Put(candidate string, entry []byte) error {
	d, err := l.s.PutBytes(entry)
	if err != nil {
		return err
	}
	return l.s.SetRef(l.prefix+candidate, store.Ref{Objects: []step.Digest{d}, Note: "a server that a run has started or stopped", Set: time.Now()})
}

func (l ledger) Remove(candidate string) error {
	err := l.s.RemoveRef(l.prefix + candidate)
	if errors.Is(err, store.ErrMissing) {
		return nil
	}
	return err
}

func (l ledger) All() (map[string][]byte, error) {
	refs, notes := l.s.Refs()
	out := map[string][]byte{}
	for _, r := range refs {
		name, ours := strings.CutPrefix(r.Name, l.prefix)
		if !ours || len(r.Objects) != 1 {
			continue
		}
		b, err := l.s.Read(r.Objects[0])
		if err != nil {
			return nil, err
		}
		out[name] = b
	}
	return out, errors.Join(notes...)
}

// told is a log outside of a run: notes alone.
type told func(format string, args ...any)

func (told) Create(string) (io.WriteCloser, error) { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) }
func (told) File(string) (*os.File, error)         { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) }
func (t told) Note(format string, args ...any)     { t(format+"\n", args...) }

// openSessions lets a run start and stop servers, where that is allowed, and
// cleans up after runs that died. The returned function ends what is up when
// there is no time for anything else.
func (a *app) openSessions(c *campaign, s *store.Store, e *exec.Engine, o runOptions) (release func(), err error) {
	if len(c.wiring.servers()) == 0 || o.offline {
		return func() {}, nil
	}
	h := c.wiring.hooks(s)
	if !o.serve {
		a.warnLeft(h)
		return func() {}, nil
	}
	if err := h.Recover(told(a.notef)); err != nil {
		return nil, err
	}
	c.wiring.opened, e.Sessions = h, sessions{h}
	return atOnce(func() {
		for _, todo := range h.Abort(abortTimeout) {
			fmt.Fprintf(a.stderr, "cupel: %s\n", todo)
		}
	}), nil
}

// abortTimeout bounds how long a second Ctrl-C waits for stop commands.
const abortTimeout = 20 * time.Second

// warnLeft says what an earlier run has left to a person who does not allow
// commands.
func (a *app) warnLeft(h *serve.Hooks) {
	left, err := h.Left()
	if err != nil {
		fmt.Fprintf(a.stderr, "cupel: %v\n", err)
	}
	for _, l := range left {
		what := "was started by an earlier run that died, and may still run"
		if l.Restore {
			what = "was stopped by an earlier run that died"
		}
		todo := "give the command: " + l.Command
		if l.Command == "" {
			todo = "look for its processes and end them"
		}
		fmt.Fprintf(a.stderr, "cupel: candidate %s %s; run with --serve to put that right, or %s\n", l.Candidate, what, todo)
	}
}

// askForServe adds to the error of a run whose endpoints were not reachable that
// the campaign can start them.
func (w *wiring) askForServe(out *exec.Outcome, err error) error {
	var names []string
	for _, r := range out.Failures() {
		if w.started(r.Step.Where) && errors.Is(r.Err, step.ErrUnreachable) && !slices.Contains(names, r.Step.Where) {
			names = append(names, r.Step.Where)
		}
	}
	if err == nil || w.serve || len(names) == 0 {
		return err
	}
	slices.Sort(names)
	return fail(codeOf(err), fmt.Errorf("%w\ncupel: the campaign has commands that start %s: read them, and allow them with --serve or %s=1", err, strings.Join(names, ", "), serveEnv))
}

// leftOutside adds to what became of a run that it has left something outside.
func leftOutside(out *exec.Outcome, err error) error {
	if len(out.SessionErrs) == 0 {
		return err
	}
	var lines []string
	if err != nil && err.Error() != "" && !isExitOnly(err) {
		lines = append(lines, err.Error())
	}
	for _, e := range out.SessionErrs {
		lines = append(lines, e.Error())
	}
	return fail(exitOutside, errors.New(strings.Join(lines, "\ncupel: ")))
}

// isExitOnly reports whether err is only a code: its result was printed.
func isExitOnly(err error) bool {
	var e *exitError
	return errors.As(err, &e) && e.err == nil
}

// start is a candidate that a run would start, for `cupel plan`.
type start struct {
	Candidate string   `json:"candidate"`
	Allowed   bool     `json:"allowed"` // by --serve
	Start     []string `json:"start"`
	Stop      []string `json:"stop,omitempty"`
	Ready     string   `json:"ready,omitempty"`
	Dir       string   `json:"dir"`
}

func (c *campaign) starts(e *exec.Engine) []start {
	out := []start{}
	for _, name := range e.Opens(c.plan) {
		s := c.loaded.Campaign.Candidates[name].Serve
		out = append(out, start{name, c.wiring.serve, s.Start, s.Stop, s.Ready, c.loaded.Dir})
	}
	return out
}

// printStarts says which commands a run would run.
func (a *app) printStarts(all []start) {
	for _, s := range all {
		lead := "would start " + s.Candidate + " unless it runs already: "
		if !s.Allowed {
			lead = s.Candidate + " has to be up; with --serve a run would start it: "
		}
		stop := "its processes are ended"
		if len(s.Stop) > 0 {
			stop = serve.Words(s.Stop)
		}
		a.printf("%s%s  (stop: %s)\n", lead, serve.Words(s.Start), stop)
	}
	if len(all) > 0 {
		a.printf("\n")
	}
}

// serveWarnings say what --serve would do to the order of a campaign, as far as
// it is known where the candidates are.
func (a *app) serveWarnings(l *spec.Loaded) []string {
	bindings, err := a.bindings(l, nil)
	if err != nil {
		return nil // not what is being checked
	}
	names := wire(l, bindings).exclusive()
	if len(names) == 0 {
		return nil
	}
	who := strings.Join(names, ", ")
	out := []string{fmt.Sprintf("candidates %s share GPUs, as far as anybody said, and are started one after the other with --serve; order: sequential (%s)", who, sharedGPUs)}
	for _, work := range measure.Interleaved(l.Campaign) {
		out = append(out, fmt.Sprintf("measure.%s.order: %s, so run --serve refuses it; %s", work, turnsRefused(names), turnsHint))
	}
	return out
}

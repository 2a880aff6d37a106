// Package pintest holds a job and an endpoint for the tests of stages that look
// at endpoints.
package pintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Job is a step.Job in memory. Set S, Inputs and Lines before the run.
type Job struct {
	S       step.Step
	Inputs  map[string][]byte
	Lines   [][]byte           // the journal; Append adds to it
	Before  []step.Earlier     // what others of the family left
	OnLine  func([]byte) error // called before a line is kept; an error stands for a full disk
	mu      sync.Mutex
	outputs map[string]*output
	refused string
	Notes   []string // of Progress, "done/total note"
	Remarks []string // of Note
	Log     []string
}

type output struct {
	bytes.Buffer
	closed bool
}

func (o *output) Close() error { o.closed = true; return nil }

// Step returns S.
func (j *Job) Step() step.Step { return j.S }

// Params decodes strictly.
func (j *Job) Params(v any) error {
	dec := json.NewDecoder(bytes.NewReader(j.S.Params))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// Open returns an input's bytes.
func (j *Job) Open(input string) (io.ReadCloser, error) {
	b, ok := j.Inputs[input]
	if !ok {
		return nil, fmt.Errorf("input %s: %w", input, step.ErrNoInput)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// InputDigest is the digest of Inputs.
func (j *Job) InputDigest(input string) step.Digest {
	if b, ok := j.Inputs[input]; ok {
		return step.Sum(b)
	}
	return step.Digest{}
}

// Create starts an output; an output may be created once.
func (j *Job) Create(name, _ string) (io.WriteCloser, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.outputs == nil {
		j.outputs = map[string]*output{}
	}
	if j.outputs[name] != nil {
		return nil, fmt.Errorf("output %s is created twice", name)
	}
	j.outputs[name] = &output{}
	return j.outputs[name], nil
}

// Append adds a line to the journal.
func (j *Job) Append(line []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.OnLine != nil {
		if err := j.OnLine(line); err != nil {
			return err
		}
	}
	j.Lines = append(j.Lines, bytes.Clone(line))
	return nil
}

// Journal replays Lines.
func (j *Job) Journal(f func([]byte) error) error {
	for _, l := range j.Lines {
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

// Earlier returns Before.
func (j *Job) Earlier() []step.Earlier { return j.Before }

// Note keeps a sentence.
func (j *Job) Note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Remarks = append(j.Remarks, fmt.Sprintf(format, args...))
}

// Refuse keeps the reason.
func (j *Job) Refuse(reason string) { j.refused = reason }

// Progress keeps a note.
func (j *Job) Progress(done, total int, note string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Notes = append(j.Notes, fmt.Sprintf("%d/%d %s", done, total, note))
}

// Logf keeps a line.
func (j *Job) Logf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Log = append(j.Log, fmt.Sprintf(format, args...))
}

// Output returns a closed output's bytes, nil when it was not finished.
func (j *Job) Output(name string) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if o := j.outputs[name]; o != nil && o.closed {
		return o.Bytes()
	}
	return nil
}

// Refused returns the reason of a refusal, "" for none.
func (j *Job) Refused() string { return j.refused }

// Endpoint is an endpoint in memory. Answer is called for every request.
type Endpoint struct {
	ID        llm.Identity
	IDs       []llm.Identity // one per call, the last one for ever after; ID when empty
	IDErr     error
	Probed    llm.TokenProbe // what Probe returns
	ProbeErr  error
	Under     hardware.Seen // what Hardware returns
	UnderErr  error
	HealthErr error
	WarmErr   error
	Answer    func(ctx context.Context, r llm.Request) llm.Response
	Metrics   func() ([]byte, error)         // nil = llm.ErrNoMetrics
	Count     func(text string) (int, error) // tokens; nil = llm.ErrNoTokenize

	mu     sync.Mutex
	bodies map[step.Digest]llm.Request
	sent   []step.Digest
	asked  int
	Warmed []int
	Closed int
}

// Identity returns ID or the next of IDs.
func (e *Endpoint) Identity(context.Context) (llm.Identity, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	if len(e.IDs) > 0 {
		return e.IDs[min(e.asked, len(e.IDs))-1], e.IDErr
	}
	return e.ID, e.IDErr
}

// Probe returns Probed.
func (e *Endpoint) Probe(context.Context) (llm.TokenProbe, error) { return e.Probed, e.ProbeErr }

// Hardware returns Under.
func (e *Endpoint) Hardware(context.Context) (hardware.Seen, error) { return e.Under, e.UnderErr }

// Health returns HealthErr.
func (e *Endpoint) Health(context.Context) error { return e.HealthErr }

// Warm notes n.
func (e *Endpoint) Warm(_ context.Context, n int) error {
	e.Warmed = append(e.Warmed, n)
	return e.WarmErr
}

// Scrape returns what Metrics does.
func (e *Endpoint) Scrape(context.Context) ([]byte, error) {
	if e.Metrics == nil {
		return nil, llm.ErrNoMetrics
	}
	return e.Metrics()
}

// Tokens counts with Count.
func (e *Endpoint) Tokens(_ context.Context, text string) (int, string, error) {
	if e.Count == nil {
		return 0, "", llm.ErrNoTokenize
	}
	n, err := e.Count(text)
	return n, "tokenize", err
}

// Close counts.
func (e *Endpoint) Close() { e.Closed++ }

// Prepare makes the request's JSON its body.
func (e *Endpoint) Prepare(r llm.Request) (*llm.Prepared, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &llm.Prepared{Body: b, Digest: step.Sum(b)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bodies == nil {
		e.bodies = map[step.Digest]llm.Request{}
	}
	e.bodies[p.Digest] = r
	return p, nil
}

// Do answers with Answer and notes the digest.
func (e *Endpoint) Do(ctx context.Context, p *llm.Prepared) llm.Response {
	e.mu.Lock()
	r, ok := e.bodies[p.Digest]
	e.sent = append(e.sent, p.Digest)
	e.mu.Unlock()
	if !ok {
		panic("pintest: a request that was not prepared here")
	}
	return e.Answer(ctx, r)
}

// Sent returns the digests of the requests that were sent, in order.
func (e *Endpoint) Sent() []step.Digest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]step.Digest(nil), e.sent...)
}

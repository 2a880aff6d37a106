package exec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// job is what a runner is handed for one attempt at one step.
type job struct {
	r       *run
	w       work
	journal *store.Journal
	earlier []step.Earlier

	mu      sync.Mutex
	outs    map[string]*output
	order   []string
	refused string
	notes   []string
	first   error // first error of the job's own doing
	closed  bool
}

// output is one output being written; it becomes an object on Close.
type output struct {
	j         *job
	name      string
	mediaType string
	w         *store.Writer
	digest    step.Digest
	size      int64
	committed bool
	err       error
}

func (r *run) newJob(w work) (*job, error) {
	for name, in := range w.s.Inputs {
		if in.Step != "" || in.Sealed || r.e.Store.Has(in.Blob) {
			continue
		}
		got, err := r.storeFile(in.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: input %s: %w", w.s.Name, name, err)
		}
		if got != in.Blob {
			return nil, step.WithHint(fmt.Errorf("%s: %s changed while the campaign was being read (%s, then %s)", w.s.Name, in.Path, in.Blob.Short(), got.Short()), "run again")
		}
	}
	j := &job{r: r, w: w, outs: map[string]*output{}}
	if w.s.Pure {
		return j, nil // nothing to resume: pure steps are derived again
	}
	j.earlier = r.e.earlier(w)
	var err error
	j.journal, err = r.e.Store.Journal(w.key)
	return j, err
}

func (j *job) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: internal error: %v", j.w.s.Name, p)
		}
	}()
	return j.r.e.Runners[j.w.s.Kind].Run(ctx, j)
}

// finish closes what the runner left open and returns the outputs by name.
func (j *job) finish() []store.Output {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	var outs []store.Output
	for _, name := range j.order {
		o := j.outs[name]
		if !o.committed {
			o.w.Abort()
			if j.first == nil && o.err == nil {
				j.first = fmt.Errorf("%s: output %s was not closed", j.w.s.Name, name)
			}
			continue
		}
		outs = append(outs, store.Output{Name: name, Digest: o.digest, Size: o.size, MediaType: o.mediaType})
	}
	slices.SortFunc(outs, byName)
	if j.journal != nil {
		if err := j.journal.Close(); err != nil && j.first == nil {
			j.first = err
		}
	}
	return outs
}

func byName(a, b store.Output) int { return strings.Compare(a.Name, b.Name) }

// err is the first error of writing that the runner may have overlooked.
func (j *job) err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.first
}

func (j *job) discardJournal() {
	if j.journal != nil {
		_ = j.journal.Remove() // a leftover journal is only ignored work
	}
}

func (j *job) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil && j.first == nil {
		j.first = err
	}
	return err
}

// Step implements step.Job.
func (j *job) Step() step.Step { return j.w.s }

// Params implements step.Job.
func (j *job) Params(v any) error { return j.w.params(v) }

func (w work) params(v any) error {
	dec := json.NewDecoder(bytes.NewReader(w.pre.Params))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%s: params: %w", w.s.Name, err)
	}
	return nil
}

// InputDigest implements step.Job.
func (j *job) InputDigest(input string) step.Digest { return j.w.pre.Inputs[input] }

// Open implements step.Job.
func (j *job) Open(input string) (io.ReadCloser, error) {
	d, ok := j.w.pre.Inputs[input]
	if !ok {
		if _, declared := j.w.s.Inputs[input]; declared {
			return nil, fmt.Errorf("%s: input %s: %w", j.w.s.Name, input, step.ErrNoInput)
		}
		return nil, fmt.Errorf("%s opens %q, which is not among its inputs", j.w.s.Name, input)
	}
	rc, err := j.content(j.w.s.Inputs[input], d)
	if err != nil {
		return nil, j.fail(fmt.Errorf("%s: input %s: %w", j.w.s.Name, input, err))
	}
	return &watched{ReadCloser: rc, j: j, input: input}, nil
}

// content opens what an input's digest names: an object of the store, or what a
// sealed file is decrypted to, which the store never sees.
func (j *job) content(in step.Input, d step.Digest) (io.ReadCloser, error) {
	if !in.Sealed {
		return j.r.e.Store.Open(d)
	}
	if j.r.e.Unseal == nil {
		return nil, fmt.Errorf("%s is encrypted, and nothing here opens it", in.Path)
	}
	rc, err := j.r.e.Unseal(j.r.log.ID(), in)
	if err != nil {
		return nil, err
	}
	return &verified{ReadCloser: rc, want: d, sum: sha256.New()}, nil
}

// verified compares content that does not come from the store with its digest.
type verified struct {
	io.ReadCloser
	want step.Digest
	sum  hash.Hash
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if err == io.EOF {
		if got := step.Digest(v.sum.Sum(nil)); got != v.want {
			err = fmt.Errorf("the content has digest %s, want %s", got.Short(), v.want.Short())
		}
	}
	return n, err
}

// watched remembers damage that a runner met while reading, even if the runner
// does not pass the error on.
type watched struct {
	io.ReadCloser
	j     *job
	input string
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = w.j.fail(fmt.Errorf("%s: input %s: %w", w.j.w.s.Name, w.input, err))
	}
	return n, err
}

// Create implements step.Job.
func (j *job) Create(name, mediaType string) (io.WriteCloser, error) {
	w, err := j.r.e.Store.Create()
	if err != nil {
		return nil, j.fail(fmt.Errorf("%s: output %s: %w", j.w.s.Name, name, err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, twice := j.outs[name]; twice || j.closed {
		w.Abort()
		return nil, fmt.Errorf("%s creates output %s twice or too late", j.w.s.Name, name)
	}
	o := &output{j: j, name: name, mediaType: mediaType, w: w}
	j.outs[name] = o
	j.order = append(j.order, name)
	return o, nil
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
		o.j.fail(fmt.Errorf("%s: output %s: %w", o.j.w.s.Name, o.name, err))
	}
	return n, err
}

// Close makes the output an object. It is not visible to anyone before the
// step's record names it.
func (o *output) Close() error {
	if o.committed || o.err != nil {
		return o.err
	}
	o.digest, o.size, o.err = o.w.Commit()
	if o.err != nil {
		return o.j.fail(fmt.Errorf("%s: output %s: %w", o.j.w.s.Name, o.name, o.err))
	}
	o.committed = true
	return nil
}

// Append implements step.Job.
func (j *job) Append(line []byte) error {
	if j.journal == nil {
		return fmt.Errorf("%s is pure and has no journal", j.w.s.Name)
	}
	return j.fail(j.journal.Append(line))
}

// Journal implements step.Job.
func (j *job) Journal(f func(line []byte) error) error {
	if j.journal == nil {
		return nil
	}
	return j.journal.Each(f)
}

// Earlier implements step.Job.
func (j *job) Earlier() []step.Earlier { return j.earlier }

// Note implements step.Job.
func (j *job) Note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

// Refuse implements step.Job.
func (j *job) Refuse(reason string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refused = reason
}

// Progress implements step.Job.
func (j *job) Progress(done, total int, note string) {
	j.r.messages <- message{ev: &Event{Step: j.w.s.Name, State: "progress", Done: done, Total: total, Note: note}}
}

// Logf implements step.Job.
func (j *job) Logf(format string, args ...any) {
	j.r.log.Logf("%s: %s", j.w.s.Name, fmt.Sprintf(format, args...))
}

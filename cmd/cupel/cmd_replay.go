package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

type replayOptions struct {
	unlock  unlock
	binds   []string
	measure bool
	into    string
}

func (a *app) replayCmd() *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay FILE|HASH",
		Short: "derive a decision again from its stored answers, or measure it again",
		Long: `Take the decision of a campaign, by its file or its spec hash, and derive every
score, comparison, record and verdict again from the measured outputs in the store,
in a store of its own. Every output is compared by digest. Nothing is sent, and the
store is only read; a hash is enough, no file is needed.

A step whose key is the same and whose output is not ends in exit code 1. A version
of cupel that derives something in another way has another key; where that changes an
output the exit code is 3, and where only the key differs it is 0.

--measure asks the endpoints everything again, into another store that stays (run
again to continue), and compares then with now by the campaign's own statistics: exit
code 1 when a candidate's quality moved by more than chance or a verdict changed, 3
when that cannot be said.

` + exitCodeTable(),
		Example: `  cupel replay pipelines/quickstart.yaml
  cupel replay 3f1c…e9 --measure --bind f16=http://127.0.0.1:8000/v1`,
		Args: exactArgs("FILE or HASH"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.measure {
				return a.replayMeasure(c.Context(), args[0], o)
			}
			return a.replay(c.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.measure, "measure", false, "measure again and compare then with now")
	f.StringVar(&o.into, "into", "", "`directory` of the other store (default: a temporary one; with --measure, one beside the store)")
	bindFlag(c, &o.binds)
	o.unlock.flags(c)
	return c
}

// past is a decision as a store remembers it.
type past struct {
	s        *store.Store
	loaded   *spec.Loaded
	ref      store.Ref
	wiring   *wiring
	plan     *plan.Plan
	records  map[step.Key]store.Record // of the keys of the decision
	byName   map[string]step.Key
	pureKind map[string]bool
}

// recallPast opens the store of a campaign or hash read-only and plans what was
// decided, with this version's stages.
func (a *app) recallPast(arg string, binds []string) (*past, error) {
	hash, s, err := a.gateStore(arg)
	if err != nil {
		return nil, err
	}
	p := &past{s: s}
	if err := a.fill(p, arg, hash, binds); err != nil {
		s.Close()
		return nil, err
	}
	return p, nil
}

func (a *app) fill(p *past, arg string, hash step.Digest, binds []string) (err error) {
	if p.ref, err = p.s.Ref(refName(hash)); errors.Is(err, store.ErrMissing) {
		return fail(exitUndetermined, fmt.Errorf("there is no decision for spec %s; run the campaign first", hash.Short()))
	} else if err != nil {
		return fail(exitOutside, err)
	}
	if p.loaded, err = campaignOf(p.s, p.ref, hash, arg); err != nil {
		return err
	}
	bindings, err := a.bindings(p.loaded, binds)
	if err != nil {
		return fail(exitUsage, err)
	}
	p.wiring = wire(p.loaded, bindings)
	if p.plan, err = plan.Build(p.loaded.Campaign, p.wiring.adders()...); err != nil {
		return fail(exitUsage, err)
	}
	return p.readRecords()
}

// campaignOf is the campaign of a decision: from its file where there is one,
// which knows where held-out items are, and from the store otherwise.
func campaignOf(s *store.Store, ref store.Ref, hash step.Digest, arg string) (*spec.Loaded, error) {
	if _, isHash := step.ParseDigest(arg); isHash != nil {
		l, err := spec.Load(arg)
		return l, fail(exitUsage, err)
	}
	if len(ref.Objects) < 3 {
		return nil, fail(exitOutside, fmt.Errorf("ref %s names no campaign", ref.Name))
	}
	b, err := s.Read(ref.Objects[2])
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	if step.SpecDigest(b) != hash {
		return nil, fail(exitOutside, fmt.Errorf("the stored campaign is not the one of spec %s", hash.Short()))
	}
	l, err := spec.FromCanonical(b, filepath.Dir(s.Dir()))
	return l, fail(exitUsage, err)
}

func (p *past) readRecords() error {
	p.byName, p.pureKind = map[string]step.Key{}, map[string]bool{}
	for _, s := range p.plan.Steps {
		p.pureKind[s.Kind] = s.Pure
	}
	var err error
	if p.records, err = p.s.Together(p.ref.Keys); err != nil {
		return fail(exitOutside, step.WithHint(fmt.Errorf("what the decision rests on: %w", err), "see `cupel store check`"))
	}
	for k, r := range p.records {
		p.byName[r.Name] = k
	}
	return nil
}

// pure reports whether the step behind a key is derived. A kind that this
// version does not have is taken as it is.
func (p *past) pure(k step.Key) bool { return p.pureKind[p.records[k].Kind] }

// measured are the keys that were measured, and files are the inputs that no
// step made and the store holds.
func (p *past) measured() (keys []step.Key) {
	for _, k := range p.ref.Keys {
		if !p.pure(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func (p *past) files() []step.Digest {
	var out []step.Digest
	for _, s := range p.plan.Steps {
		for _, in := range s.Inputs {
			if in.Step == "" && !in.Sealed && p.s.Has(in.Blob) {
				out = append(out, in.Blob)
			}
		}
	}
	slices.SortFunc(out, func(a, b step.Digest) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

// copyTo puts what a selection names into another store, verified on both sides.
func (p *past) copyTo(to *store.Store, sel store.Selection) error {
	r, w := io.Pipe()
	go func() {
		_, err := p.s.Export(w, sel)
		w.CloseWithError(err)
	}()
	_, err := to.Import(r, 1<<62)
	r.CloseWithError(err) // an exporter that is not done must not wait for ever
	return err
}

// otherStore opens the store that a replay writes to; close removes a temporary
// one.
func (a *app) otherStore(into string) (s *store.Store, close func(), err error) {
	remove := func() {}
	if into == "" {
		if into, err = os.MkdirTemp("", "cupel-replay-"); err != nil {
			return nil, nil, fail(exitOutside, err)
		}
		remove = func() { _ = os.RemoveAll(into) }
	}
	if s, err = a.openStore(into, store.ReadWrite); err != nil {
		remove()
		return nil, nil, err
	}
	return s, func() { s.Close(); remove() }, nil
}

// apart refuses to replay into the very store: everything is there already.
func (p *past) apart(into string) error {
	a, errA := os.Stat(into)
	b, errB := os.Stat(p.s.Dir())
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return fail(exitUsage, errors.New("--into is the store itself; name another directory"))
	}
	return nil
}

func (a *app) replay(ctx context.Context, arg string, o replayOptions) error {
	p, err := a.recallPast(arg, o.binds)
	if err != nil {
		return err
	}
	defer p.s.Close()
	if err := p.apart(o.into); err != nil {
		return err
	}
	to, closeIt, err := a.otherStore(o.into)
	if err != nil {
		return err
	}
	defer closeIt()
	if err := p.copyTo(to, store.Selection{Keys: p.measured(), Objects: p.files(), Beside: p.ref.Keys}); err != nil {
		return fail(exitOutside, err)
	}
	p.wiring.vault = o.unlock.vault("cupel replay")
	rows, runErr := a.rederive(ctx, p, to)
	if rows == nil {
		return runErr
	}
	return a.printReplay(p, rows)
}

// preimage is what a key of the decision is the hash of.
func (p *past) preimage(k step.Key) (pre step.Preimage, err error) {
	b, err := p.s.Preimage(k)
	if err == nil {
		err = json.Unmarshal(b, &pre)
	}
	return pre, err
}

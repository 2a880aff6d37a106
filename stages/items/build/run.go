package build

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/dedupe"
	"github.com/cupel-dev/cupel/stages/items/scrub"
)

// baseMemory is what a build needs besides its items, in bytes: buffers, batches,
// the runtime.
const baseMemory = 96 << 20

// Run builds items and calls emit with each: the expert ones first, then those of
// the logs in their order. The same options and bytes give the same calls. The
// report is complete when err is nil, and says how far it got otherwise.
func Run(ctx context.Context, o Options, emit func(items.Item) error) (Report, error) {
	r := Report{Reasons: map[string]int{}, Scrubbed: map[string]int{}, ExpertMatches: map[string]int{}, ByStratum: map[string]int{},
		Skips: []Skip{}, Clusters: [][]string{}, Windows: []Window{}}
	if err := o.fill(); err != nil {
		return r, err
	}
	b := builder{o: &o, report: &r}
	defer b.close()
	err := b.run(ctx, emit)
	return r, err
}

// fill puts in defaults and refuses what means nothing.
func (o *Options) fill() error {
	setZero(&o.MaxBroken, 0.05)
	setZero(&o.MaxLine, items.MaxLine)
	setZero(&o.Memory, 400<<20)
	setZero(&o.Near, 0.85)
	setZero(&o.Sample.Window, 7*24*time.Hour)
	switch {
	case len(o.Logs)+len(o.Expert) == 0:
		return errors.New("there are neither logs nor expert items to build from")
	case o.Sample.N < 0:
		return fmt.Errorf("sample: %d lines cannot be drawn", o.Sample.N)
	case o.Sample.Window < time.Second:
		return fmt.Errorf("sample: a window of %v is shorter than a second", o.Sample.Window)
	case !(o.MaxBroken > 0 && o.MaxBroken <= 1):
		return fmt.Errorf("a share of broken lines of %v is not from 0 to 1", o.MaxBroken)
	case o.MaxLine < 2 || o.MaxLine > items.MaxLine:
		return fmt.Errorf("a line of at most %d bytes: want 2 to %d", o.MaxLine, items.MaxLine)
	}
	return nil
}

func setZero[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

type builder struct {
	o      *Options
	report *Report
	spools []*spool
}

func (b *builder) close() {
	for _, s := range b.spools {
		s.close()
	}
}

func (b *builder) spool() (*spool, error) {
	s, err := newSpool(b.o.TempDir)
	if err == nil {
		b.spools = append(b.spools, s)
	}
	return s, err
}

func (b *builder) run(ctx context.Context, emit func(items.Item) error) error {
	c := &cleaning{o: b.o, report: b.report}
	var err error
	if c.scrub, err = scrub.New(b.o.Scrub); err != nil {
		return err
	}
	if err := checkLabelNames(c.scrub, b.o.Map.Labels); err != nil {
		return err
	}
	if b.o.Near > 0 {
		if c.bands, err = dedupe.BandsFor(b.o.Near); err != nil {
			return err
		}
	}
	e := &emitting{o: b.o, report: b.report, emit: emit, names: &pseudonyms{c.scrub, map[string]labelValue{}}}
	if e.expert, err = b.readExpert(); err != nil {
		return err
	}
	if err := e.claimExpert(); err != nil {
		return err
	}
	if err := b.clean(ctx, c, e.expert); err != nil {
		return err
	}
	if e.leader, err = b.resolve(ctx, c, len(e.expert)); err != nil {
		return err
	}
	return e.all(ctx, c.out)
}

// readExpert reads the hand-written items; a broken line among them is an error.
func (b *builder) readExpert() ([]items.Item, error) {
	var all []items.Item
	for _, src := range b.o.Expert {
		r, err := src.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Name, err)
		}
		err = items.ReadNamed(src.Name, r, func(it items.Item) error {
			if it.Source == "" {
				it.Source = "expert"
			}
			all = append(all, it)
			return nil
		})
		r.Close()
		if err != nil {
			return nil, err
		}
	}
	b.report.Expert = len(all)
	return all, nil
}

// clean reads, draws, scrubs and drops exact duplicates.
func (b *builder) clean(ctx context.Context, c *cleaning, expert []items.Item) error {
	requests, err := b.spool()
	if err != nil {
		return err
	}
	times, err := b.spool()
	if err != nil {
		return err
	}
	rd := &reading{o: b.o, parser: newParser(b.o.Map), report: b.report, requests: requests, times: times}
	if err := rd.readAll(ctx); err != nil {
		return err
	}
	drawn, err := sample(times, b.report.Read, b.o.Sample, b.report)
	if err != nil {
		return err
	}
	n := b.report.Sampled + len(expert)
	if err := b.fits(c, n); err != nil {
		return err
	}
	c.seen = map[dedupe.Key]struct{}{}
	if b.o.Near > 0 {
		c.index = dedupe.NewIndex(c.bands, n, len(expert))
		c.at = make([]int64, 0, n)
	}
	if c.out, err = b.spool(); err != nil {
		return err
	}
	if err := c.expert(expert); err != nil {
		return err
	}
	if err := c.logs(ctx, requests, drawn); err != nil {
		return err
	}
	c.seen = nil
	return nil
}

// fits refuses before the work what would not stay under the limit.
func (b *builder) fits(c *cleaning, n int) error {
	const hashed = 48 // a key of the map of exact hashes
	each := int64(hashed)
	if b.o.Near > 0 {
		each += c.bands.BytesPerText() + 8
	}
	if need := baseMemory + each*int64(n)*3/2; need > b.o.Memory {
		return step.WithHint(fmt.Errorf("de-duplicating %d items takes about %d MB, %d are allowed", n, need>>20, b.o.Memory>>20),
			"sample fewer lines or allow more memory")
	}
	return nil
}

// resolve finds near-duplicates.
func (b *builder) resolve(ctx context.Context, c *cleaning, pinned int) ([]int32, error) {
	if c.index == nil {
		return nil, nil
	}
	if _, err := c.out.rewind(); err != nil { // what is buffered must be there to be read
		return nil, err
	}
	leader, err := c.index.Resolve(newConfirmer(ctx, c).near)
	if err != nil {
		return nil, err
	}
	b.report.NearUnchecked = c.index.Unchecked
	c.index, c.at = nil, nil
	for _, l := range leader[:pinned] {
		if l >= 0 {
			b.report.ExpertAlike++
		}
	}
	return leader, nil
}

package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-dev/cupel/engine/step"
)

// What can be wrong with a store.
const (
	ProblemDamaged  = "damaged"  // it is not what was written
	ProblemMissing  = "missing"  // something it names is not there
	ProblemMisnamed = "misnamed" // its name or place does not fit
	ProblemMode     = "mode"     // it could be changed in place
	ProblemNote     = "note"     // no problem: a leftover, a torn end, something unknown
)

// Problem is one finding of Check.
type Problem struct {
	Kind   string
	Path   string      // inside the store
	Digest step.Digest // of the object concerned, if one is
	Why    string
}

// checkers is how many objects are read at a time.
const checkers = 2

// Check looks at everything in the store and calls report with every problem,
// sorted by path, at its end. With readData it also reads and hashes all
// objects; without, a changed byte in one is not found. It changes nothing and
// may run while others write. An error means that it could not look.
func (s *Store) Check(readData bool, report func(Problem)) (Stats, error) {
	c := &checker{s: s, objects: make(chan step.Digest, 64)}
	var workers sync.WaitGroup
	for range checkers {
		workers.Go(c.readObjects)
	}
	var t Stats
	err := s.walk(func(f file) error {
		t.count(f)
		c.file(f, readData)
		return nil
	})
	close(c.objects)
	workers.Wait()
	slices.SortFunc(c.found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Why, b.Why))
	})
	for _, p := range c.found {
		report(p)
	}
	return t, errors.Join(err, c.err)
}

type checker struct {
	s       *Store
	objects chan step.Digest

	mu    sync.Mutex
	found []Problem
	err   error
}

func (c *checker) add(p Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, p)
}

func (c *checker) problem(f file, kind, format string, args ...any) {
	c.add(Problem{Kind: kind, Path: f.rel, Why: fmt.Sprintf(format, args...)})
}

// fail reports err as damage, or as missing, or as a reason not to trust the
// whole check.
func (c *checker) fail(f file, err error) {
	var damaged *Damaged
	switch {
	case errors.As(err, &damaged):
		c.problem(f, ProblemDamaged, "%s", damaged.Why)
	case errors.Is(err, ErrMissing):
		// removed since the walk saw it
	default:
		c.mu.Lock()
		c.err = errors.Join(c.err, err)
		c.mu.Unlock()
	}
}

func (c *checker) readObjects() {
	for d := range c.objects {
		err := c.s.Verify(d)
		var damaged *Damaged
		if errors.As(err, &damaged) {
			c.add(Problem{Kind: ProblemDamaged, Path: c.s.rel(damaged.Path), Digest: d, Why: damaged.Why})
		} else if err != nil {
			c.fail(file{}, err)
		}
	}
}

// file checks one file by the area it lies in.
func (c *checker) file(f file, readData bool) {
	if f.leftover() {
		c.problem(f, ProblemNote, "a temporary file of %d bytes: a process was killed or is at work", f.size)
		return
	}
	if !f.mode.IsRegular() {
		c.problem(f, ProblemDamaged, "it is not a regular file (%s)", f.mode.Type())
		return
	}
	switch f.area {
	case "objects":
		c.object(f, readData)
	case "keys":
		c.preimage(f)
	case "steps":
		c.record(f)
	case "families":
		c.family(f)
	case "observations":
		c.observation(f)
	case "refs":
		c.ref(f)
	case "runs":
		c.run(f)
	case "journals":
		c.journal(f)
	case "quarantine":
		c.quarantined(f)
	case "locks", "format":
	default:
		c.problem(f, ProblemNote, "cupel did not put it here")
	}
}

// frozen checks that nothing invites a change in place.
func (c *checker) frozen(f file) {
	if f.mode.Perm()&0o222 != 0 {
		c.problem(f, ProblemMode, "its mode is %04o, want %04o", f.mode.Perm(), frozen)
	}
}

// hexName returns the 64 digits of "ab/<64 hex><suffix>", or "".
func (f file) hexName(suffix string) string {
	if len(f.elem) != 2 {
		return ""
	}
	x, ok := strings.CutSuffix(f.elem[1], suffix)
	if !ok || len(x) != 64 || f.elem[0] != x[:2] {
		return ""
	}
	return x
}

func (c *checker) object(f file, readData bool) {
	d, err := step.ParseDigest(f.hexName(""))
	if err != nil {
		c.problem(f, ProblemMisnamed, "objects are named objects/ab/<sha256>")
		return
	}
	c.frozen(f)
	if f.size == 0 {
		c.add(Problem{Kind: ProblemDamaged, Path: f.rel, Digest: d, Why: "the file is empty"})
	} else if readData {
		c.objects <- d
	}
}

func (c *checker) preimage(f file) {
	k, err := step.ParseKey(f.hexName(".json"))
	if err != nil {
		c.problem(f, ProblemMisnamed, "preimages are named keys/ab/<key>.json")
		return
	}
	c.frozen(f)
	if _, err := c.s.Preimage(k); err != nil {
		c.fail(f, err)
	}
}

func (c *checker) record(f file) {
	var k step.Key
	var n int
	ok := len(f.elem) == 3
	if ok {
		n, ok = parseNumber(f.elem[2], ".json")
	}
	if ok {
		var err error
		k, err = step.ParseKey(f.elem[1])
		ok = err == nil && f.elem[0] == f.elem[1][:2]
	}
	if !ok {
		c.problem(f, ProblemMisnamed, "records are named steps/ab/<key>/<n>.json")
		return
	}
	c.frozen(f)
	r, err := c.s.readRecord(k, n)
	if err != nil {
		c.fail(f, err)
		return
	}
	c.outputs(f, r)
	if _, err := c.s.Preimage(k); errors.Is(err, ErrMissing) {
		c.problem(f, ProblemMissing, "its preimage is missing")
	}
}

// outputs checks that all objects of r are there.
func (c *checker) outputs(f file, r Record) {
	for _, o := range r.Outputs {
		if !c.s.Has(o.Digest) {
			c.add(Problem{Kind: ProblemMissing, Path: f.rel, Digest: o.Digest, Why: fmt.Sprintf("output %q, object %s, is missing", o.Name, o.Digest.Short())})
		}
	}
}

func (c *checker) observation(f file) {
	name, ok := strings.CutSuffix(strings.Join(f.elem, "/"), ".json")
	d, err := step.ParseDigest(name)
	if !ok || err != nil {
		c.problem(f, ProblemMisnamed, "observations are named observations/<digest>.json")
		return
	}
	r, err := c.s.readObservation(d)
	if err != nil {
		c.fail(f, err)
		return
	}
	c.outputs(f, r)
}

func (c *checker) ref(f file) {
	name, ok := strings.CutSuffix(strings.Join(f.elem, "/"), refSuffix)
	if !ok || checkRefName(name) != nil {
		c.problem(f, ProblemMisnamed, "refs are named refs/<name>.json")
		return
	}
	r, err := c.s.Ref(name)
	if err != nil {
		c.fail(f, err)
		return
	}
	if missing := c.s.missingOf(r); missing != "" {
		c.problem(f, ProblemMissing, "%s, which it keeps, is missing", missing)
	}
}

func (c *checker) run(f file) {
	if len(f.elem) != 2 || checkRunID(f.elem[0]) != nil {
		c.problem(f, ProblemMisnamed, "runs are named runs/<ulid>/")
		return
	}
	switch f.elem[1] {
	case "run.json":
		l, err := c.s.ReadRun(f.elem[0])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.fail(f, err)
		} else if err == nil && l.Torn > 0 {
			c.problem(f, ProblemNote, "%d of its events are torn", l.Torn)
		}
	case "events.jsonl", "log":
	default:
		if !isLogName(f.elem[1]) {
			c.problem(f, ProblemNote, "cupel did not put it here")
		}
	}
}

func (c *checker) journal(f file) {
	var k step.Key
	var n int
	err := errNotSealed
	if len(f.elem) == 2 {
		k, err = step.ParseKey(f.elem[0])
		if num, ok := parseNumber(f.elem[1], segmentSuffix); ok {
			n = num
		}
	}
	if err != nil || n == 0 {
		c.problem(f, ProblemMisnamed, "journals are named journals/<key>/<n>.log")
		return
	}
	lost, err := c.s.scanSegment(f.path, segmentID{key: k, n: n}, func([]byte) error { return nil })
	if err != nil {
		c.fail(f, err)
	} else if lost > 0 {
		c.problem(f, ProblemNote, "%d torn or damaged stretches; the lines around them are used", lost)
	}
}

func (c *checker) quarantined(f file) {
	if !strings.HasSuffix(f.rel, ".json") {
		c.problem(f, ProblemNote, "it was damaged and moved here; the note beside it says why")
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

// heldOutWorkloads are the workloads that take a held-out part, by name.
func heldOutWorkloads(c *spec.Campaign) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		if q := c.Measure[name].Quality; q != nil && q.Suite.HeldOut != nil {
			names = append(names, name)
		}
	}
	return names
}

// checkSuites compares what campaigns run with what was frozen, by the digests
// of the whole version and of the versions beside it, and looks at held-out
// parts as far as their index goes.
func checkSuites(l *spec.Loaded) (errs spec.Errors) {
	seen := map[string]error{}
	for name, w := range l.Campaign.Measure {
		q := w.Quality
		if q == nil || q.Suite.Dir == "" {
			continue
		}
		err, known := seen[q.Suite.Dir]
		if !known {
			err = checkFrozen(q.Suite.Dir)
			seen[q.Suite.Dir] = err
		}
		if err != nil {
			errs = append(errs, l.At([]string{"measure", name, "suite"}, err.Error(), ""))
			continue
		}
		if q.Suite.HeldOut == nil {
			continue
		}
		for _, err := range scoring(l).CheckHeldOut(q, false, func(f func(items.Item) error) error { return labelsOf(q, f) }) {
			errs = append(errs, l.At([]string{"measure", name}, err.Error(), ""))
		}
	}
	return errs
}

func checkFrozen(dir string) error {
	s, err := suite.Open(dir)
	if err != nil {
		return err
	}
	return s.Chain()
}

// labelsOf yields held-out items as far as the index knows them.
func labelsOf(q *spec.Quality, f func(items.Item) error) error {
	s, err := heldOutSet(q)
	if err != nil {
		return err
	}
	return s.Index(func(e suite.Entry) error { return f(e.Labels()) })
}

// inspect reads the held-out items of a campaign before anything is sent: does
// the index say what they are, can their scorers use them, and do their texts
// stand in a prompt. What it finds is named by ids.
func (v *vault) inspect(l *spec.Loaded) error {
	var errs spec.Errors
	leaks := map[string]*suite.Leaks{} // suite's folder ->
	for _, name := range heldOutWorkloads(l.Campaign) {
		q := l.Campaign.Measure[name].Quality
		s, err := v.set(q)
		if err != nil {
			return err
		}
		o, err := v.open(s, "leak check", s.Split.HeldOut.Count)
		if err != nil {
			return err
		}
		found, again := leaks[q.Suite.Dir]
		if !again {
			found = suite.NewLeaks()
			leaks[q.Suite.Dir] = found
		}
		for _, err := range scoring(l).CheckHeldOut(q, true, func(f func(items.Item) error) error {
			return o.Items(func(it items.Item) error {
				if !again {
					found.Add(&it)
				}
				return f(it)
			})
		}) {
			if errors.Is(err, suite.ErrTampered) {
				return err
			}
			errs = append(errs, l.At([]string{"measure", name}, err.Error(), ""))
		}
	}
	places, err := promptPlaces(l.Canonical)
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(leaks)) {
		for _, p := range places {
			if ids := leakedIDs(leaks[dir].In(p.texts)); ids != "" {
				errs = append(errs, l.At(p.path, "leak: held-out items stand here: "+ids, "take them out of the prompt, or run another part; no text is quoted"))
			}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs.Sorted()
}

// promptPlace is a part of a campaign with its texts.
type promptPlace struct {
	path  []string
	texts *suite.Texts
}

// promptPlaces cuts a canonical campaign into candidates, workloads and the
// other sections.
func promptPlaces(canonical []byte) ([]promptPlace, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &doc); err != nil {
		return nil, err
	}
	var out []promptPlace
	add := func(raw json.RawMessage, path ...string) error {
		p := promptPlace{path, suite.NewTexts()}
		out = append(out, p)
		return p.texts.AddCampaign(raw, path[len(path)-1])
	}
	for _, section := range slices.Sorted(maps.Keys(doc)) {
		var parts map[string]json.RawMessage
		if section != "candidates" && section != "measure" || json.Unmarshal(doc[section], &parts) != nil {
			if err := add(doc[section], section); err != nil {
				return nil, err
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if err := add(parts[name], section, name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// leakedIDs lists ids, "" when there are none.
func leakedIDs(all []suite.Leak) string {
	const most = 20
	var ids []string
	for _, l := range all[:min(most, len(all))] {
		ids = append(ids, l.ID)
	}
	text := strings.Join(ids, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// prepare opens and inspects the held-out items of a campaign when a step is to
// run that reads them, or that sends anything which they could stand in. What is
// cached needs no identity. The answer says that leaks were not looked for.
func (v *vault) prepare(c *campaign, e *exec.Engine) (unseen bool, err error) {
	if len(heldOutWorkloads(c.loaded.Campaign)) == 0 {
		return false, nil
	}
	rows, err := e.Preview(c.plan)
	if err != nil {
		return false, fail(exitUsage, err)
	}
	for _, r := range rows {
		if r.Forecast != exec.WillRun && r.Forecast != exec.WillWait {
			continue
		}
		if v.locked() && readsSealed(r.Step) {
			return false, fail(exitUsage, step.WithHint(fmt.Errorf("%s reads held-out items, and they are encrypted; nothing was sent", r.Name), giveIdentity))
		}
		unseen = unseen || readsSealed(r.Step) || !r.Step.Pure && !r.Step.Observes
	}
	if !unseen || v.locked() {
		return unseen, nil
	}
	return false, heldOutError(v.inspectOnce(c.loaded))
}

func (v *vault) inspectOnce(l *spec.Loaded) error {
	v.inspection.Do(func() { v.inspected = v.inspect(l) })
	return v.inspected
}

// heldOutError gives an error of a campaign's held-out items its code: what was
// tampered with makes the spec invalid.
func heldOutError(err error) error {
	if errors.Is(err, suite.ErrTampered) {
		return fail(exitUsage, err)
	}
	return itemsError(err)
}

// openHeldOut does before a run what held-out items ask for: their access logs
// are compared with what this store saw of them, and they are opened and
// inspected if a step is to read them.
func (a *app) openHeldOut(c *campaign, s *store.Store, e *exec.Engine) error {
	doubts, err := logDoubts(c.loaded, s)
	if err != nil {
		return fail(exitUsage, err)
	}
	for _, d := range doubts {
		fmt.Fprintf(a.stderr, "cupel: warning: %s\n", d)
	}
	unseen, err := c.wiring.vault.prepare(c, e)
	if unseen {
		fmt.Fprintf(a.stderr, "cupel: warning: the held-out items are encrypted, so whether they stand in a prompt was not looked at; %s\n", giveIdentity)
	}
	a.closeHeldOut(c, s)
	return err
}

// closeHeldOut writes down how far the access logs go after a run.
func (a *app) closeHeldOut(c *campaign, s *store.Store) {
	if err := keepMarks(c.loaded, s); err != nil {
		a.notef("cupel: how far the access log goes was not kept: %v\n", err)
	}
}

func readsSealed(s step.Step) bool {
	for _, in := range s.Inputs {
		if in.Sealed {
			return true
		}
	}
	return false
}

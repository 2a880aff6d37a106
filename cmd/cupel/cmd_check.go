package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/decide"
	"github.com/cupel-dev/cupel/stages/imported"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/preflight"
	"github.com/cupel-dev/cupel/stages/research"
	"github.com/cupel-dev/cupel/stages/score"
)

func (a *app) checkCmd() *cobra.Command {
	var u unlock
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "validate a campaign: schema, items, guards, sample sizes",
		Long: `Validate a campaign before anything is sent: every field against the schema, the
items against their scorers, the guards against the metrics that will exist.
Prints nothing when all is well, like go vet. Warnings (a guard that the items
cannot decide, a pin that is not declared) are printed and do not fail the
check. Of energy workloads it says how long their cells last, for which it watches the
meter of this machine for three seconds, and warns of what their energy will be refused
for. With pins: strict a pin that is not declared and that no page of the engine tells
fails it; one that a page may tell is decided by the run.

Of a held-out part the index is checked: counts, labels, scorers. With --identity
its items are opened too, which is recorded, and a campaign in whose prompts one of
them stands is refused.

` + exitCodeTable(),
		Example: `  cupel check pipelines/quickstart.yaml
  cupel check campaign.cue -v`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			loaded, err := spec.Load(args[0])
			if err != nil {
				return fail(exitUsage, err)
			}
			if err := refuse(loaded); err != nil {
				return fail(exitUsage, err)
			}
			if err := checkHeldOut(loaded, u); err != nil {
				return err
			}
			warnings, err := a.warnings(loaded, u.identity == "")
			if err != nil {
				return fail(exitUsage, err)
			}
			says, foreseen := energyHere(c.Context(), loaded.Campaign)
			warnings = append(warnings, foreseen...)
			if a.json {
				out := map[string]any{"spec_hash": loaded.Digest, "warnings": warnings}
				if says != nil {
					out["energy"] = says
				}
				return a.printJSON(out)
			}
			for _, s := range says {
				a.printf("%s\n", printable(s))
			}
			for _, w := range warnings {
				fmt.Fprintf(a.stderr, "%s: warning: %s\n", args[0], printable(w))
			}
			if a.verbose {
				a.printf("%s: ok, spec %s\n", args[0], loaded.Digest)
			}
			return nil
		},
	}
	u.flags(c)
	return c
}

// energyHere says how long the cells of energy workloads last, and what their energy
// will be refused for, with what the meter of this machine says of its counters.
func energyHere(ctx context.Context, c *spec.Campaign) (says, warnings []string) {
	for _, w := range c.Measure {
		if w.Energy != nil {
			here := probeHere(ctx)
			return energySays(c, here), energyWarns(c, here)
		}
	}
	return nil, nil
}

// checkHeldOut opens and inspects held-out items when there is an identity.
func checkHeldOut(l *spec.Loaded, u unlock) error {
	if u.identity == "" || len(heldOutWorkloads(l.Campaign)) == 0 {
		return nil
	}
	return heldOutError(u.vault("cupel check").inspect(l))
}

// refuse collects everything that a run would stumble over:
// candidates that nothing tells apart, prompts that cannot be built,
// items that do not fit their scorers, guards that do not type-check.
func refuse(l *spec.Loaded) error {
	var all spec.Errors
	for _, e := range decide.Check(l.Campaign) {
		path := []string{"decide", "guards"}
		if e.Guard != "" {
			path = append(path, e.Guard)
		}
		if e.Guard != "" {
			path = append(path, e.Field)
		}
		all = append(all, l.At(path, e.Msg, guardHint(e)))
	}
	all = append(all, indistinguishable(l)...)
	all = append(all, neverPinned(l)...)
	for name, w := range l.Campaign.Measure {
		if err := measure.Check(w); err != nil {
			all = append(all, l.At([]string{"measure", name}, err.Error(), ""))
		}
	}
	for name, w := range l.Campaign.Measure {
		for _, bad := range measure.CheckRecordings(w) {
			all = append(all, l.At([]string{"measure", name, "traces", bad.Candidate, fmt.Sprintf("[%d]", bad.Index), "file"}, bad.Err.Error(), ""))
		}
	}
	for name := range l.Campaign.Measure {
		if err := imported.Check(l.Campaign, name); err != nil {
			msg, hint := hinted(err)
			all = append(all, l.At([]string{"measure", name, "files"}, msg, hint))
		}
	}
	for _, err := range scoring(l).Check(l.Campaign, openFile) {
		name, msg := workloadOf(l, err)
		all = append(all, l.At([]string{"measure", name}, msg, ""))
	}
	for _, p := range score.CheckJudges(l.Campaign, openFile) {
		all = append(all, l.At([]string{"judges", p.Judge, p.Field}, p.Err.Error(), ""))
	}
	for _, p := range research.Check(l.Campaign) {
		all = append(all, l.At([]string{"research", "sources", fmt.Sprintf("[%d]", p.Source), "claims", fmt.Sprintf("[%d]", p.Claim), p.Field}, p.Msg, p.Hint))
	}
	all = append(all, checkSuites(l)...)
	for _, p := range preflight.Check(l.Campaign) {
		all = append(all, problemAt(l, p))
	}
	if len(all) == 0 {
		return nil
	}
	return all.Sorted()
}

// problemAt puts a problem and its hint at its place in the file.
func problemAt(l *spec.Loaded, p preflight.Problem) *spec.Error {
	msg, hint := hinted(p.Err)
	return l.At(p.Path, msg, hint)
}

// hinted parts an error from what can be done about it.
func hinted(err error) (msg, hint string) {
	if h, ok := errors.AsType[*step.Hint](err); ok {
		return strings.Replace(err.Error(), "; "+h.Todo, "", 1), h.Todo
	}
	return err.Error(), ""
}

// indistinguishable refuses candidates with equal pins. They would be one
// configuration: what is measured of one would be served for the other.
func indistinguishable(l *spec.Loaded) (errs spec.Errors) {
	if l.Campaign.Imported() {
		return nil // none is asked anything
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(l.Campaign.Candidates)) { // two judges may be one model with two rubrics
		same := pin.Configuration(l.Campaign, name)
		if other, twice := seen[same]; twice {
			errs = append(errs, l.At([]string{"candidates", name},
				fmt.Sprintf("is the same configuration as %s: no pin differs", other),
				"declare what differs, such as model.revision, engine.version, quantization or servedName"))
		}
		seen[same] = name
	}
	return errs
}

// neverPinned refuses, where pins are strict, pins that no run could know: not
// declared, and told by no page of the engine.
func neverPinned(l *spec.Loaded) (errs spec.Errors) {
	if l.Campaign.Pins != "strict" {
		return nil
	}
	for _, cand := range slices.Sorted(maps.Keys(l.Unknown)) {
		engine := l.Campaign.Candidates[cand].Engine.Name
		never := pin.Untellable(engine, l.Unknown[cand])
		if never == nil {
			continue
		}
		errs = append(errs, l.At([]string{"candidates", cand},
			fmt.Sprintf("pins are strict, and not declared and told by no page of %s are %s", cmp.Or(engine, "any engine"), strings.Join(never, ", ")),
			"declare them, or remove pins: strict"))
	}
	return errs
}

// workloadOf splits "measure.NAME: what" into its parts.
func workloadOf(l *spec.Loaded, err error) (name, msg string) {
	msg = err.Error()
	for name := range l.Campaign.Measure {
		if rest, ok := strings.CutPrefix(msg, "measure."+name+": "); ok {
			return name, rest
		}
	}
	return "", msg
}

// guardHint says where in the rule the mistake is.
func guardHint(e decide.CheckError) string {
	if e.Line == 0 {
		return ""
	}
	return fmt.Sprintf("at %d:%d of the rule\n%s", e.Line, e.Col, e.Caret)
}

func openFile(f spec.File) (io.ReadCloser, error) { return spec.OpenFile(f.Path) }

// warnings are doubts that do not stop a run; locked says that held-out items
// were not opened.
func (a *app) warnings(l *spec.Loaded, locked bool) ([]string, error) {
	out := []string{}
	for _, w := range l.Warnings {
		out = append(out, w.Error())
	}
	otherwise := ""
	if l.Campaign.Pins == "strict" {
		otherwise = ", or the run stops"
	}
	for _, cand := range slices.Sorted(maps.Keys(l.Unknown)) {
		out = append(out, fmt.Sprintf("candidate %s: not declared, so known only if the endpoint says it%s: %s", cand, otherwise, strings.Join(l.Unknown[cand], ", ")))
	}
	out = append(out, a.serveWarnings(l)...)
	held, err := a.heldOutWarnings(l, locked)
	if err != nil {
		return nil, err
	}
	out = append(out, held...)
	if a := l.Campaign.Decide.Approvals; a != nil && a.Required > 0 {
		if _, err := readSigners(signersFile("", a, l.Dir)); err != nil {
			out = append(out, "decide.approvals: nobody can approve yet: "+err.Error())
		}
	}
	out = append(out, futureResearch(l.Campaign)...)
	out = append(out, research.Warnings(l.Campaign)...)
	out = append(out, preflight.Warnings(l.Campaign)...)
	counts, err := selectedItems(l)
	if err != nil {
		return nil, err
	}
	return append(out, decide.Warnings(l.Campaign, counts)...), nil
}

// selectedItems counts the items that each quality workload uses, by stratum.
func selectedItems(l *spec.Loaded) (map[string]map[string]int, error) {
	out := map[string]map[string]int{}
	for name, w := range l.Campaign.Measure {
		q := w.Quality
		if q == nil {
			continue
		}
		counts, keep := map[string]int{}, items.NewSelector(q.Where, q.Limit, q.Stratify)
		err := eachLabels(q, func(it items.Item) error {
			if keep.Keep(&it) {
				counts[it.Stratum(q.Stratify)]++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		out[name] = counts
	}
	return out, nil
}

// eachLabels yields the items of a workload with their labels, of a held-out
// part from its index.
func eachLabels(q *spec.Quality, f func(items.Item) error) error {
	if q.Suite.HeldOut != nil {
		return labelsOf(q, f)
	}
	r, err := openFile(q.Suite.Items)
	if err != nil {
		return err
	}
	defer r.Close()
	return items.ReadNamed(q.Suite.Items.Name, r, f)
}

// heldOutWarnings say what was not looked at, and what is odd about access logs.
func (a *app) heldOutWarnings(l *spec.Loaded, locked bool) ([]string, error) {
	names := heldOutWorkloads(l.Campaign)
	if len(names) == 0 {
		return nil, nil
	}
	var out []string
	if locked {
		out = append(out, fmt.Sprintf("the held-out items of %s are encrypted: whether they stand in a prompt, and whether their scorers can use them, was not looked at; %s", strings.Join(names, ", "), giveIdentity))
	}
	s, err := a.storeIfThere(l)
	if err != nil {
		return nil, err
	}
	if s != nil {
		defer s.Close()
	}
	doubts, err := logDoubts(l, s)
	return append(out, doubts...), err
}

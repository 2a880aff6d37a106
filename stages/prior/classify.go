package prior

import (
	"fmt"
	"math"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Schema names the format of research.json.
const Schema = "cupel/research/v1"

// Measurer finds the values of this campaign for a claim. The reason says why
// there are none.
type Measurer func(evidence.Prior) (values []evidence.ClaimMeasured, reason string)

// Of takes the facts from a campaign and classifies them, before anything is
// measured. nil when the campaign lists no research.
func Of(c *spec.Campaign) *evidence.Research {
	if c.Research == nil {
		return nil
	}
	r := &evidence.Research{Schema: Schema, ObservedOn: c.Research.ObservedOn, Shortlist: c.Research.Shortlist, Sources: []evidence.ResearchSource{}}
	for _, s := range c.Research.Sources {
		r.Sources = append(r.Sources, sourceOf(s))
	}
	Classify(r, nil)
	return r
}

func sourceOf(s spec.Source) evidence.ResearchSource {
	out := evidence.ResearchSource{
		ID: s.ID, Kind: s.Kind, URL: s.URL, Publisher: s.Publisher, OwnsFact: s.OwnsFact, PublishedOn: s.PublishedOn,
		Snapshot: digestOf(s.Snapshot), Claims: []evidence.Prior{},
	}
	if c := s.CorroboratedBy; c != nil {
		out.CorroboratedBy = &evidence.Corroboration{Sources: c.Sources, Workloads: c.Workloads, Tolerance: c.Tolerance}
	}
	for _, c := range s.Claims {
		out.Claims = append(out.Claims, evidence.Prior{
			Label: evidence.ExternalPrior, Candidate: c.Candidate, Metric: c.Metric, Value: c.Value, Unit: c.Unit, Workload: c.Workload, Cell: c.Cell,
		})
	}
	return out
}

func digestOf(f *spec.File) *step.Digest {
	if f == nil {
		return nil
	}
	return &f.Digest
}

// Classify fills in what follows from the facts: ages, roles, what bears each
// claim out, and which claims a guard may read. measured is nil while nothing is
// measured; corroboration by a workload then stands out.
func Classify(r *evidence.Research, measured Measurer) {
	for i := range r.Sources {
		s := &r.Sources[i]
		s.AgeDays, s.Age = Age(s.PublishedOn, r.ObservedOn)
	}
	for i := range r.Sources {
		k := classifier{r, &r.Sources[i], measured}
		k.source()
	}
}

// classifier looks at one source.
type classifier struct {
	research *evidence.Research
	src      *evidence.ResearchSource
	measured Measurer
}

// support is what bears a claim, or a whole source, out.
type support struct{ local, official bool }

func (k classifier) source() {
	whole := support{local: len(k.src.Claims) > 0, official: len(k.src.Claims) > 0}
	for i := range k.src.Claims {
		s := k.claim(&k.src.Claims[i])
		whole.local, whole.official = whole.local && s.local, whole.official && s.official
	}
	if len(k.src.Claims) == 0 {
		whole.official = k.anyOfficial()
	}
	k.src.Role, k.src.Reason = k.role("", whole)
}

func (k classifier) claim(c *evidence.Prior) support {
	c.Measured, c.Unmeasured, c.Corroborated, c.Uncertain = nil, "", nil, nil
	if k.measured != nil {
		c.Measured, c.Unmeasured = k.measured(*c)
	}
	var s support
	if by := k.src.CorroboratedBy; by != nil {
		s.official = k.bySources(c, by)
		s.local = k.byWorkloads(c, by)
	}
	c.Role, c.Reason = k.role(c.Metric, s)
	c.Unusable = k.unusable(c.Role, s)
	return s
}

// unusable is the reason code for which no guard reads a claim.
func (k classifier) unusable(role string, s support) string {
	switch {
	case k.src.Snapshot == nil:
		return NoSnapshot
	case role == evidence.HistoricalLead:
		return StalePrior
	case k.src.Age == evidence.AgeUnknown && !s.local && !s.official:
		return UnknownAge
	}
	return ""
}

// bySources asks the named sources: each that is official, current, kept and
// states the same value bears the claim out.
func (k classifier) bySources(c *evidence.Prior, by *evidence.Corroboration) (ok bool) {
	for _, id := range by.Sources {
		if why := k.unconfirmed(c, id, by.Tolerance); why != "" {
			c.Uncertain = append(c.Uncertain, "source "+id+": "+why)
			continue
		}
		c.Corroborated = append(c.Corroborated, "source "+id)
		ok = true
	}
	return ok
}

// unconfirmed says why a source does not bear a claim out, "" when it does.
func (k classifier) unconfirmed(c *evidence.Prior, id string, tolerance float64) string {
	other := k.find(id)
	if other == nil {
		return "there is no such source"
	}
	if why := unofficial(other); why != "" {
		return why
	}
	for _, o := range other.Claims {
		if o.Candidate != c.Candidate || o.Metric != c.Metric || o.Workload != c.Workload || o.Cell != c.Cell {
			continue
		}
		mine, theirs, ok := alike(*c, o)
		switch {
		case !ok:
			return fmt.Sprintf("it states %s in %q", c.Metric, o.Unit)
		case !agree(mine, theirs, tolerance):
			return "it states " + short(o.Value)
		}
		return ""
	}
	return "it states nothing about " + c.Metric
}

// alike puts two claims of one metric in one unit.
func alike(a, b evidence.Prior) (x, y float64, ok bool) {
	u, known := unitOf(a.Metric)
	if !known {
		y, ok = In(b.Value, b.Unit, a.Unit)
		return a.Value, y, ok
	}
	x, okA := In(a.Value, a.Unit, u)
	y, okB := In(b.Value, b.Unit, u)
	return x, y, okA && okB
}

func (k classifier) find(id string) *evidence.ResearchSource {
	for i := range k.research.Sources {
		if k.research.Sources[i].ID == id {
			return &k.research.Sources[i]
		}
	}
	return nil
}

// unofficial says why a source bears nothing out, "" when it is current official
// material of which a snapshot was kept.
func unofficial(s *evidence.ResearchSource) string {
	official := s.Kind == "model-card" || s.Kind == "engine-cookbook" || s.Kind == "vendor-post" && s.OwnsFact
	switch {
	case !official:
		return "a " + s.Kind + " is not official material"
	case s.Age != evidence.Current:
		return "it is not current (" + ageText(s) + ")"
	case s.Snapshot == nil:
		return "no snapshot of it was kept"
	}
	return ""
}

func (k classifier) anyOfficial() bool {
	if k.src.CorroboratedBy == nil {
		return false
	}
	for _, id := range k.src.CorroboratedBy.Sources {
		if o := k.find(id); o != nil && unofficial(o) == "" {
			return true
		}
	}
	return false
}

// byWorkloads holds the measured values against the claim. A claim that names no
// cell speaks of every one, so all of a workload's values must agree.
func (k classifier) byWorkloads(c *evidence.Prior, by *evidence.Corroboration) (ok bool) {
	for _, w := range by.Workloads {
		if why := differs(c, w, by.Tolerance, k.measured == nil); why != "" {
			c.Uncertain = append(c.Uncertain, "workload "+w+": "+why)
			continue
		}
		c.Corroborated = append(c.Corroborated, "workload "+w)
		ok = true
	}
	return ok
}

func differs(c *evidence.Prior, workload string, tolerance float64, early bool) string {
	if early {
		return "it is not measured yet"
	}
	seen := false
	for _, m := range c.Measured {
		if m.Workload != workload || m.Declared {
			continue
		}
		seen = true
		switch {
		case m.Doubt != "":
			return fmt.Sprintf("%s is in doubt (%s)", strings.TrimSpace(m.Metric+" at "+orWhole(m.Cell)), m.Doubt)
		case m.DeltaPct == nil && m.Value != nil && *m.Value == c.Value: // both are 0
		case m.DeltaPct == nil:
			return "it has no comparable value (" + m.Reason + ")"
		case math.Abs(*m.DeltaPct) > 100*tolerance+1e-9:
			return fmt.Sprintf("%s differs by %+.1f %%", strings.TrimSpace(m.Metric+" at "+orWhole(m.Cell)), *m.DeltaPct)
		}
	}
	if !seen {
		return "it does not measure " + c.Metric
	}
	return ""
}

func orWhole(cell string) string {
	if cell == "" {
		return "the whole workload"
	}
	return cell
}

// agree reports whether two values lie within a share of the first.
func agree(claimed, other, tolerance float64) bool {
	return math.Abs(other-claimed) <= tolerance*math.Abs(claimed)+1e-12*math.Abs(claimed)
}

func short(x float64) string { return fmt.Sprintf("%.5g", x) }

package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Finding is one published finding: its folder's name, record.json and the
// canonical campaign, spec.json.
type Finding struct {
	Name   string
	Record *evidence.Record
	Spec   json.RawMessage
	// Invalid says why the finding is known to be wrong, "" = it is not. Its rows
	// are shown and not counted.
	Invalid string
}

// Ask says what is followed. Metric is the name of the dictionary, with the
// statistic for a distribution: mean, throughput_tok_s, ttft_ms.p50; of an energy
// with base and window, as rules write them: energy.nv_gpu.cell.j_per_output_token.
// The others narrow; "" = all.
type Ask struct {
	Metric    string
	Workload  string
	Candidate string
	Place     string // a cell, or a stratum; "overall" = no stratum
}

// Row is the metric in one finding.
type Row struct {
	Finding   string   `json:"finding"`
	Date      string   `json:"date"` // of the last measurement, YYYY-MM-DD
	Value     *float64 `json:"value"`
	Reason    string   `json:"reason,omitempty"` // why there is no value, or why it is not counted
	Unit      string   `json:"unit"`
	Items     int      `json:"items,omitempty"` // items behind a mean of scores
	Identity  Pins     `json:"identity"`        // what was measured
	Changed   []string `json:"changed,omitempty"`
	discarded bool
	measured  string // the digests of what was measured, "" = not known
}

// Pins are pins as observed, or as declared where nobody observed them.
type Pins map[string]string

// control is what must be equal within a series.
type control struct {
	Candidate string          `json:"candidate"`
	Workload  string          `json:"workload"`
	Place     string          `json:"place"`
	Spec      json.RawMessage `json:"spec"` // of the workload, items by digest
	Sampling  json.RawMessage `json:"sampling,omitempty"`
	Reasoning json.RawMessage `json:"reasoning,omitempty"`
	System    string          `json:"system,omitempty"`
	Scorers   any             `json:"scorers,omitempty"`
	Protocol  string          `json:"protocol,omitempty"`
	Counters  string          `json:"counters,omitempty"` // that an energy was read from
	Hardware  Pins            `json:"hardware,omitempty"`
}

func (c control) key() string {
	b, err := json.Marshal(c)
	if err == nil {
		b, err = step.Canonical(b)
	}
	if err != nil {
		return fmt.Sprintf("%+v", c)
	}
	return string(b)
}

// campaign is what is read of a canonical campaign.
type campaign struct {
	Measure    map[string]json.RawMessage `json:"measure"`
	Candidates map[string]struct {
		Sampling     json.RawMessage `json:"sampling"`
		Reasoning    json.RawMessage `json:"reasoning"`
		SystemPrompt string          `json:"systemPrompt"`
	} `json:"candidates"`
}

type placed struct {
	control
	Row
}

// rowsOf reads every row of a finding that was asked for.
func rowsOf(f Finding, ask Ask) ([]placed, error) {
	var c campaign
	if err := json.Unmarshal(f.Spec, &c); err != nil {
		return nil, fmt.Errorf("%s: spec.json: %w", f.Name, err)
	}
	var out []placed
	for _, name := range slices.Sorted(maps.Keys(f.Record.Candidates)) {
		if ask.Candidate != "" && name != ask.Candidate {
			continue
		}
		who := f.Record.Candidates[name]
		for _, workload := range slices.Sorted(maps.Keys(c.Measure)) {
			if ask.Workload != "" && workload != ask.Workload {
				continue
			}
			at := placed{
				control: control{Candidate: name, Workload: workload, Spec: sent(c.Measure, workload), Sampling: c.Candidates[name].Sampling,
					Reasoning: c.Candidates[name].Reasoning, System: c.Candidates[name].SystemPrompt, Hardware: hardware(who.Pin)},
				Row: Row{Finding: f.Name, Date: f.Record.Date, Identity: identity(who.Pin)},
			}
			from := len(out)
			if s, ok := who.Scores[workload]; ok {
				out = append(out, scores(at, s, ask)...)
			}
			if l, ok := who.Load[workload]; ok {
				out = append(out, cells(at, l, ask)...)
			}
			for i := range out[from:] {
				r := &out[from+i]
				r.measured = measured(f.Record.Evidence, name, workload, r.Place)
			}
		}
	}
	if f.Invalid != "" {
		for i := range out {
			out[i].Reason, out[i].discarded = f.Invalid, true
		}
	}
	return out, nil
}

// measured names what a row was computed from: the outputs of the measuring steps of
// its cell, or of its workload where no step is the cell's alone. Answers may repeat
// byte for byte; the times that are measured with them do not. Of imported
// measurements the metrics step keeps the rows.
func measured(files []evidence.EvidenceFile, candidate, workload, place string) string {
	var ofCell, all []string
	for _, f := range files {
		tail, ok := strings.CutPrefix(f.Step, "measure/"+candidate+"/"+workload+"/")
		if !ok && f.Step != evidence.MetricsStep(candidate, workload) {
			continue
		}
		all = append(all, f.Step+"/"+f.Output+" "+f.Digest.String())
		if ok && strings.HasPrefix(tail, place+"-t") {
			ofCell = append(ofCell, all[len(all)-1])
		}
	}
	if ofCell == nil {
		ofCell = all
	}
	slices.Sort(ofCell)
	return strings.Join(ofCell, "\n")
}

const overall = "overall"

func scores(at placed, s evidence.ScoreSummary, ask Ask) (out []placed) {
	at.Scorers = map[string]any{"versions": s.Scorers, "params": s.Params, "stratify": s.Stratify}
	groups := maps.Clone(s.Strata)
	if groups == nil {
		groups = map[string]evidence.ScoreGroup{}
	}
	groups[overall] = s.Overall
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if ask.Place != "" && name != ask.Place {
			continue
		}
		row := at
		if row.take(groups[name], ask.Metric) {
			row.Place, row.Items = name, groups[name].Scored
			out = append(out, row)
		}
	}
	return out
}

// cells leaves out of the count what no guard may look at.
func cells(at placed, l evidence.LoadMetrics, ask Ask) (out []placed) {
	at.Protocol = l.Protocol
	for _, c := range l.Cells {
		if ask.Place != "" && c.Name != ask.Place {
			continue
		}
		row := at
		if !row.take(c, ask.Metric) && !row.takeEnergy(&l, c.Name, ask.Metric) {
			continue
		}
		row.Place = c.Name
		for doubt, is := range map[string]bool{"client-bound": c.ClientBound, "warm-cache": c.WarmCache, "off-rate": c.OffRate} {
			if is {
				row.discarded, row.Reason = true, strings.TrimPrefix(row.Reason+", "+doubt, ", ")
			}
		}
		out = append(out, row)
	}
	return out
}

// take finds a metric by its name in what the record says; ok is false when
// there is no metric of that name.
func (p *placed) take(group any, metric string) (ok bool) {
	b, err := json.Marshal(group)
	if err != nil {
		return false
	}
	for _, part := range strings.Split(metric, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(b, &fields) != nil {
			return false
		}
		if u, there := fields["unit"]; there {
			_ = json.Unmarshal(u, &p.Unit)
		}
		if r, there := fields["reason"]; there {
			_ = json.Unmarshal(r, &p.Reason)
		}
		if b, ok = fields[part]; !ok {
			return false
		}
	}
	return p.number(b)
}

// number reads a plain number, or {"value", "unit", "reason"}.
func (p *placed) number(b []byte) bool {
	var x float64
	if json.Unmarshal(b, &x) == nil && string(b) != "null" {
		p.Value = &x
		return true
	}
	var v struct {
		Value  *float64 `json:"value"`
		Unit   string   `json:"unit"`
		Reason string   `json:"reason"`
	}
	if string(b) == "null" {
		return true // with the reason of what is around it
	}
	if json.Unmarshal(b, &v) != nil || v.Unit == "" {
		return false
	}
	p.Value, p.Unit, p.Reason = v.Value, v.Unit, v.Reason
	return true
}

// hardwarePins begin with this.
const hardwarePins = "hardware."

// unlike are pins that say what is sent or counted, and not what was measured.
var unlike = []string{"served", "tokenizer.probe"}

func hardware(p *evidence.PinDoc) Pins {
	return pins(p, func(name string) bool { return strings.HasPrefix(name, hardwarePins) })
}

func identity(p *evidence.PinDoc) Pins {
	return pins(p, func(name string) bool {
		return !strings.HasPrefix(name, hardwarePins) && !slices.Contains(unlike, name)
	})
}

func pins(p *evidence.PinDoc, want func(string) bool) Pins {
	out := Pins{}
	if p == nil {
		return out
	}
	for _, f := range p.Fields {
		if value := firstOf(f.Observed, f.Declared); value != "" && want(f.Name) {
			out[f.Name] = value
		}
	}
	return out
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

package exec

import (
	"time"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
)

// Forecast is what `cupel plan` says of a step.
type Forecast string

// The forecasts.
const (
	WillHit   Forecast = "cached" // outputs are there
	WillRun   Forecast = "run"    // will run
	WillLook  Forecast = "look"   // will observe; the plan assumes that nothing changed
	WillWait  Forecast = "waits"  // depends on outputs that are not known yet
	WillSkip  Forecast = "skip"   // a step it needs was refused
	WillFail  Forecast = "fail"   // cannot run as things stand
	WillLeave Forecast = "left"   // not asked for
)

// Preview is one row of the plan.
type Preview struct {
	Step     step.Step     `json:"-"`
	Name     string        `json:"step"`
	Forecast Forecast      `json:"forecast"`
	Reason   string        `json:"reason,omitempty"`
	Key      string        `json:"key,omitempty"`
	Cost     step.Cost     `json:"cost,omitzero"`
	LastTook time.Duration `json:"last_took_ns,omitempty"` // of the newest record of that step name, 0 = none
}

// Preview says what Run would do, with the functions that Run uses, and writes
// nothing.
func (e *Engine) Preview(p *plan.Plan) ([]Preview, error) {
	if err := e.Check(p); err != nil {
		return nil, err
	}
	known := map[string]*settled{}
	unknown := map[string]bool{}
	out := make([]Preview, 0, len(p.Steps))
	for _, s := range p.Steps {
		row := Preview{Step: s, Name: s.Name}
		if on := waitsOn(s, unknown); on != "" && e.mode(s) == full {
			unknown[s.Name] = true
			row.Forecast, row.Reason, row.Cost = WillWait, "on "+on, s.Cost
			row.LastTook = e.lastTook(s.Name)
			out = append(out, row)
			continue
		}
		w, end := e.resolve(s, func(n string) *settled { return knownOr(known, n) })
		row.Key = keyText(w.key)
		switch {
		case end != nil:
			known[s.Name] = end
			row.Key = keyText(end.key)
			row.Forecast, row.Reason = forecast(end)
		case w.stale != nil && s.Observes && !e.refresh(s.Name):
			known[s.Name] = serve(w.key, w.stale, "")
			row.Forecast, row.Reason = WillLook, "last seen "+e.lastSeen(w, w.stale).Format("2006-01-02 15:04")
		default:
			unknown[s.Name] = true
			row.Forecast, row.Reason, row.Cost = WillRun, w.why, s.Cost
			e.foresee(w, &row)
			row.LastTook = e.lastTook(s.Name)
		}
		out = append(out, row)
	}
	return out, nil
}

// knownOr stands in for a step that --only leaves out of the forecast.
func knownOr(known map[string]*settled, name string) *settled {
	if s := known[name]; s != nil {
		return s
	}
	return &settled{state: Left, reason: "not known yet"}
}

func waitsOn(s step.Step, unknown map[string]bool) string {
	for _, n := range plan.Rests(s) {
		if unknown[n] {
			return n
		}
	}
	return ""
}

func forecast(end *settled) (Forecast, string) {
	switch end.state {
	case Cached:
		return WillHit, end.reason
	case Refused:
		return WillHit, "refused: " + end.reason
	case Skipped, Blocked:
		return WillSkip, end.reason
	case Left:
		return WillLeave, end.reason
	}
	return WillFail, end.err.Error()
}

func (e *Engine) lastTook(name string) time.Duration {
	records := history(e.Store, name)
	if len(records) == 0 {
		return 0
	}
	return records[0].Finished.Sub(records[0].Started)
}

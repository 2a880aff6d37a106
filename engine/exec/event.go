package exec

import (
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// Event is one line of a run's events.jsonl and one call of OnEvent.
type Event struct {
	Time    time.Time      `json:"time"`
	Step    string         `json:"step,omitempty"`    // "" = the run itself, or a session
	Session string         `json:"session,omitempty"` // what is opened or closed
	State   string         `json:"state"`             // start | end | running | progress | note | opening | open | closing | closed | a State
	Key     string         `json:"key,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Error   string         `json:"error,omitempty"`
	Note    string         `json:"note,omitempty"`
	Done    int            `json:"done,omitempty"`  // progress
	Total   int            `json:"total,omitempty"` // progress
	Seconds float64        `json:"seconds,omitempty"`
	Outputs []store.Output `json:"outputs,omitempty"`
}

// emit writes an event to the log and tells the caller. Only the owner
// goroutine calls it. Progress goes to the log at most once a second per step.
func (r *run) emit(ev Event) {
	ev.Time = r.e.now().UTC()
	if ev.State != "progress" || r.due(ev) {
		if err := r.log.Event(ev); err != nil && r.logErr == nil {
			r.logErr = err
		}
	}
	if r.e.OnEvent != nil {
		r.e.OnEvent(ev)
	}
}

func (r *run) due(ev Event) bool {
	if ev.Done < ev.Total && ev.Time.Sub(r.lastProgress[ev.Step]) < time.Second {
		return false
	}
	r.lastProgress[ev.Step] = ev.Time
	return true
}

func keyText(k step.Key) string {
	if k.IsZero() {
		return ""
	}
	return k.String()
}

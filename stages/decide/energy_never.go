package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// never refuses a rule that names an energy which no run of the campaign can have: it
// would be undetermined for ever.
func (k *checker) never(r rule) {
	e := k.campaign.Measure[k.guard.On].Energy
	if e == nil {
		return
	}
	idle, err := time.ParseDuration(e.Idle)
	cost := k.campaign.Publish.Cost
	of := impossible{noIdle: err == nil && idle == 0, noPrice: cost == nil || cost.KWh == nil}
	for _, path := range r.Paths() {
		code, why, todo := of.why(strings.Split(path, "."))
		if code == "" {
			continue
		}
		refused := r.Refuse(path, fmt.Sprintf("%s is never known: %s (%s)", path, why, code), todo)
		ce, _ := errors.AsType[*guard.CompileError](refused)
		for _, p := range ce.Problems {
			k.errors = append(k.errors, CheckError{
				Guard: k.name, Field: "rule", Msg: p.Sentence(), Offset: p.Offset, Line: p.Line, Col: p.Col, Caret: ce.Caret(p),
			})
		}
	}
}

// impossible says of what a campaign leaves no energy.
type impossible struct{ noIdle, noPrice bool }

// The values of M10 and M11 that need the idle machine, by asiai's names.
var needIdle = []string{"idle_soc_watts", "energy_per_token_active_j"}

// why is the reason code of a value that is always absent, with words, "" = it may be
// there.
func (n impossible) why(parts []string) (code, why, todo string) {
	if len(parts) < 3 || !isSide(parts[0]) {
		return "", "", ""
	}
	id := parts[len(parts)-1]
	idle := parts[1] == "energy" && (strings.HasPrefix(id, "net_") || id == "loaded_idle_w") || parts[1] == "asiai" && slices.Contains(needIdle, id)
	switch {
	case idle && n.noIdle:
		return metric.NoIdle, "idle is 0s, so that nobody looks at the idle machine", "give idle 10s or more"
	case parts[1] != "energy" || len(parts) != 5:
		return "", "", ""
	case strings.HasSuffix(id, "j_per_output_interval") && parts[3] != string(energy.Decode):
		return metric.DecodeOnly, "the intervals between tokens are in the window decode alone", "name decode." + id
	case parts[3] == string(energy.Steady) && (strings.HasSuffix(id, "j_per_request") || strings.HasSuffix(id, "j_per_total_token")):
		return metric.PartialRequests, "in the window steady requests are cut off at both ends", "name cell." + id
	case id == "cost_per_m_output_tokens" && n.noPrice:
		return metric.NoKWhPrice, "a kilowatt-hour has no price", "give publish.cost.kWh"
	}
	return "", "", ""
}

package decide

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
)

// A rule on what no run can have is refused, at its place; the same in a campaign that
// can have it is not.
func TestEnergyThatIsNeverKnown(t *testing.T) {
	for _, tt := range []struct {
		name, idle string
		price      *float64
		want       string // "" = it may be known
	}{
		{"energy.nv_gpu.cell.j_per_output_interval", "10s", nil, "(decode-only); name decode.j_per_output_interval"},
		{"energy.nv_gpu.steady.net_j_per_output_interval", "10s", nil, "(decode-only)"},
		{"energy.nv_gpu.decode.j_per_output_interval", "10s", nil, ""},
		{"energy.nv_gpu.decode.net_j_per_output_interval", "0s", nil, "(no-idle); give idle 10s or more"},
		{"energy.nv_gpu.decode.net_j_per_output_interval", "10s", nil, ""},
		{"energy.nv_gpu.cell.net_j", "0s", nil, "(no-idle)"},
		{"energy.nv_gpu.cell.net_j", "10s", nil, ""},
		{"energy.nv_gpu.loaded_idle_w", "0s", nil, "(no-idle)"},
		{"energy.nv_gpu.loaded_idle_w", "10s", nil, ""},
		{"energy.nv_gpu.publication_ms", "0s", nil, ""},
		{"asiai.idle_soc_watts", "0s", nil, "(no-idle)"},
		{"asiai.energy_per_token_active_j", "0s", nil, "(no-idle)"},
		{"asiai.energy_per_token_active_j", "10s", nil, ""},
		{"asiai.energy_per_token_j", "0s", nil, ""},
		{"energy.nv_gpu.steady.j_per_request", "0s", nil, "(partial-requests)"},
		{"energy.nv_gpu.steady.j_per_total_token", "0s", nil, "(partial-requests)"},
		{"energy.nv_gpu.steady.j_per_output_token", "0s", nil, ""},
		{"energy.nv_gpu.cell.cost_per_m_output_tokens", "0s", nil, "(no-kwh-price)"},
		{"energy.nv_gpu.cell.cost_per_m_output_tokens", "0s", new(0.3), ""},
	} {
		c := energyCampaign("candidate.failed < 1.0 && candidate."+tt.name+" < 100.0", "nv.gpu")
		c.Measure["power"].Energy.Idle = tt.idle
		c.Publish.Cost = &spec.Cost{KWh: tt.price}
		errs := Check(c)
		if tt.want == "" {
			if len(errs) != 0 {
				t.Errorf("%s, idle %s: %v", tt.name, tt.idle, errs)
			}
			continue
		}
		if len(errs) != 1 || errs[0].Field != "rule" || errs[0].Line != 1 || !strings.HasPrefix(errs[0].Msg, "candidate."+tt.name+" is never known: ") || !strings.Contains(errs[0].Msg, tt.want) {
			t.Errorf("%s, idle %s: %v, want %s", tt.name, tt.idle, errs, tt.want)
		}
	}
}

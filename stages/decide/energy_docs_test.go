package decide

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// The rules of the page type-check, its error is what the check says, and it names
// every base, window and metric.
func TestEnergyPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/energy-guards.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	blocks := strings.Split(page, "```")
	if len(blocks) != 5 {
		t.Fatalf("%d blocks", len(blocks))
	}
	rules := strings.Split(strings.TrimSpace(blocks[1]), "\n")
	for _, rule := range rules {
		if errs := Check(energyCampaign(rule, everyBase()...)); len(errs) > 0 {
			t.Errorf("%s: %v", rule, errs)
		}
	}
	errs := Check(energyCampaign("candidate.energy.nv_gpu.cell.j_per_output_token <= 0.9 * baseline.energy.nv_gpu.decode.j_per_output_token", everyBase()...))
	if len(errs) != 1 || errs[0].Error() != strings.Join(strings.Fields(blocks[3]), " ") {
		t.Errorf("the page says %q, the check %v", blocks[3], errs)
	}
	names := []string{"loaded_idle_w", "publication_ms", "thermal_share", "power_cap_share", "start_c"}
	for _, s := range energy.Spelled {
		if !strings.Contains(page, "| "+s.Base+" | `"+s.Name+"` |") {
			t.Errorf("%s is not on the page", s.Base)
		}
	}
	for _, v := range Variables("energy") {
		if v.ID != "" {
			names = append(names, v.Path[strings.LastIndexByte(v.Path, '.')+1:])
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "."+name+"`") {
			t.Errorf("%s is not on the page", name)
		}
	}
	for _, w := range energy.Windows {
		if !strings.Contains(page, "`"+string(w)+"`") {
			t.Errorf("window %s is not on the page", w)
		}
	}
}

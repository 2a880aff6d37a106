package artifact

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// windows are the stretches that asiai's energy is of.
var asiaiWindows = []string{"turn", "decode"}

// wholeRun is the window of exports before 0.5.0: an engine's whole run, pauses
// included, over all tokens.
const wholeRun = "run"

// appleBase begins the names of bases and rails here that asiai writes without it:
// apple.soc5 is its soc5, apple.dram its DRAM.
const appleBase = "apple."

func asiaiBase(t Text) *string {
	if t.Value == nil {
		return nil
	}
	return new(strings.TrimPrefix(*t.Value, appleBase))
}

func asiaiRails(t Texts) *[]string {
	if t.Value == nil {
		return nil
	}
	out := make([]string, len(*t.Value))
	for i, rail := range *t.Value {
		if out[i] = rail; strings.HasPrefix(rail, appleBase) {
			out[i] = strings.ToUpper(strings.TrimPrefix(rail, appleBase))
		}
	}
	return &out
}

// baseHere and railHere undo both. Bases that only cupel has, such as nv.gpu, stay as
// they are.
func baseHere(t Text) Text {
	if t.Value == nil || energy.Spell(appleBase+*t.Value) == "" {
		return t
	}
	return is(appleBase + *t.Value)
}

func railHere(name string) string {
	if !slices.Contains([]string{"GPU", "CPU", "ANE", "DRAM", "DCS"}, name) {
		return name
	}
	return appleBase + strings.ToLower(name)
}

// readAsiaiEnergy reads the energy of one engine. A 0 there was not measured.
func readAsiaiEnergy(e, calibration node) (out Energy) {
	out.PowerWatts, out.TokPerSecPerWatt = measuredThere(e.get("avg_power_watts")), measuredThere(e.get("avg_tok_per_sec_per_watt"))
	b := e.get("energy")
	if !b.has() {
		readEarlierEnergy(e, &out)
		return out
	}
	if !b.isObject() {
		b.invalid("%s must be an object", b.at)
		return out
	}
	out.Base, out.Window = baseHere(b.get("base").text()), b.get("window").text()
	if w := out.Window.Value; w != nil && !slices.Contains(asiaiWindows, *w) {
		b.invalid("%s: the window is %s, want turn or decode", b.at, *w)
	}
	if rails := texts(b.get("rails")); len(rails) > 0 {
		for i := range rails {
			rails[i] = railHere(rails[i])
		}
		slices.Sort(rails)
		out.Rails = is(rails)
	}
	out.SoCWatts, out.EnergyPerToken = measuredThere(b.get("soc_watts")), measuredThere(b.get("energy_per_token_j"))
	out.IdleSoCWatts, out.ActivePerToken = measuredThere(b.get("idle_soc_watts")), measuredThere(b.get("energy_per_token_active_j"))
	if (out.SoCWatts.has() || out.EnergyPerToken.has()) && (!out.Base.has() || !out.Window.has()) {
		b.invalid("%s: a number without its base and window is of nothing in particular", b.at)
	}
	out.readCalibration(calibration)
	return out
}

// readEarlierEnergy reads the numbers of exports that name neither base nor window:
// a rail that could not be read counted as 0 in them.
func readEarlierEnergy(e node, out *Energy) {
	out.SoCWatts, out.EnergyPerToken = measuredThere(e.get("avg_soc_watts")), measuredThere(e.get("avg_energy_per_token_j"))
	if out.SoCWatts.has() || out.EnergyPerToken.has() {
		out.Window = is(wholeRun)
		out.Base = unknown[string]("exports before 0.5.0 do not name the rails that were read")
		out.Rails = unknown[[]string]("exports before 0.5.0 do not name the rails that were read")
	}
}

// measuredThere is a number above 0: that tool has written 0 for what it did not
// measure.
func measuredThere(n node) Number {
	v := n.number()
	if v.Value == nil || *v.Value > 0 {
		return v
	}
	if *v.Value < 0 {
		n.invalid("%s is negative", n.at)
		return unknown[float64]("malformed")
	}
	return unknown[float64]("0 there is not measured")
}

func (e *Energy) readCalibration(c node) {
	if !c.has() {
		return
	}
	if !c.isObject() {
		c.invalid("%s must be an object", c.at)
		return
	}
	e.WallBase, e.WallMeter, e.WallSHA256 = baseHere(c.get("base").text()), c.get("meter").text(), c.get("sha256").digest()
	e.WallA, e.WallB, e.WallR2, e.WallN = c.get("a").number(), c.get("b").number(), c.get("r2").number(), c.get("n").count(2)
	if r := e.WallR2.Value; r != nil && (*r < 0 || *r > 1) {
		c.invalid("%s: r2 is %g", c.at, *r)
	}
}

// toAsiaiEnergy is the block of one engine, null when nothing of it is known. A
// window that asiai has not is left out, and so is what is of it.
func (e *Energy) toAsiai() any {
	w := e.Window.Value
	known := e.SoCWatts.has() || e.EnergyPerToken.has() || e.IdleSoCWatts.has() || e.ActivePerToken.has()
	if !known || !e.Base.has() || w == nil || !slices.Contains(asiaiWindows, *w) {
		return nil
	}
	return map[string]any{
		"base": asiaiBase(e.Base), "rails": asiaiRails(e.Rails), "window": w,
		"soc_watts": e.SoCWatts.Value, "energy_per_token_j": e.EnergyPerToken.Value,
		"idle_soc_watts": e.IdleSoCWatts.Value, "energy_per_token_active_j": e.ActivePerToken.Value,
	}
}

// earlier is a number of an export before 0.5.0, null when it is of another window.
func (e *Energy) earlier(v Number) *float64 {
	if w := e.Window.Value; w == nil || *w != wholeRun {
		return nil
	}
	return v.Value
}

// calibrationOf is what the records declare of a meter at the wall, null when
// nothing is.
func calibrationOf(records []*Record) (any, error) {
	var first *Energy
	for _, r := range records {
		e := &r.Energy
		if !e.WallA.has() || !e.WallB.has() {
			continue
		}
		if first == nil {
			first = e
		} else if !first.sameWall(e) {
			return nil, errors.New("the parts declare different calibrations of a meter at the wall, and an export is of one machine")
		}
	}
	if first == nil {
		return nil, nil
	}
	return map[string]any{
		"base": asiaiBase(first.WallBase), "a": first.WallA.Value, "b": first.WallB.Value, "r2": first.WallR2.Value, "n": first.WallN.Value,
		"meter": first.WallMeter.Value, "sha256": first.WallSHA256.Value,
	}, nil
}

func (e *Energy) sameWall(o *Energy) bool {
	key := func(e *Energy) string {
		return fmt.Sprint(deref(e.WallBase), deref(e.WallMeter), deref(e.WallSHA256), derefNumber(e.WallA), derefNumber(e.WallB), derefNumber(e.WallR2), derefNumber(e.WallN))
	}
	return key(e) == key(o)
}

func deref(t Text) string {
	if t.Value == nil {
		return ""
	}
	return *t.Value
}

func derefNumber(n Number) float64 {
	if n.Value == nil {
		return math.Inf(-1)
	}
	return *n.Value
}

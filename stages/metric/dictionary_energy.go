package metric

import (
	"slices"
	"strings"
)

// Units of energy.
const (
	unitJ    = "J"
	unitW    = "W"
	unitC    = "°C"
	unitJTok = "J/token"
	unitJReq = "J/request"
)

// Lists of reasons that energies give. A meter that could not read anything says why in
// a reason code of its own, which stands in place of no-meter.
var (
	ofTrace = []string{NoMeter, GPUSetMismatch, MIG, ClockUnknown, ClockStepped}
	ofState = and(ofTrace, ForeignProcess, PowerLimitChanged, DriverChanged)
	ofBase  = and(ofState, DomainMissing, BasesDiffer)
	ofCurve = and(ofBase, CounterFrozen, CounterBackwards, CounterReset, SamplingGap, NotBracketed, Implausible, Thermal)
	ofSpans = []string{NoRequests, IncompleteCell, ContractFailed, Unaccounted, InconsistentTime, ZeroDuration, Overlapping, NotStreamed, NoOutput, OpenLoop, NoSteadyWindow, FewCompletions, NotFinite}
	ofJ     = sorted(ofCurve, ofSpans, []string{PublicationCoarse, ClockOffsetTooLarge, CrossCheck})
	ofIdle  = and(ofCurve, NoRequests, NoIdle, IdleTooShort, IdleCV, CrossCheck, InconsistentTime, ClockOffsetTooLarge, NotFinite)
	ofNet   = sorted(ofJ, ofIdle, []string{NotAboveIdle})
	ofTurn  = and(ofJ, TooBrief, OneToken, NoUsage)
	ofCell  = and(ofState, NoRequests, InconsistentTime, ZeroDuration)
)

// perEnergy are the numbers of energy. What stands in braces is part of the id: two ids
// are never pooled and never compared.
var perEnergy = []Definition{
	energyOf("j", unitJ, "energy of the base over the stretches of the window: for each counter the difference at their ends, on straight lines between its steps; of a power without a counter the trapezoids; summed over devices", ofJ, "lower"),
	energyOf("w", unitW, "energy_j / energy_duration_s", ofJ, "lower"),
	energyOf("duration_s", unitS, "sum of the stretches of the window; below 600 the label is indicative", and(ofBase, ofSpans...), ""),
	energyOf("quantisation_pct", unitPct, "the larger of 100 x (half a publication period, or half of a longer gap between looks, + twice the error of the clocks) x stretches / energy_duration_s and 100 x (a quarter of a period x what the power moves by around each end, of a power without a counter what it may have moved by between all readings) / energy_j; the worst trial's", and(ofCurve, ofSpans...), "lower"),
	energyOf("net_j", unitJ, "energy_j - loaded_idle_w x energy_duration_s, trial by trial; only when more than the energy may be off by, and the idle machine by its largest sample, together", ofNet, "lower"),
	energyOf("j_per_request", unitJReq, "energy_j / requests; only when every request completed", and(ofJ, PartialRequests), "lower"),
	energyOf("j_per_output_token", unitJTok, "energy_j / sum of output_tokens; in steady those that arrived in it", and(ofJ, NoUsage, NoEventStamps), "lower"),
	energyOf("j_per_output_interval", unitJTok, "energy_j / sum of (output_tokens - 1); in decode alone", and(ofJ, NoUsage, DecodeOnly, OneToken), "lower"),
	energyOf("j_per_total_token", unitJTok, "energy_j / sum of (prompt_tokens + output_tokens)", and(ofJ, NoUsage, PartialRequests), "lower"),
	energyOf("net_j_per_request", unitJReq, "energy_net_j / requests", and(ofNet, PartialRequests), "lower"),
	energyOf("net_j_per_output_token", unitJTok, "energy_net_j / sum of output_tokens, as above", and(ofNet, NoUsage, NoEventStamps), "lower"),
	energyOf("net_j_per_output_interval", unitJTok, "energy_net_j / sum of (output_tokens - 1); in decode alone", and(ofNet, NoUsage, DecodeOnly, OneToken), "lower"),
	energyOf("net_j_per_total_token", unitJTok, "energy_net_j / sum of (prompt_tokens + output_tokens)", and(ofNet, NoUsage, PartialRequests), "lower"),
	energyOf("cost_per_m_output_tokens", unitMoney, "energy_j_per_output_token x 1,000,000 / 3,600,000 x price of a kilowatt-hour: the energy alone", and(ofJ, NoUsage, NoEventStamps, NoKWhPrice), "lower"),

	{"loaded_idle_w{base}", unitW, scopeEnergy, "median of the mean powers of samples of 1 s, or two publication periods, while nothing is in flight and the model is loaded; 10 s and 20 periods at least, coefficient of variation 10 % at most, in each trial and over the samples of all", ofIdle, 1, "lower", nil},
	{"publication_ms{base}", unitMS, scopeEnergy, "mean time between two changes of the base's slowest counter, stretches of 5 and more left out; of one that changes at every look the time between looks", and(ofBase, CounterFrozen, NotBracketed, NoRequests), 1, "lower", nil},

	{"power_watts", unitW, scopeEnergy, "mean power of the GPUs alone, over the cell; of one prompt of a bench over its own requests, whose power is nobody's when one of them failed; at concurrency 1", ofJ, 1, "lower", []string{"M6"}},
	{"tok_per_sec_per_watt", "tok/s/W", scopeEnergy, "median tok_per_sec / power_watts: two windows, as the specification has it", and(ofJ, NoUsage, TooBrief), 1, "higher", []string{"M7"}},
	{"soc_watts{base}", unitW, scopeEnergy, "mean power of the base over one request, t0 to tend; median over the requests, those below 1 s or throttled left out and told; null when that leaves fewer than half of them", ofTurn, 1, "lower", []string{"M9"}},
	{"energy_per_token_j{base}", unitJTok, scopeEnergy, "energy of the base over one request / (output_tokens - 1); median over the requests as for soc_watts, those of one token left out and told too; null when that leaves fewer than half of them. Energy of prefill is in it, so that it grows with the prompt", ofTurn, 1, "lower", []string{"M10"}},
	{"idle_soc_watts{base}", unitW, scopeEnergy, "median of 5 samples of 2 s, of all trials together, while nothing is in flight; null above a load average of 2.0", and(ofIdle, BusyHost, PublicationCoarse, OpenLoop, Overlapping), 1, "lower", []string{"M11"}},
	{"energy_per_token_active_j{base}", unitJTok, scopeEnergy, "(energy of the base over one request - idle_soc_watts x its time) / (output_tokens - 1), median as for energy_per_token_j; only when all are positive", and(ofTurn, NoIdle, IdleTooShort, IdleCV, BusyHost, NotAboveIdle), 1, "lower", nil},

	{"power_quantisation_pct", unitPct, scopeEnergy, "energy_quantisation_pct of the GPUs over the cell: by how much power_watts may be off", ofJ, 1, "lower", nil},
	{"turn_quantisation_pct{base}", unitPct, scopeEnergy, "energy_quantisation_pct of one request, the worst of those that are in the medians: by how much soc_watts may be off", ofTurn, 1, "lower", nil},

	{"thermal_share", unitShare, scopeEnergy, "time for which clocks were held down for heat or by the power brake / the cell, by the driver's counters of time: every rise, and the sum of a device's counters, 1 at most, as nobody counts how long two of them ran at once; the worst device and trial. Above 0.005 nothing is published, nor where a counter fell", and(ofCell, NotReported, CounterBackwards, NotBracketed), 1, "lower", nil},
	{"power_cap_share", unitShare, scopeEnergy, "likewise by the power cap. Arms that differ by more than 0.05 are not compared", and(ofCell, NotReported, CounterBackwards, NotBracketed), 1, "", nil},
	{"start_c", unitC, scopeEnergy, "temperature of the hottest GPU when the cell began; the hottest trial's", and(ofCell, NotReported), 1, "", nil},
	{"idle_cv_pct", unitPct, scopeEnergy, "coefficient of variation of the samples of loaded_idle_w, of all trials together, of the first base; above 10 nothing is idle or net", and(ofIdle, ZeroDuration), 1, "lower", nil},
	{"clock_error_ms", unitMS, scopeEnergy, "by how much the clocks of the recording and of the requests may be apart; the worst trial's", ofCell, 1, "lower", nil},
	{"power_limit_w", unitW, scopeEnergy, "enforced power limits at the start, summed over the GPUs", and(ofCell, NotReported), 1, "", nil},
}

// sorted are the reasons of several lists, each once.
func sorted(lists ...[]string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}

// asJ are the reasons of an energy in few words: those of energy_j first.
func asJ(reasons []string) string {
	isOf := func(r string) bool { return slices.Contains(ofJ, r) }
	own := slices.DeleteFunc(sorted(reasons), isOf)
	if len(sorted(reasons))-len(own) < len(ofJ) {
		return strings.Join(sorted(reasons), ", ")
	}
	return strings.Join(append([]string{"as energy_j"}, own...), ", ")
}

func energyOf(name, unit, formula string, nullWhen []string, better string) Definition {
	return Definition{"energy_" + name + "{base,window}", unit, scopeEnergy, formula, nullWhen, 1, better, nil}
}

package prior

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// In a record, Measured finds what was measured of a claim: pins for context
// lengths, cells for metrics of serving, score summaries for quality.
func Measured(rec *evidence.Record) Measurer {
	return func(c evidence.Prior) ([]evidence.ClaimMeasured, string) {
		cand, ok := rec.Candidates[c.Candidate]
		if !ok {
			return nil, NotMeasured
		}
		values := pinned(cand, c)
		values = append(values, served(cand, c)...)
		values = append(values, scored(cand, c)...)
		for i := range values {
			hold(&values[i], c)
		}
		if len(values) > 0 {
			return values, ""
		}
		if _, known := unitOf(c.Metric); !known {
			return nil, unknownMeter
		}
		return nil, NotMeasured
	}
}

// hold computes the difference from the claim, in the measured value's unit.
func hold(m *evidence.ClaimMeasured, c evidence.Prior) {
	claimed, ok := In(c.Value, c.Unit, m.Unit)
	switch {
	case m.Value == nil:
	case !ok:
		m.Reason = OtherUnit
	case claimed == 0:
		m.Reason = ZeroClaim
	default:
		m.DeltaPct = Delta(*m.Value, claimed)
	}
}

// Delta is (local - external) / external * 100, nil when external is 0.
func Delta(local, external float64) *float64 {
	if external == 0 {
		return nil
	}
	d := (local - external) / external * 100
	return &d
}

func pinned(cand evidence.CandidateRecord, c evidence.Prior) []evidence.ClaimMeasured {
	if cand.Pin == nil || c.Workload != "" {
		return nil
	}
	m := evidence.ClaimMeasured{Metric: c.Metric, Unit: "tokens"}
	switch c.Metric {
	case "context.served":
		m.Value, m.Declared = servedContext(cand.Pin)
	case "context.advertised":
		if ctx := cand.Pin.Declared.Context; ctx != nil && ctx.Advertised > 0 {
			x := float64(ctx.Advertised)
			m.Value, m.Declared = &x, true
		}
	default:
		return nil
	}
	if m.Value == nil {
		m.Reason = NotMeasured
	}
	return []evidence.ClaimMeasured{m}
}

// servedContext is what the endpoint said, else what was declared.
func servedContext(p *evidence.PinDoc) (tokens *float64, declared bool) {
	for _, f := range p.Fields {
		if f.Name != "context.served" {
			continue
		}
		if x, err := strconv.ParseFloat(f.Observed, 64); err == nil {
			return &x, false
		}
		if x, err := strconv.ParseFloat(f.Declared, 64); err == nil {
			return &x, true
		}
	}
	return nil, false
}

func served(cand evidence.CandidateRecord, c evidence.Prior) (out []evidence.ClaimMeasured) {
	for _, wl := range slices.Sorted(maps.Keys(cand.Load)) {
		if c.Workload != "" && c.Workload != wl {
			continue
		}
		for i := range cand.Load[wl].Cells {
			cell := &cand.Load[wl].Cells[i]
			if c.Cell != "" && c.Cell != cell.Name {
				continue
			}
			if v, name, ok := CellValue(cell, c.Metric); ok {
				out = append(out, evidence.ClaimMeasured{Workload: wl, Cell: cell.Name, Metric: name, Value: v.Value, Unit: v.Unit, Reason: reasonOf(v), Doubt: Doubt(cell, name)})
			}
		}
	}
	return out
}

// Doubt lists what keeps a number of a cell from deciding anything, "" when
// nothing does. It is what guards on that number would be told.
func Doubt(c *metric.Cell, name string) string {
	id, _, _ := strings.Cut(name, ".")
	var out []string
	for _, m := range c.Marks() {
		if concerns(m, id) {
			out = append(out, m.Code)
		}
	}
	if c.Failed > 0 {
		out = append(out, "failed-requests")
	}
	return strings.Join(out, ", ")
}

// concerns reports whether a mark of a cell touches one of its metrics.
func concerns(m metric.Mark, id string) bool {
	switch m {
	case metric.GapsUncertain:
		return id == "itl_ms" || id == "event_gap_ms"
	case metric.LowerBound:
		return id == "max_rate" || id == "max_concurrency"
	}
	return true
}

// CellValue finds a metric of a cell by name. A distribution by itself stands
// for its median, since most who publish one number mean a typical one; name says
// which number it is.
func CellValue(cell *metric.Cell, wanted string) (v metric.Value, name string, ok bool) {
	id, part, _ := strings.Cut(wanted, ".")
	field, ok := byID(reflect.ValueOf(cell).Elem(), id)
	if !ok {
		return v, wanted, false
	}
	switch x := field.Interface().(type) {
	case metric.Value:
		return x, id, part == ""
	case metric.Dist:
		if part == "" {
			part = "p50"
		}
		p, ok := byID(reflect.ValueOf(x), part)
		if !ok || p.Type() != reflect.TypeFor[*float64]() {
			return v, wanted, false
		}
		return metric.Value{Value: p.Interface().(*float64), Unit: x.Unit, Reason: x.Reason}, id + "." + part, true
	}
	return v, wanted, false
}

// byID finds a field of a metric struct by its JSON name.
func byID(v reflect.Value, id string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name == id && id != "" && id != "-" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func reasonOf(v metric.Value) string {
	switch {
	case v.Value != nil:
		return ""
	case v.Reason == "":
		return NotMeasured
	}
	return v.Reason
}

func scored(cand evidence.CandidateRecord, c evidence.Prior) (out []evidence.ClaimMeasured) {
	if c.Cell != "" {
		return nil
	}
	for _, wl := range slices.Sorted(maps.Keys(cand.Scores)) {
		if c.Workload != "" && c.Workload != wl {
			continue
		}
		g := cand.Scores[wl].Overall
		var v metric.Value
		switch c.Metric {
		case "mean", "accuracy":
			v = g.Mean
		case "truncation_rate":
			v = g.TruncationRate
		case "failure_rate":
			v = g.FailureRate
		default:
			continue
		}
		m := evidence.ClaimMeasured{Workload: wl, Metric: c.Metric, Value: v.Value, Unit: v.Unit, Reason: reasonOf(v)}
		if g.Scored != g.Items && (c.Metric == "mean" || c.Metric == "accuracy") {
			m.Doubt = "items-without-a-score"
		}
		out = append(out, m)
	}
	return out
}

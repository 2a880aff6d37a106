package energy

import (
	"cmp"

	"github.com/cupel-dev/cupel/stages/metric"
)

// measuredOf pools the parts of the trials: sums, and quotients of sums.
func measuredOf(o *Options, parts []part) Measured {
	j, net, ns, q := column(parts, func(p part) num { return p.j }), column(parts, func(p part) num { return p.net }), column(parts, func(p part) num { return p.ns }), column(parts, func(p part) num { return p.q })
	s := times(sum(ns), num{v: 1e-9})
	over := func(of func(counts) num) num {
		return sum(column(parts, func(p part) num { return of(p.over) }))
	}
	requests, output := over(func(c counts) num { return c.requests }), over(func(c counts) num { return c.output })
	intervals, tokens := over(func(c counts) num { return c.intervals }), over(func(c counts) num { return c.all })
	if len(parts) == 0 {
		return measuredOf(o, []part{refused(metric.NoRequests)})
	}
	gross, left := sum(j), sum(net)
	m := Measured{
		DurationS:             s.in(unitS),
		QuantisationPct:       worst(q).in(unitPct),
		J:                     gross.in(unitJ),
		W:                     per(gross, s, metric.ZeroDuration).in(unitW),
		NetJ:                  left.in(unitJ),
		JPerRequest:           per(gross, requests, metric.NoRequests).in(unitReq),
		JPerOutputToken:       per(gross, output, metric.NoOutput).in(unitTok),
		JPerOutputInterval:    per(gross, intervals, metric.OneToken).in(unitTok),
		JPerTotalToken:        per(gross, tokens, metric.NoOutput).in(unitTok),
		NetJPerRequest:        per(left, requests, metric.NoRequests).in(unitReq),
		NetJPerOutputToken:    per(left, output, metric.NoOutput).in(unitTok),
		NetJPerOutputInterval: per(left, intervals, metric.OneToken).in(unitTok),
		NetJPerTotalToken:     per(left, tokens, metric.NoOutput).in(unitTok),
		CostPerMOutputTokens:  cost(o, per(gross, output, metric.NoOutput)),
	}
	if s.why == "" && s.v < metric.IndicativeBelowS {
		m.Label = metric.Indicative
	}
	return m
}

func column(parts []part, of func(part) num) []num {
	ns := make([]num, len(parts))
	for i, p := range parts {
		ns[i] = of(p)
	}
	return ns
}

// cost of the energy of a million output tokens.
func cost(o *Options, perToken num) metric.Value {
	unit := cmp.Or(o.Currency, unitMoney)
	if o.KWh == nil {
		return metric.Null(metric.NoKWhPrice, unit)
	}
	return times(perToken, num{v: 1e6 / joulesInKWh * *o.KWh}).in(unit)
}

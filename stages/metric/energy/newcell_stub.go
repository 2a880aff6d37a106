package energy

import "github.com/cupel-dev/cupel/stages/metric"

// NewCell stands in for the formulas: every value is null, with the reason no-meter.
func NewCell(o Options, trials []Trial) Cell {
	null := func(unit string) metric.Value { return metric.Null("no-meter", unit) }
	c := Cell{Name: o.Name, Trials: len(trials), ThermalShare: null(""), PowerCapShare: null(""), StartC: null("C"), IdleCV: null("%"), ClockErrorMS: null("ms"), PowerLimitW: null("W")}
	for _, base := range o.Bases {
		of := Of{Base: base, LoadedIdleW: null("W"), PublicationMS: null("ms"), Windows: map[Window]Measured{}}
		for _, w := range Windows {
			of.Windows[w] = Measured{
				DurationS: null("s"), QuantisationPct: null("%"), J: null("J"), W: null("W"), NetJ: null("J"), JPerRequest: null("J"), JPerOutputToken: null("J"),
				JPerOutputInterval: null("J"), JPerTotalToken: null("J"), NetJPerRequest: null("J"), NetJPerOutputToken: null("J"), NetJPerOutputInterval: null("J"),
				NetJPerTotalToken: null("J"), CostPerMOutputTokens: null(o.Currency),
			}
		}
		c.Bases = append(c.Bases, of)
	}
	return c
}

package convert

import (
	"io"

	"github.com/cupel-dev/cupel/stages/meter/parse"
	"github.com/cupel-dev/cupel/stages/trace"
)

// wallColumn is a column of a wall meter's file.
type wallColumn struct {
	at int
	parse.Column
}

// Wall reads the CSV of a meter at the wall: a column of time, and columns whose
// header names watts or watt-hours (W, kW, mW, Wh, kWh). Watt-hours are a counter
// that grows. Files with semicolons or tabs may have a decimal comma.
func Wall(r io.Reader, o Options) (*Recording, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	when, values, err := wallColumns(t)
	if err != nil {
		return nil, err
	}
	out := newRecording(o, "a wall meter")
	if err := out.device(trace.Device{ID: "wall", Kind: trace.Machine}); err != nil {
		return nil, err
	}
	err = t.each(func(row []string) error {
		at, err := moment(row[when], o, t.n)
		if err != nil {
			return err
		}
		for _, c := range values {
			if err := out.wall(t, row, c, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out.done()
}

func wallColumns(t *table) (when int, values []wallColumn, err error) {
	when = -1
	kinds := map[parse.Kind]bool{}
	for i, cell := range t.header {
		c := parse.ReadColumn(cell)
		switch {
		case c.Kind == parse.Other:
			continue
		case kinds[c.Kind]:
			return 0, nil, fail(t.n, "two columns of one kind: %q is the second", clip(cell))
		case c.Kind == parse.Time:
			when = i
		default:
			values = append(values, wallColumn{i, c})
		}
		kinds[c.Kind] = true
	}
	switch {
	case when < 0:
		return 0, nil, fail(t.n, "no column is called time")
	case values == nil:
		return 0, nil, fail(t.n, "no column names watts or watt-hours")
	}
	return when, values, nil
}

// wall notes one value, in mW or uJ; an empty cell is none.
func (r *Recording) wall(t *table, row []string, col wallColumn, at int64) error {
	text := parse.Point(row[col.at], t.comma)
	if text == "" {
		return nil
	}
	c := trace.Channel{Device: "wall", Domain: trace.Wall, Quantity: trace.Power, Unit: "mW", Source: "csv " + clip(t.header[col.at])}
	scale := col.Scale + 3
	if col.Kind == parse.Energy {
		c.Quantity, c.Unit, scale = trace.Energy, "uJ", col.Scale+6
	}
	v, err := parse.Decimal(text, scale)
	if err != nil || v < 0 {
		return fail(t.n, "%q in %q: want a number that is not negative", clip(row[col.at]), clip(t.header[col.at]))
	}
	if col.Kind == parse.Energy {
		if v > maxMicroWattHours {
			return fail(t.n, "%q in %q is too large", clip(row[col.at]), clip(t.header[col.at]))
		}
		v *= 3600
	}
	if err := r.put(c, at, v, ""); err != nil {
		return fail(t.n, "%v", err)
	}
	return nil
}

// maxMicroWattHours times 3600 is still a number: 2.5 GWh.
const maxMicroWattHours = (1<<63 - 1) / 3600

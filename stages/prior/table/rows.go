package table

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/cupel-dev/cupel/stages/prior"
)

// Row is one value that somebody else measured.
type Row struct {
	ID           string            `json:"id"` // SOURCE#n
	Line         int               `json:"line"`
	Entry        int               `json:"entry"` // rows with one number come from one line of the table
	Caption      string            `json:"caption,omitempty"`
	Model        string            `json:"model"`
	Hardware     string            `json:"hardware,omitempty"`
	Engine       string            `json:"engine,omitempty"`
	Quantisation string            `json:"quantisation,omitempty"`
	Context      *float64          `json:"context"`     // tokens, nil = not said
	Concurrency  *int              `json:"concurrency"` // nil = not said
	Metric       string            `json:"metric"`
	Value        float64           `json:"value"`
	Unit         string            `json:"unit,omitempty"`        // of the metric dictionary, where the metric is in it
	Speculative  string            `json:"speculative,omitempty"` // off | on | the method; "" = not said
	Caching      string            `json:"caching,omitempty"`     // off | on | the policy; "" = not said
	Written      string            `json:"written"`               // the value as it stands there
	Other        map[string]string `json:"other,omitempty"`       // columns that are no field
}

// Options say what the headers do not.
type Options struct {
	Map map[string]string // column -> field, ignore or metric; before every alias
	Set map[string]string // field -> value, where a table has none
}

// Rows maps tables to rows. Problems are what was not read. Its error is about
// the options: a column that no table has, a field that does not exist.
func Rows(tables []Table, o Options) ([]Row, []Problem, error) {
	if err := o.check(tables); err != nil {
		return nil, nil, err
	}
	m := &mapper{o: o}
	for _, t := range tables {
		m.table(t)
	}
	sort.SliceStable(m.problems, func(i, j int) bool { return m.problems[i].Line < m.problems[j].Line })
	return m.rows, m.problems, nil
}

func (o Options) check(tables []Table) error {
	for col, field := range o.Map {
		if _, ok := target(field); !ok {
			return fmt.Errorf("%q is no field and no metric; fields are %s", field, strings.Join(Fields, ", "))
		}
		if !slices.ContainsFunc(tables, func(t Table) bool {
			return slices.ContainsFunc(t.Header, func(h string) bool { return same(h, col) })
		}) {
			return fmt.Errorf("no table has a column %q; there are %s", col, strings.Join(headers(tables), ", "))
		}
	}
	for field, value := range o.Set {
		if !slices.Contains(Fields[:8], field) && field != FieldUnit {
			return fmt.Errorf("%q cannot be set for all rows; fields are %s", field, strings.Join(append(slices.Clone(Fields[:8]), FieldUnit), ", "))
		}
		if err := settable(field, value); err != nil {
			return err
		}
	}
	return nil
}

func settable(field, value string) (err error) {
	switch field {
	case FieldContext:
		_, err = parseTokens(value)
	case FieldConcurrency:
		_, err = parseClients(value)
	}
	return err
}

// target reads the right side of a mapping; metric:NAME is a metric that the
// dictionary does not have.
func target(field string) (column, bool) {
	if slices.Contains(Fields, field) {
		return column{field: field}, true
	}
	if name, ok := strings.CutPrefix(field, "metric:"); ok && strings.TrimSpace(name) != "" {
		return column{metric: strings.TrimSpace(name)}, true
	}
	if field == "accuracy" {
		return column{metric: field}, true
	}
	return dictionary(field)
}

func same(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

func headers(tables []Table) (out []string) {
	for _, t := range tables {
		for _, h := range t.Header {
			if q := fmt.Sprintf("%q", h); !slices.Contains(out, q) && len(out) < 20 {
				out = append(out, q)
			}
		}
	}
	return out
}

// mapper collects rows and problems over all tables.
type mapper struct {
	o        Options
	rows     []Row
	problems []Problem
	entry    int
}

func (m *mapper) problem(line int, format string, args ...any) {
	m.problems = append(m.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// layout is a table's columns by what they are.
type layout struct {
	fields  map[string]int
	metrics []metricColumn
	other   []int
}

type metricColumn struct {
	at int
	column
}

func (m *mapper) table(t Table) {
	l, why := m.layout(t)
	if why != "" {
		m.problem(t.Line, "the table is not read: %s", why)
		return
	}
	for _, row := range t.Rows {
		m.row(t, l, row)
	}
}

func (m *mapper) layout(t Table) (l layout, why string) {
	l.fields = map[string]int{}
	metrics := map[string]int{}
	for i, h := range t.Header {
		c, ok := m.column(h)
		switch {
		case !ok:
			l.other = append(l.other, i)
		case c.field == FieldIgnore:
		case c.field != "":
			if j, twice := l.fields[c.field]; twice {
				return l, fmt.Sprintf("the columns %q and %q are both the %s; map one with --map", t.Header[j], h, c.field)
			}
			l.fields[c.field] = i
		default:
			key := fmt.Sprint(c.metric, " ", c.clients)
			if j, twice := metrics[key]; twice {
				return l, fmt.Sprintf("the columns %q and %q are both %s; map one with --map", t.Header[j], h, c.metric)
			}
			metrics[key] = i
			l.metrics = append(l.metrics, metricColumn{i, c})
		}
	}
	if i, ok := l.fields[FieldEngine]; ok && l.has(FieldTest) && same(t.Header[i], "backend") {
		delete(l.fields, FieldEngine) // there it is CUDA, ROCm or Vulkan
		l.other = append(l.other, i)
	}
	return l, l.lacks(t)
}

func (l layout) has(field string) bool {
	_, ok := l.fields[field]
	return ok
}

// lacks says what a table needs to have rows: metric columns, or the columns
// metric and value.
func (l layout) lacks(t Table) string {
	_, named := l.fields[FieldMetric]
	_, valued := l.fields[FieldValue]
	if i := slices.IndexFunc(l.metrics, func(c metricColumn) bool { return c.clients > 0 }); i >= 0 {
		if j, also := l.fields[FieldConcurrency]; also {
			return fmt.Sprintf("the columns %q and %q both say the concurrency; map one with --map", t.Header[l.metrics[i].at], t.Header[j])
		}
	}
	switch {
	case named && valued && len(l.metrics) > 0:
		return fmt.Sprintf("it has the columns metric and value, and %q is a metric too; map it to ignore", t.Header[l.metrics[0].at])
	case named != valued:
		return "of the columns metric and value it has one only"
	case !named && len(l.metrics) == 0:
		return fmt.Sprintf("no column is a metric (%s); map one with --map COLUMN=METRIC", strings.Join(headers([]Table{t}), ", "))
	}
	return ""
}

func (m *mapper) column(header string) (column, bool) {
	for col, field := range m.o.Map {
		if same(header, col) {
			c, ok := target(field)
			if _, unit := cutUnit(header); ok && unit != "" && c.metric != "" {
				c.unit = unit
			}
			return c, ok
		}
	}
	return columnOf(header)
}

func (m *mapper) row(t Table, l layout, line Line) {
	if len(line.Cells) > len(t.Header) {
		m.problem(line.N, "%d cells, and the header has %d", len(line.Cells), len(t.Header))
		return
	}
	base := m.base(t, l, line)
	if base.Model == "" {
		m.problem(line.N, "no model is named; give one for all rows with --set model=NAME")
		return
	}
	before := len(m.rows)
	if i, long := l.fields[FieldMetric]; long {
		m.long(base, line, l, cell(line, i))
	}
	for _, c := range l.metrics {
		if text := cell(line, c.at); !isAbsent(text) {
			m.one(base, c, l, line, t.Header[c.at])
		}
	}
	if len(m.rows) > before {
		m.entry++
	}
}

// one reads one metric of a row; the column test says what its rate is of.
func (m *mapper) one(base Row, c metricColumn, l layout, line Line, header string) {
	if i, ok := l.fields[FieldTest]; ok && c.metric == "throughput_tok_s" {
		var err error
		if c.column, err = tested(strings.TrimSpace(cell(line, i)), &base, c.column); err != nil {
			m.problem(line.N, "%s: %v", header, err)
			return
		}
	}
	m.value(base, c.column, cell(line, c.at), header)
}

// long reads a row of the form metric, value, unit.
func (m *mapper) long(base Row, line Line, l layout, name string) {
	text := cell(line, l.fields[FieldValue])
	if isAbsent(name) || isAbsent(text) {
		m.problem(line.N, "metric or value is empty")
		return
	}
	c, ok := columnOf(name)
	if !ok || c.metric == "" {
		c = column{metric: strings.TrimSpace(name)} // a metric that cupel does not have
	}
	if i, has := l.fields[FieldUnit]; has && !isAbsent(cell(line, i)) {
		c.unit = strings.TrimSpace(cell(line, i))
	} else if u := m.o.Set[FieldUnit]; u != "" && c.unit == "" {
		c.unit = u
	}
	m.value(base, c, text, name)
}

// value adds a row for one metric, in the unit of the dictionary.
func (m *mapper) value(base Row, c column, text, header string) {
	x, unit, err := parseValue(text)
	if err != nil {
		m.problem(base.Line, "%s: %v", header, err)
		return
	}
	if unit == "" {
		unit = c.unit
	}
	want := prior.MetricUnit(c.metric)
	if unit == "" && want == "ms" {
		m.problem(base.Line, "%s: %q has no unit, and times are published in ms and in s; say which with --map '%s=%s'", header, text, header, c.metric)
		return
	}
	if want == "score" && unit == "" && x > 1 && x <= 100 {
		unit = "%" // accuracies are published as 0.87 and as 87
	}
	y := x
	if want != "" {
		converted, ok := prior.In(x, unit, want)
		if !ok {
			m.problem(base.Line, "%s: %q is in %s, and %s is in %s", header, text, unit, c.metric, want)
			return
		}
		if converted < 0 {
			m.problem(base.Line, "%s: %q is less than nothing", header, text)
			return
		}
		y, unit = converted, want
	}
	if c.clients > 0 {
		base.Concurrency = &c.clients
	}
	base.Entry, base.Metric, base.Value, base.Unit, base.Written = m.entry, c.metric, y, unit, text
	m.rows = append(m.rows, base)
}

// base fills what the rows of one line share.
func (m *mapper) base(t Table, l layout, line Line) Row {
	r := Row{Line: line.N, Caption: t.Caption}
	text := func(field string) string {
		if i, ok := l.fields[field]; ok && !isAbsent(cell(line, i)) {
			return strings.TrimSpace(cell(line, i))
		}
		return m.o.Set[field]
	}
	r.Model, r.Hardware, r.Engine, r.Quantisation = text(FieldModel), text(FieldHardware), text(FieldEngine), text(FieldQuantisation)
	r.Speculative, r.Caching = m.toggle(l, line, FieldSpeculative), m.toggle(l, line, FieldCaching)
	if s := text(FieldContext); s != "" {
		if x, err := parseTokens(s); err != nil {
			m.problem(line.N, "context: %v; its rows are kept without it", err)
			r.other("context", s)
		} else {
			r.Context = &x
		}
	}
	if s := text(FieldConcurrency); s != "" {
		if n, err := parseClients(s); err != nil {
			m.problem(line.N, "concurrency: %v; its rows are kept without it", err)
			r.other("concurrency", s)
		} else {
			r.Concurrency = &n
		}
	}
	for _, i := range l.other {
		if c := strings.TrimSpace(cell(line, i)); c != "" {
			r.other(t.Header[i], c)
		}
	}
	return r
}

// toggle reads a switch; "none" is a value of it.
func (m *mapper) toggle(l layout, line Line, field string) string {
	if i, ok := l.fields[field]; ok {
		if s := switchOf(cell(line, i)); s != "" {
			return s
		}
	}
	return switchOf(m.o.Set[field])
}

func (r *Row) other(name, text string) {
	if r.Other == nil {
		r.Other = map[string]string{}
	}
	r.Other[name] = text
}

func cell(line Line, at int) string {
	if at >= len(line.Cells) {
		return ""
	}
	return line.Cells[at]
}

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// labelOptions are the three ways to label strata.
type labelOptions struct {
	rules  []string // LABEL=RULE
	fields []string // LABEL=PATH of the log line
	file   string
}

func (o *labelOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.rules, "stratum", nil, "label by a CEL rule, `label=rule` (repeatable)")
	f.StringArrayVar(&o.fields, "stratum-field", nil, "label by a field of the log line, `label=path` (repeatable)")
	f.StringVar(&o.file, "labels", "", "label `file`: .csv with a column id, or .jsonl of {id, strata}")
}

// labelVars are what a rule may name of an item.
var labelVars = []struct {
	guard.TextVar
	of func(*items.Item) any
}{
	{guard.TextVar{Name: "id", Type: guard.Text}, func(it *items.Item) any { return it.ID }},
	{guard.TextVar{Name: "input", Type: guard.Text, Doc: "all user messages"}, func(it *items.Item) any { return said(it, "user") }},
	{guard.TextVar{Name: "system", Type: guard.Text}, func(it *items.Item) any { return strings.TrimSpace(it.System + "\n" + said(it, "system")) }},
	{guard.TextVar{Name: "turns", Type: guard.Whole, Doc: "messages of the input"}, func(it *items.Item) any { return int64(len(it.Input)) }},
	{guard.TextVar{Name: "tools", Type: guard.TextList, Doc: "names of the tools"}, func(it *items.Item) any { return toolNames(it.Tools) }},
	{guard.TextVar{Name: "scorers", Type: guard.TextList}, func(it *items.Item) any { return scorerNames(it) }},
	{guard.TextVar{Name: "answer", Type: guard.Text}, func(it *items.Item) any { return answerText(it.Answer) }},
	{guard.TextVar{Name: "source", Type: guard.Text}, func(it *items.Item) any { return it.Source }},
	{guard.TextVar{Name: "cluster", Type: guard.Text}, func(it *items.Item) any { return it.Cluster }},
	{guard.TextVar{Name: "strata", Type: guard.TextMap, Doc: "labels so far"}, func(it *items.Item) any { return it.Strata }},
}

func labelVarNames() (out []string) {
	for _, v := range labelVars {
		out = append(out, v.Name)
	}
	return out
}

func said(it *items.Item, role string) string {
	var out []string
	for _, m := range it.Input {
		if m.Role == role {
			out = append(out, m.Content)
		}
	}
	return strings.Join(out, "\n")
}

func toolNames(raw []byte) []string {
	var tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
		Name string `json:"name"`
	}
	names := []string{}
	if jsonv2.Unmarshal(raw, &tools) != nil {
		return names
	}
	for _, t := range tools {
		names = append(names, t.Name+t.Function.Name)
	}
	return names
}

func scorerNames(it *items.Item) []string {
	names := []string{}
	for _, s := range it.Scorer {
		names = append(names, s.Name)
	}
	return names
}

// labeller gives an item its further labels: rules in their order, each seeing
// the labels before it, and then the file, whose word counts.
type labeller struct {
	rules []labelRule
	file  map[string]map[string]string
	used  map[string]bool
}

type labelRule struct {
	label string
	prog  *guard.TextProgram
}

func newLabeller(o *labelOptions, fields map[string]string) (*labeller, error) {
	l := &labeller{used: map[string]bool{}}
	vars := make([]guard.TextVar, len(labelVars))
	for i, v := range labelVars {
		vars[i] = v.TextVar
	}
	env, err := guard.NewText(vars)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for label := range fields {
		taken[label] = true
	}
	for _, r := range o.rules {
		label, rule, ok := strings.Cut(r, "=")
		if label = strings.TrimSpace(label); !ok || label == "" {
			return nil, fmt.Errorf("--stratum %q: want LABEL=RULE", r)
		}
		if taken[label] {
			return nil, fmt.Errorf("--stratum: two rules or fields give the label %q", label)
		}
		taken[label] = true
		p, err := env.Compile(rule)
		if err != nil {
			return nil, ruleError(label, err)
		}
		l.rules = append(l.rules, labelRule{label, p})
	}
	if o.file != "" {
		l.file, err = readLabels(o.file)
	}
	return l, err
}

// ruleError shows the place in the rule.
func ruleError(label string, err error) error {
	ce, ok := errors.AsType[*guard.CompileError](err)
	if !ok {
		return fmt.Errorf("--stratum %s: %w", label, err)
	}
	return fmt.Errorf("--stratum %s: %w\n%s", label, err, ce.Caret(ce.Problems[0]))
}

func (l *labeller) label(it *items.Item) (map[string]string, error) {
	out := map[string]string{}
	seen := *it
	seen.Strata = maps.Clone(it.Strata)
	if seen.Strata == nil {
		seen.Strata = map[string]string{}
	}
	for _, r := range l.rules {
		vars := make(map[string]any, len(labelVars))
		for _, v := range labelVars {
			vars[v.Name] = v.of(&seen)
		}
		value, err := r.prog.Eval(vars)
		if err != nil {
			return nil, fmt.Errorf("--stratum %s: %w", r.label, err)
		}
		if value != "" {
			out[r.label], seen.Strata[r.label] = value, value
		}
	}
	if file, ok := l.file[it.ID]; ok {
		l.used[it.ID] = true
		maps.Copy(out, file)
	}
	return out, nil
}

// unused counts ids of the label file that no item has.
func (l *labeller) unused() int { return len(l.file) - len(l.used) }

// readLabels reads a label file.
func readLabels(name string) (map[string]map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]map[string]string{}
	add := func(id string, strata map[string]string) error {
		if _, twice := out[id]; twice || id == "" {
			return step.WithHint(fmt.Errorf("the id %q is missing or stands there already", id), "one line for each item")
		}
		out[id] = strata
		return nil
	}
	if filepath.Ext(name) == ".csv" {
		return out, readLabelTable(name, f, add)
	}
	return out, items.ReadRows(name, f, func(row struct {
		ID     string            `json:"id"`
		Strata map[string]string `json:"strata"`
	}) error {
		return add(row.ID, row.Strata)
	})
}

// readLabelTable reads columns: one is id, the others are labels; an empty cell
// is no label.
func readLabelTable(name string, r io.Reader, add func(string, map[string]string) error) error {
	table := csv.NewReader(r)
	head, err := table.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	idAt := -1
	for i, h := range head {
		if h == "id" {
			idAt = i
		}
	}
	if idAt < 0 {
		return fmt.Errorf("%s:1: there is no column id", name)
	}
	for {
		row, err := table.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		strata := map[string]string{}
		for i, cell := range row {
			if i != idAt && cell != "" {
				strata[head[i]] = cell
			}
		}
		if err := add(row[idAt], strata); err != nil {
			line, _ := table.FieldPos(0)
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

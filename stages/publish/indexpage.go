package publish

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The part of root's README.md that belongs to cupel; what people wrote around
// it stays.
const (
	indexBegin = "<!-- cupel findings: this part is rewritten -->"
	indexEnd   = "<!-- end of cupel findings -->"
)

// indexPage puts the table of findings into a README.
func indexPage(old []byte, findings []indexEntry) []byte {
	table := indexTable(findings)
	before, rest, ok := bytes.Cut(old, []byte(indexBegin))
	_, after, closed := bytes.Cut(rest, []byte(indexEnd))
	switch {
	case ok && closed:
		return slices.Concat(before, table, after)
	case len(bytes.TrimSpace(old)) == 0:
		return slices.Concat([]byte("# Findings\n\n"), table, []byte("\n"))
	}
	return slices.Concat(bytes.TrimRight(old, "\n"), []byte("\n\n"), table, []byte("\n"))
}

func indexTable(findings []indexEntry) []byte {
	var b bytes.Buffer
	b.WriteString(indexBegin + "\n")
	if len(findings) == 0 {
		b.WriteString("There are none.\n")
	} else {
		b.WriteString("| date | finding | question | verdict | candidates |\n|---|---|---|---|---|\n")
	}
	for _, f := range findings {
		var candidates []string
		for _, name := range slices.Sorted(maps.Keys(f.Candidates)) {
			candidates = append(candidates, name+": "+f.Candidates[name])
		}
		date := f.Date
		if date == "" {
			date = "undated"
		}
		fmt.Fprintf(&b, "| %s | [%s](%s/README.md) | %s | %s | %s |\n", mdCell(date), mdCell(f.Dir), f.Dir,
			mdCell(f.question), mdCell(f.outcome()), mdCell(strings.Join(candidates, ", ")))
	}
	topics(&b, findings)
	b.WriteString(indexEnd)
	return b.Bytes()
}

// outcome is the verdict, or why it counts for nothing.
func (e indexEntry) outcome() string {
	if e.Invalid != "" {
		return HistoricalInvalid + ": " + e.Invalid
	}
	return string(e.Verdict)
}

// topics tells how each campaign that was decided more than once was decided,
// newest first. Numbers over time are for `cupel history`, which holds like
// against like.
func topics(b *bytes.Buffer, findings []indexEntry) {
	by := map[string][]indexEntry{}
	for _, f := range findings {
		by[f.Campaign] = append(by[f.Campaign], f)
	}
	for _, campaign := range slices.Sorted(maps.Keys(by)) {
		if len(by[campaign]) < 2 {
			continue
		}
		fmt.Fprintf(b, "\n## History of %s\n\n", mdCell(campaign))
		for i, f := range by[campaign] {
			fmt.Fprintf(b, "- [%s](%s/README.md): %s\n", mdCell(f.Dir), f.Dir, mdCell(f.outcome()+since(by[campaign], i)))
		}
	}
}

// since says what is other than in the finding before.
func since(newestFirst []indexEntry, i int) string {
	if i+1 == len(newestFirst) {
		return ""
	}
	now, before := newestFirst[i], newestFirst[i+1]
	var out []string
	if now.SpecHash != before.SpecHash {
		out = append(out, "another spec")
	}
	for _, name := range slices.Sorted(maps.Keys(now.Candidates)) {
		if a, b := before.Candidates[name], now.Candidates[name]; a != b {
			out = append(out, fmt.Sprintf("%s %s, was %s", name, b, orText(a, "not there")))
		}
	}
	if out == nil && now.Evidence != before.Evidence {
		out = append(out, "new evidence, the same outcome")
	}
	if out == nil {
		return "; the same evidence"
	}
	return "; " + strings.Join(out, ", ")
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

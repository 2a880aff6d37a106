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
			mdCell(f.question), mdCell(string(f.Verdict)), mdCell(strings.Join(candidates, ", ")))
	}
	b.WriteString(indexEnd)
	return b.Bytes()
}

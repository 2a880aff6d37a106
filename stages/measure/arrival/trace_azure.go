package arrival

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// azureColumns are the columns of Azure's LLM inference traces.
var azureColumns = []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// azureLayouts are how the traces of 2023 (2023-11-16 18:15:46.6805900) and of
// 2024 (2024-05-10 00:00:00.009930+00:00) write a time. A fraction of up to
// nine digits is read with each.
var azureLayouts = []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00"}

// azureRows reads the header and returns the parser of what follows.
func azureRows(header []byte) (parser, error) {
	names := fields(header)
	var at [3]int
	for i, want := range azureColumns {
		is := func(name []byte) bool { return string(name) == want }
		at[i] = slices.IndexFunc(names, is)
		if at[i] < 0 {
			return nil, fmt.Errorf("the header %q has no column %s: want TIMESTAMP,ContextTokens,GeneratedTokens, or JSON lines", clip(header), want)
		}
		if slices.ContainsFunc(names[at[i]+1:], is) {
			return nil, fmt.Errorf("the header has two columns %s", want)
		}
	}
	layout := "" // of the first row: later ones must be written alike
	return func(line []byte) (row TraceRow, ns int64, err error) {
		values := fields(line)
		if len(values) != len(names) {
			return row, 0, fmt.Errorf("has %d fields, the header %d", len(values), len(names))
		}
		if layout == "" {
			layout = layoutOf(string(values[at[0]]))
		}
		if ns, err = azureTime(layout, values[at[0]]); err != nil {
			return row, 0, err
		}
		if row.Prompt, err = azureTokens(azureColumns[1], values[at[1]]); err != nil {
			return row, 0, err
		}
		row.Output, err = azureTokens(azureColumns[2], values[at[2]])
		return row, ns, err
	}, nil
}

// fields splits a line at its commas and takes a pair of quotation marks off a
// field. A comma inside quotation marks is none of what these columns hold.
func fields(line []byte) [][]byte {
	out := bytes.Split(line, []byte(","))
	for i, f := range out {
		f = bytes.TrimSpace(f)
		if n := len(f); n >= 2 && f[0] == '"' && f[n-1] == '"' {
			f = f[1 : n-1]
		}
		out[i] = f
	}
	return out
}

func layoutOf(s string) string {
	for _, l := range azureLayouts {
		if _, err := time.Parse(l, s); err == nil {
			return l
		}
	}
	return azureLayouts[0]
}

func azureTime(layout string, b []byte) (int64, error) {
	t, err := time.Parse(layout, string(b))
	if err != nil {
		return 0, fmt.Errorf("TIMESTAMP %q: want a time like 2023-11-16 18:15:46.6805900, as in the first row", clip(b))
	}
	if y := t.Year(); y < 1970 || y > 2200 {
		return 0, fmt.Errorf("TIMESTAMP %q: the year is not from 1970 to 2200", clip(b))
	}
	return t.UnixNano(), nil
}

func azureTokens(name string, b []byte) (int, error) {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s %q: want a whole number from 0 to %d", name, clip(b), MaxTokens)
	}
	return tokens(name, n)
}

package table

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestFiles reads realistic files whole and compares rows and problems.
func TestFiles(t *testing.T) {
	for _, name := range []string{"card.md", "board.html", "runs.csv", "export.json"} {
		src, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		tables, problems, err := Read(FormatOf(filepath.Ext(name)), src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rows, more, err := Rows(tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := listing(rows, append(problems, more...))
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(golden)
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func listing(rows []Row, problems []Problem) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%d/%d %s|%s|%s|%s ctx=%s c=%s %s=%v %s spec=%q cache=%q %q %v\n", r.Line, r.Entry, r.Model, r.Hardware, r.Engine, r.Quantisation,
			orNil(r.Context), orNil(r.Concurrency), r.Metric, r.Value, r.Unit, r.Speculative, r.Caching, r.Written, r.Other)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "! %d: %s\n", p.Line, p.Reason)
	}
	return b.String()
}

func orNil[T any](p *T) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(*p)
}

func TestOptions(t *testing.T) {
	tables, _, err := Read("csv", []byte("Name;Speed;MMLU\nx;12;0.5\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows, problems, err := Rows(tables, Options{Map: map[string]string{"speed": "decode_tok_s", "MMLU": "metric:mmlu"}, Set: map[string]string{"hardware": "H100", "concurrency": "8 users", "context": "32k"}})
	if err != nil || len(problems) > 0 || len(rows) != 2 {
		t.Fatalf("%+v %+v %v", rows, problems, err)
	}
	if r := rows[0]; r.Metric != "decode_tok_s" || r.Hardware != "H100" || *r.Concurrency != 8 || *r.Context != 32768 {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Map: map[string]string{"spped": "decode_tok_s"}}, `no table has a column "spped"`},
		{Options{Map: map[string]string{"speed": "decode"}}, `"decode" is no field and no metric`},
		{Options{Set: map[string]string{"value": "1"}}, "cannot be set for all rows"},
		{Options{Set: map[string]string{"concurrency": "many"}}, "is no concurrency"},
	} {
		if _, _, err := Rows(tables, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}

// A wide table may name the concurrency in its headers.
func TestConcurrencyInHeaders(t *testing.T) {
	for src, want := range map[string]string{
		"model,tok/s (c=1),tok/s (c=16),TTFT ms @ bs=16\nm,10,90,5\n": "1 throughput_tok_s=10|16 throughput_tok_s=90|16 ttft_ms=5",
		"model,tok/s (c=1),tok/s c=1\nm,10,90\n":                      "! the table is not read: the columns \"tok/s (c=1)\" and \"tok/s c=1\" are both throughput_tok_s; map one with --map",
		"model,users,tok/s (c=1)\nm,4,90\n":                           "! the table is not read: the columns \"tok/s (c=1)\" and \"users\" both say the concurrency; map one with --map",
	} {
		tables, _, err := Read("csv", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		rows, problems, _ := Rows(tables, Options{})
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %s=%v", orNil(r.Concurrency), r.Metric, r.Value))
		}
		for _, p := range problems {
			got = append(got, "! "+p.Reason)
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %s, want %s", src, s, want)
		}
	}
}

// llama-bench and its kin say in a column what the rate is of.
func TestLlamaBench(t *testing.T) {
	tables, _, err := Read("markdown", []byte(`
| model | size | params | backend | ngl | test | t/s |
| ----- | ---: | -----: | ------- | --: | ---: | --: |
| lumen 8B Q4_K - Medium | 4.58 GiB | 8.03 B | ROCm | 99 | pp512 | 5404.80 ± 10.80 |
| lumen 8B Q4_K - Medium | 4.58 GiB | 8.03 B | ROCm | 99 | tg128 | 128.50 ± 0.13 |
| lumen 8B Q4_K - Medium | 4.58 GiB | 8.03 B | ROCm | 99 | tg128 @ d4096 | 101.2 ± 0.1 |
| lumen 8B Q4_K - Medium | 4.58 GiB | 8.03 B | ROCm | 99 | pp512+tg128 | 300 |
`))
	if err != nil {
		t.Fatal(err)
	}
	rows, problems, err := Rows(tables, Options{})
	if err != nil || len(rows) != 3 || len(problems) != 1 || !strings.Contains(problems[0].Reason, "not known what the rate is of") {
		t.Fatalf("%+v %+v %v", rows, problems, err)
	}
	for i, want := range []string{"prefill_tok_s 5404.8 512", "decode_tok_s 128.5 -", "decode_tok_s 101.2 4096"} {
		if got := fmt.Sprint(rows[i].Metric, " ", rows[i].Value, " ", orNil(rows[i].Context)); got != want || rows[i].Engine != "" || rows[i].Other["backend"] != "ROCm" {
			t.Errorf("%s, want %s: %+v", got, want, rows[i])
		}
	}
}

func TestRefusesFiles(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for _, tt := range []struct{ format, src, want string }{
		{"json", `[{"model": "a", "model": "b"}]`, "stands twice in one object"},
		{"json", `[` + deep + `]`, "nested deeper than 32"},
		{"json", `{"x": ` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "nested deeper than 32"},
		{"json", `{"a": 1}`, "no list of objects"},
		{"json", `7`, "no list of objects"},
		{"json", `[{"a": 1}] x`, "line 1"},
		{"json", "[\n{\"a\": 1},\n{\"a\": tru}]", "line 3"},
		{"json", "[{\"a\": \"\xff\"}]", "line 1"},
		{"json", `{"a": [{"b": 1}], "c": [{"d": 1}]}`, "several lists"},
		{"json", ``, "line 1"},
		{"jsonl", ``, "empty"},
		{"csv", ``, "empty"},
		{"csv", strings.Repeat(",", 300) + "\n", "columns, allowed"},
		{"csv", "a\n" + strings.Repeat(",", 20000), "line 2: more than"},
		{"csv", "a\n" + strings.Repeat("1\n", 300_000), "more than 200000 rows"},
		{"html", "<table>" + strings.Repeat("<tr><td>", 300_000), "more than 200000 rows"},
		{"json", "[" + strings.Repeat("{},", 300_000) + "{}]", "more than 200000 rows"},
		{"markdown", strings.Repeat("\n", 1_000_001), "more than 1000000 lines"},
		{"toml", ``, "no reader"},
	} {
		if _, _, err := Read(tt.format, []byte(tt.src)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40q: %v, want %q", tt.format, tt.src, err, tt.want)
		}
	}
	if _, _, err := Read("csv", make([]byte, MaxBytes+1)); err == nil {
		t.Error("a file beyond the limit")
	}
}

func TestHostileHTML(t *testing.T) {
	src := "<table><tr><th>model<th>tok/s<tr><td colspan=99999999>x<td>1" + strings.Repeat("<table><tr><td>", 5000)
	tables, problems, err := Read("html", []byte(src))
	if err != nil || len(tables) != 1 || len(problems) != 3 {
		t.Errorf("%d tables, %v, %v", len(tables), problems, err)
	}
}

func TestUnclosedHTML(t *testing.T) {
	tables, _, err := Read("html", []byte("<h2>One<table><caption>Two<tr><th>model<th>tok/s<tr><td>m<td>5"))
	if err != nil || len(tables) != 1 || len(tables[0].Rows) != 1 || strings.Join(tables[0].Header, " ") != "model tok/s" {
		t.Errorf("%+v %v", tables, err)
	}
}

func TestParseValue(t *testing.T) {
	for _, tt := range []struct {
		in   string
		x    float64
		unit string
	}{
		{"12", 12, ""}, {"1,234.5 tok/s", 1234.5, "tok/s"}, {"0.9s", 0.9, "s"}, {"35 ms", 35, "ms"}, {"35ms", 35, "ms"},
		{"1.2k tok/s", 1200, "tok/s"}, {"95%", 95, "%"}, {"12 ± 3 ms", 12, ""}, {"1 034", 1034, ""}, {"1e3", 1000, ""}, {"-2", -2, ""},
	} {
		x, unit, err := parseValue(tt.in)
		if err != nil || x != tt.x || unit != tt.unit {
			t.Errorf("%q: %v %q %v", tt.in, x, unit, err)
		}
	}
	for _, in := range []string{"12,5", "~45", "<50", "≥ 3", "40-50", "fast", "1.2.3", "NaN", "Inf", "1e999", "12 parsecs", "0x10", "1^2", "."} {
		if x, _, err := parseValue(in); err == nil {
			t.Errorf("%q was read as %v", in, x)
		}
	}
}

func TestColumns(t *testing.T) {
	for header, want := range map[string]string{
		"Model": "model", "GPU type": "hardware", "TTFT (ms)": "ttft_ms ms", "TTFT p95 [s]": "ttft_ms.p95 s", "Median TTFT (ms)": "ttft_ms.p50 ms",
		"ttft_ms.p99": "ttft_ms.p99 ms", "Output tok/s": "throughput_tok_s tok/s", "Tokens/sec": "throughput_tok_s tok/s", "Throughput (req/s)": "throughput_tok_s req/s",
		"mean E2E latency ms": "e2e_ms.mean ms", "p50": "", "price": "", "avg model": "", "prefix_caching": "caching",
	} {
		c, ok := columnOf(header)
		got := strings.TrimSpace(c.field + c.metric + " " + c.unit)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
	seen := map[string]string{}
	for _, a := range Aliases {
		for _, n := range a.Names {
			if other, twice := seen[n]; twice {
				t.Errorf("%q means %s and %s", n, other, a.Field)
			}
			if seen[n] = a.Field; normal(n) != n {
				t.Errorf("%q is never looked up: headers become %q", n, normal(n))
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"card.md", "board.html", "runs.csv", "export.json"} {
		src, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(FormatOf(filepath.Ext(name)), src)
	}
	f.Add("csv", utf16Of(binary.LittleEndian, accents))
	f.Add("jsonl", []byte("{\"model\":\"a\",\"tok/s\":\"1\"}\n{\n"))
	f.Fuzz(func(t *testing.T, format string, src []byte) {
		tables, problems, err := Read(format, src)
		if err != nil {
			return
		}
		lines := strings.Count(string(src), "\n") + 1
		rows, more, err := Rows(tables, Options{Set: map[string]string{"model": "m"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(problems, more...) {
			if p.Line < 0 || p.Line > lines || p.Reason == "" {
				t.Fatalf("%+v of %d lines", p, lines)
			}
		}
		for _, r := range rows {
			if r.Line < 1 || r.Line > lines || r.Model == "" || r.Metric == "" || r.Value != r.Value {
				t.Fatalf("%+v of %d lines", r, lines)
			}
		}
	})
}

package table

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior"
)

// Fields of a row that a column can be mapped to, beside metrics.
const (
	FieldModel        = "model"
	FieldHardware     = "hardware"
	FieldEngine       = "engine"
	FieldQuantisation = "quantisation"
	FieldContext      = "context"
	FieldConcurrency  = "concurrency"
	FieldSpeculative  = "speculative"
	FieldCaching      = "caching"
	FieldMetric       = "metric"
	FieldValue        = "value"
	FieldUnit         = "unit"
	FieldIgnore       = "ignore"
)

// Fields lists them in the order of a row.
var Fields = []string{FieldModel, FieldHardware, FieldEngine, FieldQuantisation, FieldContext, FieldConcurrency,
	FieldSpeculative, FieldCaching, FieldMetric, FieldValue, FieldUnit, FieldTest, FieldIgnore}

// Alias is one row of the table of headers: the field or metric, and what people
// call it, in lower case with single spaces. Documentation is printed from it.
type Alias struct {
	Field string   `json:"field"`
	Unit  string   `json:"unit,omitempty"` // of a metric, when the header itself says it
	Names []string `json:"names"`
}

// Aliases is the table. A header is compared without its unit in brackets,
// without p50, mean and their like, and with - _ / as spaces.
var Aliases = []Alias{
	{FieldModel, "", []string{"model", "model id", "model name", "name", "checkpoint", "llm", "repo"}},
	{FieldHardware, "", []string{"hardware", "gpu", "gpus", "gpu name", "gpu type", "gpu model", "device", "accelerator", "card", "machine", "hw"}},
	{FieldEngine, "", []string{"engine", "backend", "framework", "runtime", "server", "serving engine", "inference engine", "software", "engine name"}},
	{FieldQuantisation, "", []string{"quantisation", "quantization", "quant", "precision", "dtype", "weights", "format", "weight dtype", "quant type"}},
	{FieldContext, "", []string{"context", "context length", "context tokens", "ctx", "ctx len", "context window", "input length", "input len", "input tokens", "prompt length", "prompt tokens", "isl", "max model len", "n ctx"}},
	{FieldConcurrency, "", []string{"concurrency", "concurrent requests", "concurrent", "users", "parallel", "clients", "batch", "batch size", "bs", "streams", "max concurrency", "c"}},
	{FieldSpeculative, "", []string{"speculative", "speculative decoding", "spec decode", "spec", "speculation", "mtp", "eagle", "draft", "draft model"}},
	{FieldCaching, "", []string{"caching", "cache", "prefix cache", "prefix caching", "prompt cache", "prompt caching", "kv cache reuse", "cached"}},
	{FieldMetric, "", []string{"metric", "measure", "metric name"}},
	{FieldValue, "", []string{"value", "result"}},
	{FieldUnit, "", []string{"unit", "units"}},
	{FieldTest, "", []string{"test"}},
	{"throughput_tok_s", "tok/s", []string{"tok s", "tokens s", "token s", "t s", "tokens sec", "tok sec", "tokens second", "tokens per second", "tps", "output tok s", "output tokens s", "output tokens per second", "total tok s", "throughput tok s", "throughput tokens s"}},
	{"throughput_tok_s", "", []string{"throughput", "output throughput", "output token throughput", "generation throughput", "system throughput", "aggregate throughput", "total throughput"}},
	{"decode_tok_s", "tok/s", []string{"decode tok s", "decode tokens s", "tg tok s", "tok s user", "tokens s user", "gen tok s", "generation tok s", "generation tokens s"}},
	{"decode_tok_s", "", []string{"decode", "decode speed", "decode throughput", "generation speed", "tg", "eval rate", "token generation"}},
	{"prefill_tok_s", "tok/s", []string{"prefill tok s", "prefill tokens s", "pp tok s", "prompt tok s", "prompt processing tok s"}},
	{"prefill_tok_s", "", []string{"prefill", "prefill speed", "prefill throughput", "prompt processing", "pp", "prompt eval rate"}},
	{"ttft_ms", "", []string{"ttft", "time to first token", "first token latency", "first token"}},
	{"tpot_ms", "", []string{"tpot", "time per output token"}},
	{"itl_ms", "", []string{"itl", "inter token latency", "intertoken latency"}},
	{"e2e_ms", "", []string{"e2e", "e2e latency", "end to end latency", "request latency", "total latency", "e2el", "latency"}},
	{"request_rate", "req/s", []string{"req s", "requests s", "requests sec", "requests per second", "rps", "qps"}},
	{"request_rate", "", []string{"request rate", "request throughput"}},
	{"accuracy", "", []string{"accuracy", "acc", "pass rate"}},
}

var byName = func() map[string]Alias {
	out := map[string]Alias{}
	for _, a := range Aliases {
		for _, n := range a.Names {
			out[n] = a
		}
	}
	return out
}()

// column is what a header says.
type column struct {
	field   string // one of Fields, or "" for a metric
	metric  string
	unit    string // "" = it does not say
	clients int    // concurrency that the header names, 0 = none
}

var (
	bracketed = regexp.MustCompile(`[(\[]([^()\[\]]*)[)\]]`)
	spaces    = regexp.MustCompile(`[\s_/,:|-]+`)
	stats     = regexp.MustCompile(`(?i)\b(p50|p90|p95|p99|p999|median|mean|avg|average|max|min)\b`)
)

var statNames = map[string]string{"median": "p50", "avg": "mean", "average": "mean"}

// columnOf reads a header; ok is false when nothing in the table of aliases and
// no metric of the dictionary is called so.
func columnOf(header string) (c column, ok bool) {
	if a := byName[normal(header)]; slices.Contains(Fields, a.Field) {
		return column{field: a.Field}, true // concurrency is a metric too
	}
	if c, ok := dictionary(strings.TrimSpace(header)); ok {
		return c, true
	}
	header, clients := cutClients(header)
	text, unit := cutUnit(header)
	text, stat := cutStat(text)
	name := normal(text)
	a, ok := byName[name]
	if !ok && unit == "" {
		a, unit, ok = trailingUnit(name)
	}
	switch {
	case !ok:
		return column{}, false
	case slices.Contains(Fields, a.Field):
		return column{field: a.Field, unit: unit}, stat == "" && clients == 0
	}
	if unit == "" {
		unit = a.Unit
	}
	return column{metric: withStat(a.Field, stat), unit: unit, clients: clients}, true
}

var clientsInHeader = regexp.MustCompile(`(?i)[@(\[]?\s*\b(?:c|bs|concurrency|batch|batch size)\s*=\s*([0-9]{1,6})\b\s*[)\]]?`)

// cutClients takes the concurrency out of "tok/s (c=16)".
func cutClients(header string) (rest string, clients int) {
	m := clientsInHeader.FindStringSubmatch(header)
	if m == nil {
		return header, 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return header, 0
	}
	return strings.Replace(header, m[0], " ", 1), n
}

// dictionary accepts a metric's own name; its unit is the metric's.
func dictionary(header string) (column, bool) {
	id, part, _ := strings.Cut(header, ".")
	d, ok := metric.Lookup(id)
	if !ok || part != "" && !slices.Contains(statistics, part) {
		return column{}, false
	}
	return column{metric: header, unit: d.Unit}, true
}

var statistics = []string{"p50", "p90", "p95", "p99", "p999", "mean", "min", "max", "stddev"}

func cutUnit(header string) (text, unit string) {
	for _, m := range bracketed.FindAllStringSubmatch(header, -1) {
		if _, _, ok := prior.Unit(m[1]); ok {
			unit = strings.TrimSpace(m[1])
			header = strings.Replace(header, m[0], " ", 1)
		}
	}
	return header, unit
}

func cutStat(text string) (rest, stat string) {
	found := stats.FindAllString(text, -1)
	if len(found) != 1 {
		return text, ""
	}
	stat = strings.ToLower(found[0])
	if s, ok := statNames[stat]; ok {
		stat = s
	}
	return stats.ReplaceAllString(text, " "), stat
}

func normal(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(strings.ToLower(text), " "))
}

// trailingUnit reads "ttft ms" as a ttft in ms.
func trailingUnit(name string) (Alias, string, bool) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return Alias{}, "", false
	}
	if _, _, ok := prior.Unit(name[i+1:]); !ok {
		return Alias{}, "", false
	}
	a, ok := byName[name[:i]]
	return a, name[i+1:], ok
}

// withStat names the statistic of a distribution; rates of a whole cell have none.
func withStat(id, stat string) string {
	if stat == "" || id == "throughput_tok_s" || id == "request_rate" || id == "accuracy" {
		return id
	}
	return id + "." + stat
}

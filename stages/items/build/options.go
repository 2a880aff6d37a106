package build

import (
	"io"
	"time"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/scrub"
)

// Source is one file of lines.
type Source struct {
	Name string // as the user wrote it; stands in errors and in the report
	Open func() (io.ReadCloser, error)
}

// Options say what is built from what.
type Options struct {
	Logs   []Source // one request a line
	Expert []Source // item sets as items.Read takes them; never sampled, scrubbed or dropped

	Map        FieldMap // zero: the forms of OpenAI requests, and {input, ts, …}
	Sample     Sampling
	Scrub      scrub.Options
	Near       float64 // items whose Jaccard index is at least this are one; 0 = 0.85, below 0 = off
	KeepDigits bool    // digits are compared as they are, not as 0: arithmetic, extraction of numbers

	// Label gives further labels of an item, after scrubbing. It is called in
	// the order of the items, from one goroutine; nil = none.
	Label func(*items.Item) (map[string]string, error)

	MaxBroken float64 // share of broken lines above which the logs are refused; 0 = 0.05, 1 = never
	MaxLine   int     // bytes of a log line; 0 = items.MaxLine
	Memory    int64   // bytes to stay under; 0 = 400 MB
	TempDir   string  // "" = the system's
}

// Sampling draws log lines, each window of time in proportion to its lines.
type Sampling struct {
	N      int           // lines to draw; 0 = all
	Seed   uint64        //
	Window time.Duration // 0 = a week from Monday, 00:00 UTC
}

// FieldMap says where a log line has what. A path is a JSON Pointer
// (/request/messages) or names joined by dots (request.messages). What is empty
// is looked for under its usual names.
type FieldMap struct {
	ID      string
	Time    string // RFC 3339 or Unix seconds, milliseconds, microseconds, nanoseconds
	Input   string // a string or a list of messages
	System  string
	Tools   string
	Schema  string            // JSON Schema of the answer
	Answer  string            // a reference, if the log has one
	Cluster string            // items with one value are not independent, such as a conversation's id
	Labels  map[string]string // label -> path
}

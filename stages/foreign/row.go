package foreign

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// RepeatUnknown is the repeat of an answer whose format does not number them:
// the order in the file does.
const RepeatUnknown = -1

// Failure classes of answers that a tool stored without a usable output.
const (
	ClassNoOutput  llm.Class = "no-output"  // the tool wrote null, or nothing
	ClassToolError llm.Class = "tool-error" // the tool says that the attempt failed
	ClassNotText   llm.Class = "not-text"   // log-likelihoods, several requests: there is no text to score
)

// Row is one stored answer. Its ID is the item's.
type Row struct {
	evidence.ResponseRow
	Candidate string         // who answered, where one file holds several
	Theirs    []Their        // the tool's own scores
	Target    jsontext.Value // the tool's own reference, nil = none; may be used as an item's answer

	// OnlyTheirs marks further scores of an answer that stood earlier in the
	// file: lm-eval writes a row for each of its filters.
	OnlyTheirs bool

	// Mark is what Options.Work left here.
	Mark any

	idFrom  string   // the field that the id was taken from
	filter  string   // lm-eval
	sum     uint64   // lm-eval: of the responses
	unused  []string // names that the reader does not know
	notJSON bool     // NaN or Infinity stood in it
	asJSON  bool     // the output was no text, and is scored as its JSON
	cut     bool     // ended by a limit of the tool
	more    int      // further choices that were left out
}

// Their is one score that the tool itself gave. A nil Value has a Reason.
type Their struct {
	Name   string
	Value  *float64
	Reason string
}

// Report says what was read and what the file could not tell.
type Report struct {
	Format  string   `json:"format"`
	Version string   `json:"version,omitempty"` // of the tool, as it says
	Answers int      `json:"answers"`
	IDFrom  string   `json:"id_from"` // field that the item ids were taken from
	Unknown []string `json:"unknown"` // what could not be known, in words
	Notes   []string `json:"notes,omitempty"`

	NoFinish int `json:"no_finish"` // answers without a finish reason: whether they were cut is not known
	NoUsage  int `json:"no_usage"`  // answers without token counts
}

// Options say how a file is read. The zero value reads it as its tool means it.
type Options struct {
	// ID is the field that holds the item's id, a path such as doc.id or
	// vars.case; "" = the format's own.
	ID string

	// Candidate chooses one of several who answered in one file.
	Candidate string

	// Filter makes lm-eval rows give the text that this filter extracted; "" =
	// the response as it came.
	Filter string

	// Workers is how many rows are parsed at the same time; 0 = one.
	Workers int

	// Work, if set, is called once for each worker and gives a function that is
	// called with every row, in any order and before the row is handed on.
	Work func() func(*Row)
}

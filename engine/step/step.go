// Package step is the contract between the engine and the stages: types only.
//
// The engine decides whether a step has to run; a stage decides what running
// means. Neither side sees more of the other than what stands here.
package step

import (
	"context"
	"encoding/json"
	"io"
)

// Step is one content-addressed unit of work. Every field up to and including
// Inputs enters the key, except where its comment says that it does not.
type Step struct {
	// Name is unique in a plan and readable: "measure/fp8/support/generate".
	// Its first element is the stage. Not in the key: renaming a candidate
	// must not run a GPU again.
	Name string
	// Kind names the runner: "generate", "score", ...
	Kind string
	// Revision is raised by the author of the kind when the same inputs would
	// now give different outputs. It stands for cupel's version in the key.
	Revision int
	// Trial tells apart steps that are to be run more than once with the same
	// inputs: a noise floor measured by a cache hit would be 0.
	Trial int
	// Params is the step's own part of the campaign, as JSON. The engine
	// canonicalises it (RFC 8785) before hashing.
	Params json.RawMessage
	// Inputs are the outputs of other steps and files, by the name under which
	// the runner opens them. They enter the key by content digest.
	Inputs map[string]Input

	// After names steps that must not have been refused before this one runs.
	// It orders; it adds nothing to the key.
	After []string
	// Behind names steps that must have ended, well or not, before this one
	// starts: cells that are to be interleaved wait until all candidates are
	// known to be up or down. It orders; it adds nothing to the key.
	Behind []string
	// Rank orders the steps of a stage before their names do. Not in the key.
	Rank int
	// Resources are held exclusively while the step runs, also between
	// processes: the endpoint of a timing cell. Not in the key.
	Resources []string
	// Where names the binding that the runner is to use (the candidate). The
	// address behind it may change without changing a result. Not in the key.
	Where string
	// Session names what must be open outside while the step runs: a server that
	// the engine has started before, and stops when no step needs it any more.
	// "" = nothing. Not in the key.
	Session string
	// Hints say how hard to try: time-outs, retries. A runner may end in an
	// error because of them, and never in another output. Not in the key, so
	// that a longer time-out continues a measurement instead of repeating it.
	Hints json.RawMessage
	// Observes marks a step that looks at the outside world: it runs whenever
	// the world can be reached, and its last answer is used when it cannot.
	Observes bool
	// Pure marks a step that can be derived again from its inputs at no cost.
	// A damaged output of a pure step is a miss; that of any other is an error.
	Pure bool
	// Grows is set for a step that does many small things, each of which is
	// the same whatever the others are: it names what says how many there are.
	// Steps that differ in nothing else are a family, and a runner is shown
	// what others of the family left; see Job.Earlier. Not in the key.
	Grows *Growth
	// Cost is the planner's estimate of what running the step sends.
	Cost Cost
}

// Growth names the members of Params and the Inputs that a step's family does
// not depend on.
type Growth struct {
	Params []string
	Inputs []string
}

// Stage is the first element of the name.
func (s Step) Stage() string {
	for i := range len(s.Name) {
		if s.Name[i] == '/' {
			return s.Name[:i]
		}
	}
	return s.Name
}

// Cost is an estimate made while planning, for people; it decides nothing.
type Cost struct {
	Requests int `json:"requests,omitempty"`
	Tokens   int `json:"tokens,omitempty"` // upper bound of output tokens
	// Exact says that Requests is what will be sent unless something has to be
	// sent again; otherwise it is an upper bound.
	Exact bool `json:"exact,omitempty"`
	// AtLeast says that Requests and Tokens are lower bounds: how many are sent
	// depends on how fast they are answered.
	AtLeast bool `json:"at_least,omitempty"`
}

// Input is where one named input comes from: either Step and Output, or Blob.
type Input struct {
	Step   string // producing step's name
	Output string // output's name there
	Blob   Digest // content of a file that the campaign names
	Path   string // where that file is now; not in the key
	// Sealed marks a blob that is encrypted at Path, while Blob is the digest of
	// what it is decrypted to: encrypted anew for somebody else it is the same
	// input. It is opened by what the engine was handed for that, and its content
	// is never written anywhere. Not in the key.
	Sealed bool
	// Optional inputs may be absent because their producer was refused or
	// stopped. An absent input is absent from the key, which differs from empty.
	Optional bool
}

// Runner executes steps of one kind. Run may be called again for the same step
// after an error, a crash or in another process; it must then take up the
// journal. A nil error means that all outputs are complete. An error means
// "not done": nothing is recorded but the journal stays.
type Runner interface {
	Run(ctx context.Context, job Job) error
}

// RunnerFunc adapts a function to Runner.
type RunnerFunc func(ctx context.Context, job Job) error

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, job Job) error { return f(ctx, job) }

// Forecaster is a Runner that can tell before a step runs what it would send,
// from what is there and without a look at the outside. The note is for people.
// An error means that it cannot tell.
type Forecaster interface {
	Forecast(Known) (cost Cost, note string, err error)
}

// Known is what is there before a step runs, to be read only.
type Known interface {
	// Step returns the step being run. Where is the binding to use.
	Step() Step
	// Params decodes the step's parameters into v; unknown fields are errors.
	Params(v any) error
	// Open opens an input. The content is verified while it is read: a reader
	// that reaches io.EOF without error has read what the digest names. It
	// returns ErrNoInput for an optional input that is absent.
	Open(input string) (io.ReadCloser, error)
	// Journal calls f with each line that earlier attempts of this very step
	// made durable, oldest first. Torn and damaged lines are left out.
	Journal(f func(line []byte) error) error
	// Earlier returns results of other steps of the same family, the one
	// recorded last first, and not of too many. It is empty when everything is
	// to be done again. What a runner takes over from them must be what it
	// would make anew.
	Earlier() []Earlier
}

// Earlier is the recorded result of another step of the same family.
type Earlier struct {
	Key    Key
	Record int // its number within the key
	// Open opens an output as Job.Open does an input. It returns ErrNoInput
	// for an output that is not there. Damage in it is no damage to the step
	// that reads it, which goes on without.
	Open func(output string) (io.ReadCloser, error)
}

// Job is all that a runner is handed. Append, Progress and Logf may be called
// by several goroutines at once. It gives no environment, no paths and no
// clock: what a result may depend on is what it was given.
type Job interface {
	Known
	// InputDigest returns the content digest of an input, zero when absent.
	InputDigest(input string) Digest
	// Create opens an output for writing. Outputs become visible together,
	// after Run returned nil. Close must be called.
	Create(output, mediaType string) (io.WriteCloser, error)
	// Append makes one line of unfinished work durable before it returns. A
	// line is at most 64 MiB and may hold any bytes.
	Append(line []byte) error
	// Refuse turns the step's outcome into a negative result: it is recorded
	// with its outputs, and the steps After it do not run.
	Refuse(reason string)
	// Note adds a sentence to the record of the step and to the line that says
	// that it is done. Nothing may depend on it.
	Note(format string, args ...any)
	// Progress reports done of total; note is a short text for people.
	Progress(done, total int, note string)
	// Logf writes to the step's log, for people. Nothing may depend on it.
	Logf(format string, args ...any)
}

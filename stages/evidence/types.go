// Package evidence holds the documents that the stages hand to one another:
// what was declared, observed, sent, received, scored, compared and decided.
//
// A value that is unknown is a nil pointer with a reason beside it, never 0.
package evidence

import (
	"cmp"
	"encoding/json"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/judge"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
	"github.com/cupel-dev/cupel/stages/stats"
)

// PinDoc is a candidate's identity: declared, observed, and side by side.
type PinDoc struct {
	Declared spec.Candidate `json:"declared"` // Role and Serve cleared
	Observed llm.Identity   `json:"observed"`
	Probe    llm.TokenProbe `json:"probe"`
	Fields   []PinField     `json:"fields"` // every pin, in a fixed order
	// Hardware is what the endpoint runs on; nil = not known, or nothing that a
	// result depends on (docs/adr/0008-hardware.md).
	Hardware *hardware.Identity `json:"hardware,omitempty"`
}

// Served is the number of tokens that a request may use, 0 = not known.
func (d *PinDoc) Served() int { return cmp.Or(d.Observed.ContextLength, d.Probe.Context) }

// PinField compares one pin.
type PinField struct {
	Name     string `json:"name"` // "model.digest", "engine.version", ...
	Declared string `json:"declared,omitempty"`
	Observed string `json:"observed,omitempty"`
	State    string `json:"state"`          // equal | differs | declared-only | observed-only | unknown
	By       string `json:"by,omitempty"`   // the page that told what was observed: "GET /props"
	Note     string `json:"note,omitempty"` // why it is not known, or where an unexpected value comes from
}

// StartDoc is what came of the last start of a candidate by the campaign's own
// commands.
type StartDoc struct {
	LoadS   *float64 `json:"load_s"`            // from the start command until the model was listed; nil = not measured
	Reason  string   `json:"reason,omitempty"`  // why there is no load time
	Failure string   `json:"failure,omitempty"` // why it did not come up; then it was not measured
	Log     []string `json:"log,omitempty"`     // the end of the log of a failed start, secrets blanked out
}

// ResponseRow is one answer without anything that time changes.
type ResponseRow struct {
	ID        string         `json:"id"`
	Sample    int            `json:"sample"`             // from 0
	Repeat    int            `json:"repeat"`             // from 0
	HeldOut   bool           `json:"held_out,omitempty"` // of an item that is held out: who shows the row leaves out Text, Reasoning and ToolCalls
	Request   step.Digest    `json:"request"`
	Text      string         `json:"text"`
	Reasoning string         `json:"reasoning,omitempty"`
	ToolCalls []llm.ToolCall `json:"tool_calls,omitempty"`
	Finish    string         `json:"finish,omitempty"`
	Model     string         `json:"model,omitempty"`
	Usage     *llm.Usage     `json:"usage,omitempty"`
	Failure   *llm.Failure   `json:"failure,omitempty"`
}

// TimingRow is what time did to the answer of the same id, sample, repeat.
type TimingRow struct {
	ID            string           `json:"id"`
	Sample        int              `json:"sample"`
	Repeat        int              `json:"repeat"`
	Attempts      int              `json:"attempts"` // sends, 1 = no retry
	Times         llm.Times        `json:"times"`
	Server        *llm.ServerTimes `json:"server,omitempty"`
	ContentChunks int              `json:"content_chunks"`
}

// CellHeader opens a cell file. The cell's clock begins at StartUnixNS.
type CellHeader struct {
	Kind         string            `json:"kind"`            // of the workload: capacity, open-loop, decode, ...
	Cell         string            `json:"cell"`            // c=4, rate=2.5, tokens=8192: unique in the workload
	Model        string            `json:"model,omitempty"` // as the endpoint serves it
	Loop         string            `json:"loop"`            // closed | open
	Concurrency  int               `json:"concurrency"`     // 0 = open loop
	Arrivals     *Arrivals         `json:"arrivals,omitempty"`
	Trial        int               `json:"trial"`
	Replica      int               `json:"replica,omitempty"` // from 1, in a replicas workload
	Order        int               `json:"order,omitempty"`   // planned position among the interleaved cells, from 1
	Requests     int               `json:"requests"`          // rows that follow
	Unsent       int               `json:"unsent,omitempty"`  // planned and not dispatched when the window ended
	Prompts      PromptSet         `json:"prompts"`
	StartUnixNS  int64             `json:"start_unix_ns"`
	WallNS       int64             `json:"wall_ns"`     // around the pool, warm-up outside
	CPUSelfNS    int64             `json:"cpu_self_ns"` // the client's own CPU time in the window, -1 = not known
	MaxInFlight  int               `json:"max_in_flight"`
	InFlightNS   int64             `json:"in_flight_ns"` // integral of requests in flight over the wall
	SelfCheck    *metric.SelfCheck `json:"self_check,omitempty"`
	Pulse        *metric.Pulse     `json:"pulse,omitempty"`         // of the client, while the cell ran
	Apart        string            `json:"apart,omitempty"`         // why the candidates were measured one after the other, "" = as the campaign says
	Beside       []string          `json:"beside,omitempty"`        // candidates that were up on the same GPUs, as far as cupel knows
	ServerScrape string            `json:"server_scrape,omitempty"` // why there are no server metrics, "" = there are some, or none were looked for
	Probe        *float64          `json:"probe,omitempty"`         // search: the rate or concurrency looked at
	Stalls       int               `json:"stalls,omitempty"`        // requests that were not built yet when they were to be sent
	StalledNS    int64             `json:"stalled_ns,omitempty"`    // for which clients of a closed loop waited for rows to be written, added up
	Energy       *MeterRun         `json:"energy,omitempty"`        // of an energy workload: the meter beside it
}

// Arrivals say when the requests of an open-loop cell were to be sent.
type Arrivals struct {
	Process    string      `json:"process"` // constant | poisson | gamma | trace | ramp
	Rate       float64     `json:"rate"`    // req/s offered, planned requests / window for traces
	To         float64     `json:"to,omitempty"`
	Burstiness float64     `json:"burstiness,omitempty"`
	Seed       int64       `json:"seed"`
	WindowNS   int64       `json:"window_ns"`
	Planned    int         `json:"planned"`
	PlanSHA256 step.Digest `json:"plan_sha256"` // of the planned offsets in ns, one decimal per line
}

// PromptSet describes the prompts of a cell.
type PromptSet struct {
	Attempt       string      `json:"attempt,omitempty"` // in prompts that are to be new: an engine that was asked before has not seen them
	Builder       string      `json:"builder"`           // cupel/words-v1, anvil/s, anvil/n, ...
	SHA256        step.Digest `json:"sha256"`            // of the prompts in order of index, each followed by a NUL
	Distinct      int         `json:"distinct"`
	CharsPerToken float64     `json:"chars_per_token,omitempty"`
	CalibratedBy  string      `json:"calibrated_by,omitempty"`   // usage | tokenize | nominal
	Template      *int        `json:"template_tokens,omitempty"` // that a request has besides its text: the chat template, a system prompt; nil = not measured
	Replayed      int         `json:"replayed,omitempty"`        // prompts that begin with blocks of a trace
	Doubts        []string    `json:"doubts,omitempty"`          // what the prompts should have been and are not
}

// LoadRow is one request of a cell. Rows stand in the order in which requests
// ended; each index from 0 occurs once.
type LoadRow struct {
	Index         int              `json:"index"`
	Planned       int64            `json:"planned_ns"`    // ns on the cell's clock, -1 = closed loop
	Dispatched    int64            `json:"dispatched_ns"` // ns on the cell's clock: the zero of Times
	Times         llm.Times        `json:"times"`
	OutputNS      []int64          `json:"output_ns,omitempty"` // first output event since dispatch, then the gaps; equal stamps shared a read
	Server        *llm.ServerTimes `json:"server,omitempty"`
	Usage         *llm.Usage       `json:"usage,omitempty"`
	Finish        string           `json:"finish,omitempty"`
	Failure       *llm.Failure     `json:"failure,omitempty"`
	ContentChunks int              `json:"content_chunks"`
	ReasonChunks  int              `json:"reasoning_chunks"`
	FirstTokens   int              `json:"first_tokens,omitempty"` // tokens of the first output event, when the engine says
	Coalesced     int              `json:"coalesced"`
	PromptWords   int              `json:"prompt_words"`
	MaxTokens     int              `json:"max_tokens"`             // the limit that was sent
	AskedTokens   int              `json:"asked_tokens,omitempty"` // prompt length asked for
	Group         string           `json:"group,omitempty"`        // bench prompt, context case
	Canary        *Canary          `json:"canary,omitempty"`
	Output        *Output          `json:"output,omitempty"`
	Answer        *Answer          `json:"answer,omitempty"`
}

// Answer tells whether the answer is the right one, where a workload knows it.
type Answer struct {
	Case     string `json:"case"` // needle, native-order, ...
	Position string `json:"position,omitempty"`
	Want     string `json:"want"`
	Got      string `json:"got"` // at most 200 characters
	Passed   bool   `json:"passed"`
}

// ScrapeRow is one look at the engine's own metrics, raw. Each block of a cell
// that has any begins with one before it, be it a failed one.
type ScrapeRow struct {
	AtNS   int64  `json:"at_ns"` // on the cell's clock; negative = before it
	Phase  string `json:"phase"` // before | during | after
	Body   string `json:"body"`
	Failed string `json:"failed,omitempty"` // why there is no body, "" = there is
}

// Canary tells whether the answer belongs to the request.
type Canary struct {
	Marker  string `json:"marker"`
	AtStart bool   `json:"at_start"`
	Foreign int    `json:"foreign"` // markers of other requests in the answer
	Passed  bool   `json:"passed"`
}

// Output tells whether the answer has the length that was asked for.
type Output struct {
	Policy string `json:"policy"` // observe | strict
	Asked  int    `json:"asked"`  // words
	Got    int    `json:"got"`    // asked-for words
	Extra  int    `json:"extra"`  // other words
	Passed bool   `json:"passed"`
}

// ScoreRow is one item's score, averaged over samples and repeats.
type ScoreRow struct {
	ID        string            `json:"id"`
	Strata    map[string]string `json:"strata"`
	Cluster   string            `json:"cluster,omitempty"`
	Weight    float64           `json:"weight,omitempty"`
	Value     *float64          `json:"value"` // nil = unscored
	Reason    string            `json:"reason"`
	Scorer    string            `json:"scorer"` // name/version
	N         int               `json:"n"`      // answers scored
	Truncated int               `json:"truncated"`
	Failed    int               `json:"failed"` // answers without a usable output
}

// ScoreSummary counts a scored generation, overall and by stratum.
type ScoreSummary struct {
	Stratify string                 `json:"stratify"`
	Overall  ScoreGroup             `json:"overall"`
	Strata   map[string]ScoreGroup  `json:"strata"`
	Scorers  map[string]string      `json:"scorers"` // name -> version
	Params   map[string]interface{} `json:"params,omitempty"`
}

// ScoreGroup is one group of items.
type ScoreGroup struct {
	Items          int            `json:"items"`
	Scored         int            `json:"scored"`
	Mean           metric.Value   `json:"mean"`
	TruncationRate metric.Value   `json:"truncation_rate"`    // truncated answers / answers
	FailureRate    metric.Value   `json:"failure_rate"`       // failed answers / answers
	Failures       map[string]int `json:"failures,omitempty"` // class -> answers
	OutputTokens   metric.Value   `json:"output_tokens"`      // sum
	PromptTokens   metric.Value   `json:"prompt_tokens"`      // sum
}

// LoadMetrics are a candidate's cells on one serving workload, derived.
type LoadMetrics struct {
	Workload string         `json:"workload"`
	Kind     string         `json:"kind"` // capacity, open-loop, search, decode, ladder, ...
	Protocol string         `json:"protocol"`
	Cells    []metric.Cell  `json:"cells"`            // in the order of the campaign, trials pooled; each trial in PerTrial
	Probes   []metric.Probe `json:"probes,omitempty"` // search
	Curve    *metric.Curve  `json:"curve,omitempty"`  // effective-context
	Unions   []metric.Union `json:"unions,omitempty"` // replicas, by cell and trial
	Energy   []energy.Cell  `json:"energy,omitempty"` // energy: beside Cells, by the same names
	// Calibration is what the campaign declares of a wall meter; it changes no number.
	Calibration *energy.Calibration `json:"wall_calibration,omitempty"`
	Apart       string              `json:"apart,omitempty"`  // why the candidates were measured one after the other although nobody asked for it
	Beside      []string            `json:"beside,omitempty"` // candidates that were up on the same GPUs
}

// Comparison is a candidate against the baseline on one quality workload.
type Comparison struct {
	Workload        string        `json:"workload"`
	Baseline        string        `json:"baseline"`
	Candidate       string        `json:"candidate"`
	Stats           stats.Result  `json:"stats"`
	Attrition       Attrition     `json:"attrition"`
	Agreement       TextAgreement `json:"agreement"`
	Noise           *NoiseFloor   `json:"noise,omitempty"`
	BaselineScores  ScoreSummary  `json:"baseline_scores"`
	CandidateScores ScoreSummary  `json:"candidate_scores"`
	Flips           []Flip        `json:"flips"`            // items whose score changed, worst first, at most 1,000
	Judged          *Judged       `json:"judged,omitempty"` // of a workload that a judge scores
}

// Judged is what a judge's scores are worth.
type Judged struct {
	Judge        string             `json:"judge"`
	Calibration  *judge.Calibration `json:"calibration"`        // without its rows; nil = there is none
	Reason       string             `json:"reason,omitempty"`   // why there is no calibration
	Uncalibrated bool               `json:"allowed,omitempty"`  // the campaign lets an uncalibrated judge decide
	Items        int                `json:"items"`              // paired items that the judge alone scored
	Baseline     *stats.Powered     `json:"baseline,omitempty"` // the mean, corrected by the labels
	Candidate    *stats.Powered     `json:"candidate,omitempty"`
	Delta        *stats.Estimate    `json:"delta,omitempty"` // corrected; only when labels exist of both sides' answers
	Note         string             `json:"note,omitempty"`
}

// Attrition counts items that could not be paired; ids at most 100 each.
type Attrition struct {
	OnlyBaseline  []string `json:"only_baseline,omitempty"`
	OnlyCandidate []string `json:"only_candidate,omitempty"`
	Unscored      []string `json:"unscored,omitempty"`
	Total         int      `json:"total"`
	Policy        string   `json:"policy"`
}

// TextAgreement counts identical answers.
type TextAgreement struct {
	Compared  int `json:"compared"`
	Identical int `json:"identical"`
}

// Flip is an item on which the two differ.
type Flip struct {
	ID      string  `json:"id"`
	Stratum string  `json:"stratum"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
	ReasonA string  `json:"reason_a"`
	ReasonB string  `json:"reason_b"`
}

// NoiseFloor is what two runs of the same candidate differ by.
type NoiseFloor struct {
	Workload  string        `json:"workload"`
	Candidate string        `json:"candidate"`
	Stats     stats.Result  `json:"stats"`
	Agreement TextAgreement `json:"agreement"`
	Drift     bool          `json:"drift"` // the floor's own interval excludes 0
	Note      string        `json:"note,omitempty"`
}

// Record is everything that a decision rests on.
type Record struct {
	Schema      string                     `json:"schema"` // cupel/record/v1
	Campaign    string                     `json:"campaign"`
	SpecHash    step.Digest                `json:"spec_hash"`
	Question    string                     `json:"question"`
	Reward      string                     `json:"reward,omitempty"`
	Kind        string                     `json:"kind"`
	Owner       string                     `json:"owner,omitempty"`
	Date        string                     `json:"date"`   // day of the last measurement, UTC
	Labels      map[string][]string        `json:"labels"` // candidate -> evidence labels
	Baseline    string                     `json:"baseline"`
	Candidates  map[string]CandidateRecord `json:"candidates"`
	Judges      map[string]JudgeRecord     `json:"judges,omitempty"`
	Research    *Research                  `json:"research,omitempty"` // external priors: they decide nothing
	Comparisons []Comparison               `json:"comparisons"`
	Noise       []NoiseFloor               `json:"noise"`
	Evidence    []EvidenceFile             `json:"evidence"` // the raw rows by digest
	Unknown     []Unknown                  `json:"unknown"`  // required fields that are not known, with the reason
}

// CandidateRecord is what was found of one candidate.
type CandidateRecord struct {
	Role      string                  `json:"role"`
	Pin       *PinDoc                 `json:"pin"`
	Hardware  *hardware.Doc           `json:"hardware,omitempty"` // which devices the last pin saw
	Start     *StartDoc               `json:"start,omitempty"`    // of a candidate that cupel starts
	Preflight *PreflightDoc           `json:"preflight"`
	Scores    map[string]ScoreSummary `json:"scores,omitempty"` // workload ->
	Load      map[string]LoadMetrics  `json:"load,omitempty"`   // workload ->
	Costs     map[string]metric.Cost  `json:"costs,omitempty"`  // quality workload ->
	Kept      map[string]KeptRows     `json:"kept,omitempty"`   // quality workload ->, of those with rows of an earlier set
	Stopped   string                  `json:"stopped,omitempty"`
}

// JudgeRecord is what was found of one judge.
type JudgeRecord struct {
	Pin         *PinDoc            `json:"pin"`
	Hardware    *hardware.Doc      `json:"hardware,omitempty"`
	Calibration *judge.Calibration `json:"calibration"` // nil = it has no labels, or was not calibrated
}

// EvidenceFile is one raw output by digest.
type EvidenceFile struct {
	Step   string      `json:"step"`
	Output string      `json:"output"`
	Digest step.Digest `json:"sha256"`
	// HeldOut marks answers to held-out items. They may quote what was asked, so
	// that they stay in the store.
	HeldOut bool `json:"held_out,omitempty"`
}

// Unknown is a field of the publication record that nobody measured.
type Unknown struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// Verdict of a guard or a campaign, from best to worst.
type Verdict string

// The verdicts; the overall one is the worst.
const (
	Pass         Verdict = "pass"
	Undetermined Verdict = "undetermined"
	Error        Verdict = "error"
	Fail         Verdict = "fail"
)

// Decision is what the guards say.
type Decision struct {
	Schema     string              `json:"schema"` // cupel/decision/v1
	Campaign   string              `json:"campaign"`
	SpecHash   step.Digest         `json:"spec_hash"`
	Evidence   step.Digest         `json:"evidence"`   // digest of record.json
	Verdict    Verdict             `json:"verdict"`    // worst over the candidates that could be promoted: see stages/decide
	Candidates []CandidateDecision `json:"candidates"` // by name
	Next       []string            `json:"next"`       // what to do, in sentences
}

// CandidateDecision is one candidate's outcome.
type CandidateDecision struct {
	Candidate string        `json:"candidate"`
	Verdict   Verdict       `json:"verdict"`
	Label     string        `json:"label"` // challenger | no-promotion | rejected
	Why       string        `json:"why"`
	Guards    []GuardResult `json:"guards"`
	Priors    []GuardResult `json:"priors,omitempty"` // guards that read a prior: warnings, in no verdict
	Worst     string        `json:"worst_stratum,omitempty"`
}

// GuardResult is one guard over one stratum or cell.
type GuardResult struct {
	Guard     string          `json:"guard"`
	On        string          `json:"on,omitempty"`
	Stratum   string          `json:"stratum,omitempty"` // "" = overall
	Cell      string          `json:"cell,omitempty"`    // "c=4"
	Rule      string          `json:"rule"`
	Verdict   Verdict         `json:"verdict"`
	Reason    string          `json:"reason"`               // one sentence
	Explain   string          `json:"explain"`              // the rule with the values put in
	Values    json.RawMessage `json:"values,omitempty"`     // sub-expression -> value
	Items     int             `json:"items,omitempty"`      // paired items there are
	NeedItems int             `json:"need_items,omitempty"` // items that would decide it, 0 = no number would or not applicable
	Warnings  []string        `json:"warnings,omitempty"`
}

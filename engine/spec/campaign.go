// Package spec turns a campaign file (YAML, JSON or CUE) into a typed Campaign
// with positions for every error and a digest that means "this decision".
//
// The types here mirror schemas/*.cue field by field; a test compares them in
// both directions. Everything in a Campaign can change a result, so everything
// is in the spec hash: where candidates run now is a Binding and is apart.
package spec

import "github.com/cupel-dev/cupel/engine/step"

// APIVersion is the only accepted value of the field apiVersion.
const APIVersion = "cupel/v1"

// Campaign is one decision: its candidates, workloads and guard rails.
type Campaign struct {
	APIVersion string               `json:"apiVersion"`
	Campaign   string               `json:"campaign"` // name, [a-z0-9-]{1,63}
	Decision   Decision             `json:"decision"`
	Owner      string               `json:"owner,omitempty"`
	Pins       string               `json:"pins,omitempty"` // "" or "strict": a pin that stays unknown stops its candidate
	Research   *Research            `json:"research,omitempty"`
	Candidates map[string]Candidate `json:"candidates"` // inheritance ("from") already resolved
	Judges     map[string]Judge     `json:"judges,omitempty"`
	Preflight  Preflight            `json:"preflight"`
	Measure    map[string]Workload  `json:"measure"`
	Decide     Decide               `json:"decide"`
	Publish    Publish              `json:"publish"`
}

// Decision says what is being decided.
type Decision struct {
	Question string `json:"question"`
	Reward   string `json:"reward,omitempty"`
	Kind     string `json:"kind"` // model-swap | quantisation | engine-upgrade | config | other
}

// Research lists what was read before measuring.
type Research struct {
	ObservedOn string   `json:"observedOn"` // YYYY-MM-DD
	Sources    []Source `json:"sources,omitempty"`
	Shortlist  []string `json:"shortlist,omitempty"`
}

// Source is one thing that was read.
type Source struct {
	ID             string         `json:"id"`
	Kind           string         `json:"kind"` // model-card | engine-cookbook | vendor-post | paper | community | advisory | import
	URL            string         `json:"url"`
	PublishedOn    string         `json:"publishedOn,omitempty"` // "" = the source does not say
	Publisher      string         `json:"publisher,omitempty"`
	OwnsFact       bool           `json:"ownsFact,omitempty"` // the publisher made or measured what it speaks of
	CorroboratedBy *Corroboration `json:"corroboratedBy,omitempty"`
	Snapshot       *File          `json:"snapshot,omitempty"`
	Claims         []Claim        `json:"claims,omitempty"`
}

// Corroboration names what states or measures the same as a source.
type Corroboration struct {
	Sources   []string `json:"sources,omitempty"`
	Workloads []string `json:"workloads,omitempty"`
	Tolerance float64  `json:"tolerance"` // share of the claimed value
}

// Claim is one value that a source states: a prior, never evidence.
type Claim struct {
	Candidate string  `json:"candidate"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit,omitempty"`
	Workload  string  `json:"workload,omitempty"` // "" = any
	Cell      string  `json:"cell,omitempty"`     // "" = any; only with a workload
}

// File is a file that the campaign names. In the spec a string; in the
// canonical form its content digest. Path is where it was found.
type File struct {
	Path   string      `json:"-"` // as resolved, for opening; never hashed
	Name   string      `json:"-"` // as written in the campaign, for messages; never hashed
	Digest step.Digest `json:"sha256"`
	Size   int64       `json:"-"`
	Lines  int         `json:"-"` // lines that hold something, of files whose lines are counted
}

// Candidate is one fully pinned serving configuration.
type Candidate struct {
	Role         string        `json:"role"` // baseline | candidate
	Model        Model         `json:"model"`
	Tokenizer    *Tokenizer    `json:"tokenizer,omitempty"`
	ChatTemplate *SHA256       `json:"chatTemplate,omitempty"`
	Engine       Engine        `json:"engine,omitzero"` // the zero value: not declared
	Quantization *Quantization `json:"quantization,omitempty"`
	Parallelism  *Parallelism  `json:"parallelism,omitempty"`
	Context      *Context      `json:"context,omitempty"`
	Speculative  *Speculative  `json:"speculative,omitempty"` // "none" decodes to Method none
	Cache        *Cache        `json:"cache,omitempty"`
	Admission    *Admission    `json:"admission,omitempty"`
	Sampling     Sampling      `json:"sampling"`
	Reasoning    *Reasoning    `json:"reasoning,omitempty"`
	Hardware     *Hardware     `json:"hardware,omitempty"`
	Serve        *Serve        `json:"serve,omitempty"`
	CoResident   bool          `json:"coResident,omitempty"`
	SystemPrompt string        `json:"systemPrompt,omitempty"`
	ServedName   string        `json:"servedName,omitempty"` // the name that requests use; default: the binding's, else what the endpoint lists alone
}

// Model names weights. Exactly one of Revision and SHA256 is enough to pin it.
type Model struct {
	Repo     string `json:"repo,omitempty"`
	Revision string `json:"revision,omitempty"` // 40 or 64 hex
	SHA256   string `json:"sha256,omitempty"`   // digest of the weights file or manifest, 64 hex
	License  string `json:"license,omitempty"`
}

// Revision is an immutable id.
type Revision struct {
	Repo     string `json:"repo,omitempty"`
	Revision string `json:"revision,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
}

// Tokenizer is pinned by its files, or by what it does.
type Tokenizer struct {
	Repo     string `json:"repo,omitempty"`
	Revision string `json:"revision,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Probe    int    `json:"probe,omitempty"` // tokens of a fixed text, as a pin counts them
}

// SHA256 is a pin by content.
type SHA256 struct {
	SHA256 string `json:"sha256"`
}

// Engine is the serving software.
type Engine struct {
	Name    string   `json:"name,omitempty"`
	Version string   `json:"version,omitempty"`
	Image   string   `json:"image,omitempty"` // repo@sha256:<64 hex>
	Flags   []string `json:"flags,omitempty"`
}

// Quantization of weights and KV cache, in the engine's own words.
type Quantization struct {
	Weights string `json:"weights,omitempty"`
	KV      string `json:"kv,omitempty"`
}

// Parallelism in GPUs per dimension.
type Parallelism struct {
	Tensor   int `json:"tensor"`
	Pipeline int `json:"pipeline"`
	Data     int `json:"data"`
}

// Context lengths in tokens.
type Context struct {
	Served     int `json:"served,omitempty"`
	Advertised int `json:"advertised,omitempty"`
}

// Speculative decoding.
type Speculative struct {
	Method string    `json:"method"` // none, or the engine's word
	Tokens int       `json:"tokens,omitempty"`
	Draft  *Revision `json:"draft,omitempty"`
}

// Cache policy.
type Cache struct {
	Prefix string `json:"prefix"` // on | off | unknown
}

// Admission limit.
type Admission struct {
	MaxSeqs int `json:"maxSeqs"`
}

// Sampling is sent explicitly with every request.
type Sampling struct {
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"topP"`
	Seed        int64    `json:"seed"`
	MaxTokens   int      `json:"maxTokens"`
	Stop        []string `json:"stop,omitempty"`
}

// Reasoning control.
type Reasoning struct {
	Control        string `json:"control"` // none | thinking-on | thinking-off | effort-…
	HeadroomTokens int    `json:"headroomTokens,omitempty"`
}

// Hardware is what a candidate runs on; a zero value is not declared.
type Hardware struct {
	GPU        string   `json:"gpu,omitempty"`
	Count      int      `json:"count,omitempty"`      // GPUs, or MIG instances
	Memory     string   `json:"memory,omitempty"`     // of each: 140GiB
	Driver     string   `json:"driver,omitempty"`     // a version or the beginning of one
	CUDA       string   `json:"cuda,omitempty"`       // likewise
	PowerLimit string   `json:"powerLimit,omitempty"` // of each: 700W
	MIG        string   `json:"mig,omitempty"`        // disabled | enabled | a profile
	CPU        string   `json:"cpu,omitempty"`        // model
	UUIDs      []string `json:"uuids,omitempty"`
}

// Serve holds the user's own commands around a candidate's steps.
type Serve struct {
	Start   []string `json:"start"`
	Ready   string   `json:"ready,omitempty"` // path below the root of the address
	Stop    []string `json:"stop,omitempty"`  // empty = the processes of Start are ended
	Timeout string   `json:"timeout"`         // Go duration, until it must be ready
}

// Preflight lists the checks that a candidate must pass before it is measured.
type Preflight struct {
	Checks    []string        `json:"checks"`
	Compat    string          `json:"compat,omitempty"` // "" or anvil
	Needle    *NeedleCheck    `json:"needle,omitempty"`
	Tools     *ToolsCheck     `json:"tools,omitempty"`
	LongTools *LongToolsCheck `json:"longTools,omitempty"`
	JSON      *JSONCheck      `json:"json,omitempty"`
	Prompt    *GenerateCheck  `json:"generate,omitempty"`
	Reasoning *ReasoningCheck `json:"reasoning,omitempty"`
	Seed      *SeedCheck      `json:"seed,omitempty"`
	Image     *PictureCheck   `json:"image,omitempty"`
	OCR       *PictureCheck   `json:"ocr,omitempty"`
	Video     *VideoCheck     `json:"video,omitempty"`
	Evidence  *EvidencePolicy `json:"evidence,omitempty"`
}

// NeedleCheck parametrises the needle check.
type NeedleCheck struct {
	PromptTokens int      `json:"promptTokens"`
	Position     *float64 `json:"position,omitempty"` // share of the text, 0 to 1; nil = 0.58
}

// ToolsCheck parametrises the tools check.
type ToolsCheck struct {
	Parallel int `json:"parallel"`
}

// LongToolsCheck parametrises the long-tools check, in tokens.
type LongToolsCheck struct {
	PromptTokens int `json:"promptTokens"`
	Min          int `json:"min"` // that the endpoint must have counted
}

// ReasoningCheck parametrises the reasoning check.
type ReasoningCheck struct {
	Require string `json:"require"` // verified | not-contradicted
	Prompt  string `json:"prompt,omitempty"`
}

// SeedCheck parametrises the seed check.
type SeedCheck struct {
	Requests    int     `json:"requests"` // under load
	Concurrency int     `json:"concurrency"`
	MinSame     float64 `json:"minSame"` // share, 0 to 1
	Temperature float64 `json:"temperature"`
	Prompt      string  `json:"prompt,omitempty"`
}

// PictureCheck replaces the pictures of the image or the ocr check.
type PictureCheck struct {
	File   *File    `json:"file,omitempty"`
	Prompt string   `json:"prompt,omitempty"`
	Expect []string `json:"expect,omitempty"`
}

// VideoCheck parametrises the video check.
type VideoCheck struct {
	File   File     `json:"file"`
	Prompt string   `json:"prompt,omitempty"`
	Expect []string `json:"expect"`
}

// EvidencePolicy holds the answers of all checks together.
type EvidencePolicy struct {
	FinishReasons []string `json:"finishReasons"`
	Reasoning     string   `json:"reasoning"` // any | required | forbidden
}

// JSONCheck replaces the prompt of the json check; the answer must be one JSON
// value equal to Expect when that is given.
type JSONCheck struct {
	Prompt string `json:"prompt,omitempty"`
	Expect any    `json:"expect,omitempty"`
}

// GenerateCheck replaces the prompt of the generate check; the answer must
// contain Expect when that is given, and be non-empty otherwise.
type GenerateCheck struct {
	Prompt string `json:"prompt,omitempty"`
	Expect string `json:"expect,omitempty"`
}

// Workload is a union told apart by Kind; exactly the field of that kind's
// name is set.
type Workload struct {
	Kind             string            `json:"kind"`
	Quality          *Quality          `json:"quality,omitempty"`
	NoiseFloor       *NoiseFloor       `json:"noise-floor,omitempty"`
	Capacity         *Capacity         `json:"capacity,omitempty"`
	OpenLoop         *OpenLoop         `json:"open-loop,omitempty"`
	Search           *Search           `json:"search,omitempty"`
	Decode           *Decode           `json:"decode,omitempty"`
	Ladder           *Ladder           `json:"ladder,omitempty"`
	EffectiveContext *EffectiveContext `json:"effective-context,omitempty"`
	PrefixBurst      *PrefixBurst      `json:"prefix-burst,omitempty"`
	Replicas         *Replicas         `json:"replicas,omitempty"`
	Bench            *Bench            `json:"bench,omitempty"`
	Energy           *Energy           `json:"energy,omitempty"`
	Imported         *Imported         `json:"imported,omitempty"`
}

// Suite is a frozen item set. In the spec a path to a folder that holds
// suite.json and its item file, or to one JSONL file.
type Suite struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Items   File     `json:"items"`             // JSONL, one item a line; with HeldOut that, encrypted
	Media   []File   `json:"-"`                 // what items show; their digests are in the items
	HeldOut *HeldOut `json:"heldOut,omitempty"` // set where a workload takes the held-out part
	Count   int      `json:"-"`                 // items in the file, for estimates; the digest stands for it
	Dir     string   `json:"-"`                 // the folder that it was found in, "" for one file; never hashed
}

// HeldOut is what suite.json says of the held-out part of a frozen suite.
type HeldOut struct {
	Suite   step.Digest `json:"suite"`   // of the content of the whole version
	Content step.Digest `json:"content"` // of the items as they are decrypted: it stays when they are encrypted again
	Index   File        `json:"index"`   // ids and labels, readable by everybody
	Scorers []string    `json:"-"`       // names that the items use
}

// The parts of a frozen suite.
const (
	SplitDevelopment = "development"
	SplitHeldOut     = "held-out"
)

// Quality runs a suite and scores it.
type Quality struct {
	Suite       Suite                     `json:"suite"`
	Split       string                    `json:"split,omitempty"` // "" (what everybody may read; "development" is turned into it) | held-out
	Where       map[string][]string       `json:"where,omitempty"` // label -> accepted values; items that match all are used
	Limit       int                       `json:"limit,omitempty"` // first n items (in file order) of each stratum, 0 = all
	Samples     int                       `json:"samples"`
	Repeats     int                       `json:"repeats"`
	Concurrency int                       `json:"concurrency"`
	Stratify    string                    `json:"stratify"`           // the label that makes the strata, default task
	Scorers     map[string]map[string]any `json:"scorers,omitempty"`  // scorer name -> parameters over the item's own
	Retries     int                       `json:"retries"`            // before the first byte only; recorded
	Failures    string                    `json:"failures,omitempty"` // "" or retry: not done; record: a failed answer, when others are answered
	Timeout     string                    `json:"timeout"`            // per request, Go duration
}

// NoiseFloor measures the candidate twice on a quality workload.
type NoiseFloor struct {
	Candidate string `json:"candidate"`
	Suite     string `json:"suite"` // name of the quality workload that is repeated
}

// Energy runs the requests of another workload beside a meter: performance and
// energy are of the same run.
type Energy struct {
	Of        string   `json:"of"`        // a capacity, open-loop, decode or bench workload
	Bases     []string `json:"bases"`     // the first is the one that asiai's names take
	Window    string   `json:"window"`    // Go duration that a cell lasts at least
	Settle    string   `json:"settle"`    // Go duration between the last request and the look at the idle machine
	Idle      string   `json:"idle"`      // Go duration of that look
	Coarsest  float64  `json:"coarsest"`  // percent of quantisation above which there is no value
	Processes int      `json:"processes"` // compute processes that a GPU may have
	// StartBand is by how many °C the GPUs of two arms may differ at the start, and
	// Cooling the Go duration that is waited for a steady temperature at most.
	StartBand   float64                  `json:"startBand"`
	Cooling     string                   `json:"cooling"`
	Traces      map[string][]EnergyTrace `json:"traces,omitempty"` // candidate -> recordings made elsewhere
	Calibration *EnergyCalibration       `json:"wallCalibration,omitempty"`
	Order       string                   `json:"order,omitempty"`
}

// EnergyTrace is a recording that was made on another machine.
type EnergyTrace struct {
	File *File `json:"file"`
	// Offset is that machine's wall clock minus this one's, as a Go duration, and
	// OffsetError how far off that may be; "" = as the two clocks say of themselves.
	Offset      string `json:"offset,omitempty"`
	OffsetError string `json:"offsetError,omitempty"`
}

// EnergyCalibration is what a wall meter reads when the base reads x: a + b*x, W.
type EnergyCalibration struct {
	Base  string  `json:"base"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	R2    float64 `json:"r2"`
	N     int     `json:"n"`
	Meter string  `json:"meter"`
	Data  *File   `json:"data,omitempty"` // the pairs that it was fitted to
}

// Decide holds the guard rails.
type Decide struct {
	Guards         map[string]Guard `json:"guards"`
	Statistics     Statistics       `json:"statistics"`
	Approvals      *Approvals       `json:"approvals,omitempty"`
	ReviewFailures int              `json:"reviewFailures,omitempty"`
}

// Guard is one rule that must hold.
type Guard struct {
	On          string   `json:"on,omitempty"`          // workload; "" for campaign-wide metrics
	Strata      string   `json:"strata,omitempty"`      // "" (overall only) | all (overall and every stratum) | each (every stratum) | one stratum's name
	Concurrency []int    `json:"concurrency,omitempty"` // cells of a closed-loop workload; empty = all
	Cells       []string `json:"cells,omitempty"`       // cells of a serving workload by name; empty = all
	Rule        string   `json:"rule"`                  // CEL
	Candidates  []string `json:"candidates,omitempty"`  // empty = every candidate but the baseline
}

// Statistics of the comparisons.
type Statistics struct {
	Confidence   float64   `json:"confidence"`
	Interval     string    `json:"interval"` // auto | bootstrap | tango | t | bca
	Bootstrap    Bootstrap `json:"bootstrap"`
	Multiplicity string    `json:"multiplicity"` // none | bonferroni
	Missing      string    `json:"missing"`      // undetermined | zero | bound
}

// Bootstrap parameters.
type Bootstrap struct {
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	Generator string `json:"generator"` // numpy | fast
}

// Approvals that a promotion needs.
type Approvals struct {
	Required int    `json:"required"`
	Signers  string `json:"signers,omitempty"` // path; not hashed content, who may sign is policy of the place
}

// Publish says where findings go and what things cost.
type Publish struct {
	To     string   `json:"to"`
	Cost   *Cost    `json:"cost,omitempty"`
	Redact []string `json:"redact,omitempty"` // patterns (RE2) of what must not be published
}

// Cost of a GPU hour.
type Cost struct {
	GPUHour  float64  `json:"gpuHour"`
	KWh      *float64 `json:"kWh,omitempty"` // price of a kilowatt-hour
	Currency string   `json:"currency"`
}

// Binding says where a candidate lives now. Never part of the spec hash.
type Binding struct {
	URL        string            `yaml:"url" json:"url"`
	API        string            `yaml:"api" json:"api,omitempty"` // openai | openai-completions | openai-responses | ollama | ollama-generate | "" = detect
	ServedName string            `yaml:"servedName" json:"servedName,omitempty"`
	APIKeyEnv  string            `yaml:"apiKeyEnv" json:"apiKeyEnv,omitempty"`
	GPUs       []string          `yaml:"gpus" json:"gpus,omitempty"`
	Headers    map[string]string `yaml:"headers" json:"headers,omitempty"`   // header -> environment variable name
	Hardware   string            `yaml:"hardware" json:"hardware,omitempty"` // file of a hardware report as it can be opened | none | "" = look, if the endpoint is local
	Replicas   []string          `yaml:"replicas" json:"replicas,omitempty"` // further addresses that serve the same
	// Meter is the address of a cupel-meter serve | none | "" = beside cupel, if the
	// endpoint is local; MeterTokenEnv names the variable that holds its token.
	Meter         string `yaml:"meter" json:"meter,omitempty"`
	MeterTokenEnv string `yaml:"meterTokenEnv" json:"meterTokenEnv,omitempty"`
}

// Baseline returns the name of the one candidate whose role is baseline.
func (c *Campaign) Baseline() string {
	for name, cand := range c.Candidates {
		if cand.Role == "baseline" {
			return name
		}
	}
	return ""
}

// Confidence is the level of the intervals that the guards read: the declared
// one, or under bonferroni the one at which all candidates together are as
// unlikely to pass wrongly as one would be.
func (c *Campaign) Confidence() float64 {
	s, k := c.Decide.Statistics, len(c.Candidates)-1
	if s.Multiplicity != "bonferroni" || k < 2 {
		return s.Confidence
	}
	return 1 - (1-s.Confidence)/float64(k)
}

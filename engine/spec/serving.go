package spec

// Capacity is closed-loop load at fixed concurrencies.
type Capacity struct {
	Protocol    string         `json:"protocol"` // capacity-v3 | capacity-v4-reasoning
	Concurrency []int          `json:"concurrency"`
	Requests    int            `json:"requests"` // per cell
	Warmup      int            `json:"warmup"`   // untimed requests before each cell
	Prompt      CapacityPrompt `json:"prompt"`
	Output      CapacityOutput `json:"output"`
	Trials      int            `json:"trials"`
	Timeout     string         `json:"timeout"`
	SLO         *SLO           `json:"slo,omitempty"`
	Seed        int64          `json:"seed,omitempty"`     // of the candidates' order
	CoolDown    string         `json:"coolDown,omitempty"` // pause before each cell
	Order       string         `json:"order,omitempty"`    // "" = interleaved | sequential
}

// CapacityPrompt says how prompts are built.
type CapacityPrompt struct {
	Tokens       int      `json:"tokens,omitempty"`
	Cache        string   `json:"cache"` // unique | shared
	Canary       bool     `json:"canary,omitempty"`
	Template     string   `json:"template,omitempty"`     // {canary} {index} {words} {word-list} {filler} are replaced; "" = the default
	Builder      string   `json:"builder,omitempty"`      // "" = cupel/words-v1 | anvil/s | anvil/n
	SharedTokens int      `json:"sharedTokens,omitempty"` // of a prefix that every prompt begins with
	Lengths      *Lengths `json:"lengths,omitempty"`      // drawn lengths, in place of Tokens
	Calibrate    string   `json:"calibrate,omitempty"`    // "" = endpoint when Tokens are given | endpoint | nominal
}

// Lengths draws prompt lengths by seed.
type Lengths struct {
	Seed         int64  `json:"seed"`
	Distribution string `json:"distribution"` // anvil/agentic
	Max          int    `json:"max,omitempty"`
}

// CapacityOutput says what output is asked for.
type CapacityOutput struct {
	Words  int    `json:"words,omitempty"`
	Policy string `json:"policy"` // observe | strict
}

// SLO is what a request must meet, in milliseconds; 0 = not stated.
type SLO struct {
	TTFT float64 `json:"ttft_ms,omitempty"`
	TTFO float64 `json:"ttfo_ms,omitempty"`
	TPOT float64 `json:"tpot_ms,omitempty"`
	E2E  float64 `json:"e2e_ms,omitempty"`
}

// OpenLoop sends on a schedule that does not wait for answers.
type OpenLoop struct {
	Protocol string         `json:"protocol"`
	Arrivals Arrivals       `json:"arrivals"`
	Warmup   int            `json:"warmup"`
	Prompt   CapacityPrompt `json:"prompt"`
	Output   CapacityOutput `json:"output"`
	Trials   int            `json:"trials"`
	Timeout  string         `json:"timeout"`
	SLO      *SLO           `json:"slo,omitempty"`
	Seed     int64          `json:"seed,omitempty"` // of the arrivals and the candidates' order
	CoolDown string         `json:"coolDown,omitempty"`
	Order    string         `json:"order,omitempty"`
}

// Arrivals say when requests are sent.
type Arrivals struct {
	Process    string    `json:"process"`              // constant | poisson | gamma | ramp | trace
	Rates      []float64 `json:"rates,omitempty"`      // req/s, one cell each; where a ramp begins
	To         float64   `json:"to,omitempty"`         // req/s, where a ramp ends
	Burstiness float64   `json:"burstiness,omitempty"` // gamma shape, 0 = 1
	Duration   string    `json:"duration,omitempty"`   // the sending window
	Trace      *File     `json:"trace,omitempty"`
	Speed      float64   `json:"speed,omitempty"` // of the trace, 0 = 1
	Drain      string    `json:"drain,omitempty"` // "" = wait | cancel
}

// Search finds the largest rate or concurrency that holds the SLO.
type Search struct {
	Protocol  string         `json:"protocol"`
	Over      string         `json:"over"` // rate | concurrency
	Low       float64        `json:"low"`
	High      float64        `json:"high"`
	SLO       SLO            `json:"slo"`
	Attain    float64        `json:"attain"`
	Tolerance float64        `json:"tolerance"`
	Confirm   int            `json:"confirm"`
	Requests  int            `json:"requests,omitempty"` // per probe, over concurrency
	Duration  string         `json:"duration,omitempty"` // per probe, over rate
	Process   string         `json:"process,omitempty"`  // "" = poisson | constant
	Warmup    int            `json:"warmup"`
	Prompt    CapacityPrompt `json:"prompt"`
	Output    CapacityOutput `json:"output"`
	Timeout   string         `json:"timeout"`
	Seed      int64          `json:"seed,omitempty"`
	CoolDown  string         `json:"coolDown,omitempty"`
	Order     string         `json:"order,omitempty"`
}

// Decode is controlled decode: a fixed number of output tokens.
type Decode struct {
	OutputTokens int    `json:"outputTokens"`
	Requests     int    `json:"requests"`         // per cell
	Prompt       string `json:"prompt,omitempty"` // {index} is replaced; "" = a request to count without end
	Concurrency  []int  `json:"concurrency"`
	Warmup       int    `json:"warmup"`
	Trials       int    `json:"trials"`
	Timeout      string `json:"timeout"`
	IgnoreEOS    bool   `json:"ignoreEOS,omitempty"`
	Seed         int64  `json:"seed,omitempty"`
	CoolDown     string `json:"coolDown,omitempty"`
	Order        string `json:"order,omitempty"`
}

// Ladder is a context ladder.
type Ladder struct {
	Tokens   []int  `json:"tokens"`
	State    string `json:"state"`    // cold | warm | prefix-cached
	Requests int    `json:"requests"` // per rung
	Trials   int    `json:"trials"`
	Timeout  string `json:"timeout"`
	Protocol string `json:"protocol"`
	Seed     int64  `json:"seed,omitempty"`
	CoolDown string `json:"coolDown,omitempty"`
	Order    string `json:"order,omitempty"`
}

// EffectiveContext asks for facts in contexts of growing length. What is left
// out comes from the profile: see stages/measure/prompts.
type EffectiveContext struct {
	Profile     string    `json:"profile"` // smoke | scout | deep
	Cases       []string  `json:"cases,omitempty"`
	Buckets     []int     `json:"buckets,omitempty"` // tokens
	Positions   []float64 `json:"positions,omitempty"`
	Repetitions int       `json:"repetitions,omitempty"`
	Floor       *float64  `json:"floor,omitempty"`   // pass rate
	MaxDrop     *float64  `json:"maxDrop,omitempty"` // relative to the first bucket
	Concurrency int       `json:"concurrency"`
	Timeout     string    `json:"timeout"`
	Seed        int64     `json:"seed,omitempty"` // 0 = 17
	Order       string    `json:"order,omitempty"`
}

// PrefixBurst sends many requests at once that begin with the same bytes.
type PrefixBurst struct {
	Protocol     string         `json:"protocol"`
	Clients      []int          `json:"clients"`
	SharedTokens int            `json:"sharedTokens"`
	Tokens       int            `json:"tokens"`
	Output       CapacityOutput `json:"output"`
	Trials       int            `json:"trials"`
	Timeout      string         `json:"timeout"`
	Seed         int64          `json:"seed,omitempty"`
	CoolDown     string         `json:"coolDown,omitempty"`
	Order        string         `json:"order,omitempty"`
}

// Replicas runs a capacity workload on several endpoints at the same time.
type Replicas struct {
	Of    string `json:"of"`
	Count int    `json:"count"`
	Order string `json:"order,omitempty"`
}

// Bench has the prompts, runs and statistics of asiai's bench.
type Bench struct {
	Runs    int      `json:"runs"`
	Prompts []string `json:"prompts,omitempty"` // empty = all four
	Timeout string   `json:"timeout"`
	Order   string   `json:"order,omitempty"`
}

package evidence

import "github.com/cupel-dev/cupel/engine/step"

// OutResearch is the output of [ResearchStep]: Research.
const OutResearch = "research.json"

// ResearchStep names the step that classifies what was read.
const ResearchStep = "research/sources"

// ExternalPrior is the evidence label of what somebody else states.
const ExternalPrior = "external-prior"

// Ages of a source on the day it was looked at.
const (
	Current    = "current" // published 0 to 60 days before
	Aging      = "aging"   // 61 to 120 days
	Stale      = "stale"   // more than 120 days
	AgeUnknown = "unknown" // the source does not say when it was published
)

// Roles of a source and of a claim, from best to worst.
const (
	Primary        = "primary"         // the publisher is the authority for it
	Lead           = "lead"            // says where to look
	HistoricalLead = "historical-lead" // said where to look once
)

// Research is what was read before measuring, classified. It selects candidates
// and never supplies a pass.
type Research struct {
	Schema     string           `json:"schema"` // cupel/research/v1
	ObservedOn string           `json:"observed_on"`
	Shortlist  []string         `json:"shortlist,omitempty"`
	Sources    []ResearchSource `json:"sources"` // in the order of the campaign
}

// ResearchSource is one source: first what the campaign says of it, then what
// follows.
type ResearchSource struct {
	ID             string         `json:"id"`
	Kind           string         `json:"kind"`
	URL            string         `json:"url"`
	Publisher      string         `json:"publisher,omitempty"`
	OwnsFact       bool           `json:"owns_fact,omitempty"`
	PublishedOn    string         `json:"published_on,omitempty"`
	Snapshot       *step.Digest   `json:"snapshot"` // nil = none was kept
	CorroboratedBy *Corroboration `json:"corroborated_by,omitempty"`

	AgeDays *int    `json:"age_days"` // nil = not known
	Age     string  `json:"age"`      // current | aging | stale | unknown
	Role    string  `json:"role"`     // primary | lead | historical-lead
	Reason  string  `json:"reason"`   // why it has this role
	Claims  []Prior `json:"claims"`
}

// Corroboration names what is to bear a source out.
type Corroboration struct {
	Sources   []string `json:"sources,omitempty"`
	Workloads []string `json:"workloads,omitempty"`
	Tolerance float64  `json:"tolerance"` // share of the claimed value
}

// Prior is one claimed value. It can warn and never decide.
type Prior struct {
	Label     string  `json:"label"` // external-prior
	Candidate string  `json:"candidate"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit,omitempty"`
	Workload  string  `json:"workload,omitempty"`
	Cell      string  `json:"cell,omitempty"`

	Role         string   `json:"role"`
	Reason       string   `json:"reason"`                  // why it has this role
	Unusable     string   `json:"unusable,omitempty"`      // reason code for which no guard reads it
	Corroborated []string `json:"corroborated,omitempty"`  // what bears it out
	Uncertain    []string `json:"not_borne_out,omitempty"` // what was to bear it out and does not, with the reason

	Measured   []ClaimMeasured `json:"measured,omitempty"`   // in the record
	Unmeasured string          `json:"unmeasured,omitempty"` // reason code, when nothing here measures it
}

// ClaimMeasured is a value of this campaign beside a claimed one.
type ClaimMeasured struct {
	Workload string   `json:"workload,omitempty"` // "" = a pin
	Cell     string   `json:"cell,omitempty"`
	Metric   string   `json:"metric"` // that was held against it: p50 where a claim names a whole distribution
	Value    *float64 `json:"value"`  // nil with a reason
	Unit     string   `json:"unit,omitempty"`
	DeltaPct *float64 `json:"delta_pct"`          // (measured - claimed) / claimed * 100
	Declared bool     `json:"declared,omitempty"` // a pin that nobody observed: it bears nothing out
	Doubt    string   `json:"doubt,omitempty"`    // what keeps the number from deciding anything: it bears nothing out
	Reason   string   `json:"reason,omitempty"`   // why Value or DeltaPct is nil
}

package build

import "time"

// Bounds of what a report lists; counts go on.
const (
	maxSkips    = 20
	maxClusters = 1000
	maxMembers  = 100 // ids of one cluster
	maxWindows  = 100_000
	maxStrata   = 10_000
)

// Report counts what became of every line. It holds ids and numbers, no texts.
type Report struct {
	Lines       int            `json:"lines"`       // of the logs, without blank ones
	Blank       int            `json:"blank"`       //
	Read        int            `json:"read"`        // requests: Lines - Skipped
	Skipped     int            `json:"skipped"`     // Broken + Unsupported
	Broken      int            `json:"broken"`      // not what the map says a line is
	Unsupported int            `json:"unsupported"` // in order, but no text item: images, audio, nothing asked
	Reasons     map[string]int `json:"reasons"`     // of Skipped
	Skips       []Skip         `json:"skips"`       // the first 20
	AnswersCut  int            `json:"answers_cut"` // conversations that ended with an assistant's turn, now without it

	// Lines with a field answer that the map does not name. It may be what a model
	// said, so it is no reference unless somebody says so.
	UnmappedAnswers int `json:"unmapped_answers,omitempty"`

	Sampled int      `json:"sampled"`
	Windows []Window `json:"windows"` // in order of time

	Unclean       int            `json:"unclean"`        // drawn and dropped: scrubbing would give two names of a JSON object one spelling
	Scrubbed      map[string]int `json:"scrubbed"`       // rule -> values replaced
	ScrubbedItems int            `json:"scrubbed_items"` // lines with at least one
	ExpertMatches map[string]int `json:"expert_matches"` // rule -> values in expert items, left as written

	ExactDuplicates int        `json:"exact_duplicates"` // dropped
	NearDuplicates  int        `json:"near_duplicates"`  // dropped
	ExpertAlike     int        `json:"expert_alike"`     // expert items that are like an earlier one, kept
	NearUnchecked   int        `json:"near_unchecked"`   // items with more candidates than were confirmed
	ClusterCount    int        `json:"cluster_count"`
	Clusters        [][]string `json:"clusters"` // ids, the kept one first; the first 1,000 clusters, 100 ids each

	Renamed          int            `json:"renamed"`           // ids that stood on an earlier item, now with a suffix
	Expert           int            `json:"expert"`            // items of the hand-written slice
	Items            int            `json:"items"`             // emitted
	WithoutReference int            `json:"without_reference"` // of these: with no scorer yet
	ByStratum        map[string]int `json:"by_stratum"`        // "label=value" -> items
}

// Skip is a log line that did not become an item. Reason is one of a fixed list
// of sentences and quotes nothing of the line.
type Skip struct {
	Source string `json:"source"`
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

// Window is a stratum of time.
type Window struct {
	Start   *time.Time `json:"start"` // null: lines without a time
	Lines   int        `json:"lines"`
	Sampled int        `json:"sampled"`
}

// Package suites holds the item sets that ship inside the program, so that the
// demonstration needs nothing else.
package suites

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
)

// FS holds one folder per suite: suite.json, its item file and a README.
//
//go:embed functional-gate long-tools multimodal-smoke needle planning tiny tool-use
var FS embed.FS

// Suite is what suite.json says of an item set.
type Suite struct {
	Name    string                    `json:"name"`
	Version string                    `json:"version"`
	Digest  string                    `json:"digest,omitempty"` // of the whole version; "" where only the items have one
	Items   string                    `json:"items"`            // file beside suite.json
	SHA256  string                    `json:"sha256"`           // of that file
	Count   int                       `json:"count"`
	Strata  map[string]int            `json:"strata"`           // items by task
	Labels  map[string]map[string]int `json:"labels,omitempty"` // label -> value -> items
	Scorers []string                  `json:"scorers"`
}

// List returns the shipped suites in the order of their names.
func List() ([]Suite, error) {
	var out []Suite
	for _, name := range Names() {
		b, err := FS.ReadFile(path.Join(name, "suite.json"))
		if err != nil {
			return nil, err
		}
		var s Suite
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("suite %s: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

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
//go:embed tiny
var FS embed.FS

// Suite is what suite.json says of an item set.
type Suite struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Items   string         `json:"items"`  // file beside suite.json
	SHA256  string         `json:"sha256"` // of that file
	Count   int            `json:"count"`
	Strata  map[string]int `json:"strata"` // items by task
	Scorers []string       `json:"scorers"`
}

// List returns the embedded suites in the order of their names.
func List() ([]Suite, error) {
	entries, err := FS.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out []Suite
	for _, e := range entries {
		b, err := FS.ReadFile(path.Join(e.Name(), "suite.json"))
		if err != nil {
			return nil, err
		}
		var s Suite
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("suite %s: %w", e.Name(), err)
		}
		out = append(out, s)
	}
	return out, nil
}

package artifact

import (
	"bytes"
	"encoding/json"
)

// upgraded is the file with its records of the earlier schema in the form of this
// one: their energy was of an engine's whole run, and of rails that it did not name.
func (f *file) upgraded() ([]byte, error) {
	if !bytes.Contains(f.content, []byte(earlierSchema)) {
		return f.content, nil
	}
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(f.content))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if list, ok := doc["records"].([]any); ok {
		for _, r := range list {
			if record, ok := r.(map[string]any); ok {
				upgrade(record)
			}
		}
	} else {
		upgrade(doc)
	}
	return json.Marshal(doc)
}

func upgrade(r map[string]any) {
	if r["schema"] != earlierSchema {
		return
	}
	r["schema"] = Schema
	results, _ := r["results"].(map[string]any)
	was, there := results["energy_per_token_j"]
	if !there {
		return
	}
	delete(results, "energy_per_token_j")
	known, _ := was.(map[string]any)
	if _, has := known["value"]; !has {
		return
	}
	const why = "cupel/evidence/v1 does not tell it"
	unknown := map[string]any{"unknown": why}
	r["energy"] = map[string]any{"energy_per_token_j": was, "base": unknown, "rails": unknown, "window": map[string]any{"value": wholeRun}}
}

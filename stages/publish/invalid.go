package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// fileInvalid stands beside the findings, since a finding is never edited.
const fileInvalid = "invalid.json"

// InvalidSchema names the format of invalid.json.
const InvalidSchema = "cupel/invalid/v1"

// HistoricalInvalid is the label of a finding that is known to be wrong. It
// stays, and counts for nothing.
const HistoricalInvalid = "historical-invalid"

// Invalid is a finding that is known to be wrong.
type Invalid struct {
	Dir      string      `json:"dir"`
	Evidence step.Digest `json:"evidence"` // of its record.json
	Reason   string      `json:"reason"`
	On       string      `json:"on"` // the day it was found out, YYYY-MM-DD
}

type invalidList struct {
	Schema   string    `json:"schema"`
	Findings []Invalid `json:"findings"`
}

// ReadInvalid lists the findings of a folder that are known to be wrong, by the
// digest of their record: a folder may be renamed. No list is an empty one.
func ReadInvalid(root string) (map[step.Digest]Invalid, error) {
	b, err := os.ReadFile(filepath.Join(root, fileInvalid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list invalidList
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err == nil && list.Schema != InvalidSchema {
		err = fmt.Errorf("schema %q, want %s", list.Schema, InvalidSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("findings folder %s: %s: %w", root, fileInvalid, diskfile.Cause(err))
	}
	out := map[step.Digest]Invalid{}
	for _, i := range list.Findings {
		out[i.Evidence] = i
	}
	return out, nil
}

// Mark writes down that the finding in dir, a folder of root, is known to be
// wrong, or with an empty reason that it is not, and makes the index anew. It
// returns the digest of the finding's record.
func Mark(root, dir, reason, on string) (step.Digest, error) {
	record, err := os.ReadFile(filepath.Join(root, dir, fileRecord))
	if err != nil {
		return step.Digest{}, step.WithHint(fmt.Errorf("%s is no finding: %w", filepath.Join(root, dir), diskfile.Cause(err)), "name the folder of a finding")
	}
	digest := step.Sum(record)
	unlock, err := lock(root)
	if err != nil {
		return digest, err
	}
	defer unlock()
	known, err := ReadInvalid(root)
	if err != nil {
		return digest, err
	}
	list := invalidList{Schema: InvalidSchema, Findings: []Invalid{}}
	for _, i := range known {
		if i.Evidence != digest {
			list.Findings = append(list.Findings, i)
		}
	}
	if reason != "" {
		list.Findings = append(list.Findings, Invalid{Dir: dir, Evidence: digest, Reason: reason, On: on})
	}
	slices.SortFunc(list.Findings, func(a, b Invalid) int { return strings.Compare(a.Dir, b.Dir) })
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return digest, err
	}
	w := writer{root: root, create: createFile, at: func(string) {}}
	if err := w.replace(fileInvalid, append(b, '\n')); err != nil {
		return digest, err
	}
	return digest, w.index()
}

package publish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// FindingsSchema names the format of index.json.
const FindingsSchema = "cupel/findings/v1"

// findingsIndex is index.json.
type findingsIndex struct {
	Schema   string       `json:"schema"`
	Findings []indexEntry `json:"findings"` // newest first, those without a date last
}

// indexEntry is one finding folder.
type indexEntry struct {
	Dir        string            `json:"dir"`
	Date       string            `json:"date"` // "" when nothing was measured
	Campaign   string            `json:"campaign"`
	SpecHash   step.Digest       `json:"spec_hash"`
	Evidence   step.Digest       `json:"evidence"`
	Verdict    evidence.Verdict  `json:"verdict"`
	Candidates map[string]string `json:"candidates"`                   // name -> label
	Invalid    string            `json:"historical_invalid,omitempty"` // why it is known to be wrong
	question   string
	suffix     int
}

// index makes index.json and README.md of root from the folders that are
// there. A folder without a readable record and decision is no finding.
func (w *writer) index() error {
	entries, err := os.ReadDir(w.root)
	if err != nil {
		return fmt.Errorf("findings folder %s: %w", w.root, diskfile.Cause(err))
	}
	invalid, err := ReadInvalid(w.root)
	if err != nil {
		return err
	}
	idx := findingsIndex{Schema: FindingsSchema, Findings: []indexEntry{}}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if entry, ok := readEntry(w.root, e.Name()); ok {
			entry.Invalid = invalid[entry.Evidence].Reason
			idx.Findings = append(idx.Findings, entry)
		}
	}
	slices.SortFunc(idx.Findings, newestFirst)
	b, err := json.MarshalIndent(idx, "", "  ")
	if err != nil {
		return err
	}
	if err := w.replace("index.json", append(b, '\n')); err != nil {
		return err
	}
	old, err := os.ReadFile(filepath.Join(w.root, fileReadme))
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("findings folder %s: %s: %w", w.root, fileReadme, diskfile.Cause(err))
	}
	return w.replace(fileReadme, indexPage(old, idx.Findings))
}

func readEntry(root, dir string) (indexEntry, bool) {
	var rec evidence.Record
	var dec evidence.Decision
	if !readDocument(filepath.Join(root, dir, fileRecord), &rec) || !readDocument(filepath.Join(root, dir, fileDecision), &dec) || rec.Schema != RecordSchema {
		return indexEntry{}, false
	}
	e := indexEntry{
		Dir: dir, Date: rec.Date, Campaign: rec.Campaign, SpecHash: rec.SpecHash, Evidence: dec.Evidence,
		Verdict: dec.Verdict, Candidates: map[string]string{}, question: rec.Question,
	}
	for _, c := range dec.Candidates {
		e.Candidates[c.Candidate] = c.Label
	}
	e.suffix, _ = suffixOf(dir, folder(&rec))
	return e, true
}

func readDocument(path string, v any) bool {
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, v) == nil
}

// suffixOf returns the number at the end of a folder's name, 1 for none; false
// when the folder is not of that base.
func suffixOf(name, base string) (int, bool) {
	if name == base {
		return 1, true
	}
	digits, ok := strings.CutPrefix(name, base+"-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 2 || digits != strconv.Itoa(n) {
		return 0, false
	}
	return n, true
}

func newestFirst(a, b indexEntry) int {
	return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(b.suffix, a.suffix), cmp.Compare(a.Dir, b.Dir))
}

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
)

// Names of the files of a folder.
const (
	ManifestFile = "suite.json"
	SplitFile    = "split.json"
	ItemsFile    = "items.jsonl"
	SealedFile   = "heldout.age"
	IndexFile    = "heldout.index.jsonl"
	AccessFile   = "access.jsonl"
	ReportFile   = "build-report.json"
	ReadmeFile   = "README.md"
)

// PrimaryLabel is the label whose counts suite.json gives as "strata".
const PrimaryLabel = "task"

// Manifest is suite.json: one published version, which never changes.
type Manifest struct {
	Name         string                    `json:"name"`
	Version      string                    `json:"version"`
	Parent       string                    `json:"parent,omitempty"` // version that this one refreshes
	ParentDigest *step.Digest              `json:"parent_digest,omitempty"`
	Digest       step.Digest               `json:"digest"` // of the content of the whole version: see contentDigest
	Items        string                    `json:"items"`  // file beside this one
	SHA256       step.Digest               `json:"sha256"` // of that file
	Count        int                       `json:"count"`  // items in that file
	Strata       map[string]int            `json:"strata"` // items in that file by task
	Labels       map[string]map[string]int `json:"labels"` // label -> value -> items, held-out ones included
	Scorers      []string                  `json:"scorers"`
	Sources      map[string]int            `json:"sources"` // log, expert, public, unknown -> items, held-out ones included
	Split        *Split                    `json:"split,omitempty"`
	Media        []MediaFile               `json:"media,omitempty"`        // everything that items show, by file
	BuildReport  *step.Digest              `json:"build_report,omitempty"` // of build-report.json: scrubbing, sampling, duplicates
}

// Split says how items were divided.
type Split struct {
	Salt        string   `json:"salt"`
	Share       float64  `json:"held_out_share"`
	Near        float64  `json:"near"`       // Jaccard similarity from which two items stay on one side
	Recipients  []string `json:"recipients"` // age public keys that can open the held-out part
	Development Part     `json:"development"`
	HeldOut     Sealed   `json:"held_out"`
}

// Part is one file of items.
type Part struct {
	File   string      `json:"file"`
	Count  int         `json:"count"`
	SHA256 step.Digest `json:"sha256"`
}

// Sealed is the held-out part. SHA256 is the digest of its plain text, which
// stays the same when it is encrypted again; only whoever opens it can compare.
type Sealed struct {
	Part
	Encrypted step.Digest `json:"encrypted_sha256"`
	Index     string      `json:"index"`
	IndexSum  step.Digest `json:"index_sha256"`
	Scorers   []string    `json:"scorers"` // names that its items use
}

// Total is the number of items of the version, held-out ones included.
func (m *Manifest) Total() int {
	if m.Split == nil {
		return m.Count
	}
	return m.Count + m.Split.HeldOut.Count
}

// contentDigest is the SHA-256 of the manifest without what may differ between
// two freezes of the same content: the digest itself, the cipher text (which is
// random) and its recipients.
func (m Manifest) contentDigest() (step.Digest, error) {
	m.Digest = step.Digest{}
	if m.Split != nil {
		s := *m.Split
		s.Recipients, s.HeldOut.Encrypted = nil, step.Digest{}
		m.Split = &s
	}
	b, err := encodeLine(m)
	if err != nil {
		return step.Digest{}, err
	}
	return step.Sum(b), nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName refuses names and versions that cannot be part of a folder name.
func CheckName(what, s string) error {
	if nameForm.MatchString(s) {
		return nil
	}
	return step.WithHint(fmt.Errorf("%s %q is not allowed", what, s), "use letters, digits, dot, dash and underscore, at most 64")
}

// maxManifest bounds suite.json and split.json in bytes.
const maxManifest = 4 << 20

func readJSON(name string, v any, strict bool) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxManifest {
		return fmt.Errorf("%s is not a regular file of at most %d bytes", filepath.Base(name), maxManifest)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := jsonv2.Unmarshal(b, v, jsonv2.RejectUnknownMembers(strict)); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

// WriteJSON writes a new file with an indented document, durably.
func WriteJSON(name string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeFile(name, b.Bytes())
}

package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gofrs/flock"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Finding is what a finding folder is made of.
type Finding struct {
	Record   []byte // record.json
	Decision []byte // decision.json, bound to the digest of Record
	Readme   []byte
	Report   []byte
	Spec     []byte // the canonical campaign
	// Open opens a raw output by its digest; the caller of Open closes it.
	Open func(step.Digest) (io.ReadCloser, error)
}

// Write publishes f as a folder of root, YYYY-MM-DD-<campaign>, brings root's
// index up to date and returns the folder's path.
//
// A finding is never edited. A folder that already holds the same record and
// decision is left as it is and returned; one with other content makes this
// finding's name end in -2, -3 and so on. The folder becomes visible complete
// or not at all, and nothing stays behind when that fails. Processes that write
// to the same root wait for one another. The index is made from the folders
// that are there, so that the next Write mends one that a crash left behind. An
// error of the index alone comes with the path of the folder, which is there.
func Write(root string, f Finding) (string, error) {
	w := writer{root: root, create: createFile, at: func(string) {}}
	return w.write(f)
}

// writer holds what tests replace.
type writer struct {
	root   string
	create func(path string) (file, error)
	at     func(point string) // called between two steps that a crash may part
}

// names of files in a finding.
const (
	fileRecord   = evidence.OutRecord
	fileDecision = evidence.OutDecision
	fileReadme   = evidence.OutReadme
	fileReport   = evidence.OutReport
	fileSpec     = "spec.json"
	fileSums     = "SHA256SUMS"
	dirEvidence  = "evidence"
)

func (w *writer) write(f Finding) (string, error) {
	rec, err := f.check()
	if err != nil {
		return "", fmt.Errorf("finding: %w", err)
	}
	if err := os.MkdirAll(w.root, 0o777); err != nil {
		return "", step.WithHint(fmt.Errorf("findings folder %s cannot be created: %w", w.root, diskfile.Cause(err)), "correct publish.to in the campaign")
	}
	unlock, err := lock(w.root)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := w.sweep(); err != nil {
		return "", err
	}
	name, err := w.place(f, rec)
	if err != nil {
		return "", err
	}
	w.at("placed")
	return filepath.Join(w.root, name), w.index()
}

// check reads the documents and refuses what does not belong together or must
// not be published.
func (f Finding) check() (*evidence.Record, error) {
	var rec evidence.Record
	if err := json.Unmarshal(f.Record, &rec); err != nil {
		return nil, fmt.Errorf("%s: %w", fileRecord, err)
	}
	var dec evidence.Decision
	if err := json.Unmarshal(f.Decision, &dec); err != nil {
		return nil, fmt.Errorf("%s: %w", fileDecision, err)
	}
	switch {
	case rec.Schema != RecordSchema:
		return nil, fmt.Errorf("%s: schema %q, want %s", fileRecord, rec.Schema, RecordSchema)
	case dec.Evidence != step.Sum(f.Record):
		return nil, fmt.Errorf("%s rests on evidence %s, and %s has the digest %s", fileDecision, dec.Evidence.Short(), fileRecord, step.Sum(f.Record).Short())
	case step.SpecDigest(f.Spec) != rec.SpecHash || dec.SpecHash != rec.SpecHash:
		return nil, fmt.Errorf("%s, %s and %s are not of one campaign", fileRecord, fileDecision, fileSpec)
	case !campaignName.MatchString(rec.Campaign):
		return nil, fmt.Errorf("campaign %q cannot be part of a folder's name", rec.Campaign)
	}
	if _, err := time.Parse(time.DateOnly, rec.Date); err != nil && rec.Date != "" {
		return nil, fmt.Errorf("%s: date %q, want YYYY-MM-DD", fileRecord, rec.Date)
	}
	own, err := rulesOf(f.Spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fileSpec, err)
	}
	for _, d := range f.documents() {
		if what := credentialIn(d.content); what != "" {
			return nil, step.WithHint(fmt.Errorf("%s holds %s", d.name, what), "take it out of the campaign and revoke it; nothing was published")
		}
		if d.name == fileSpec && len(own) > 0 {
			continue // its own rules stand in it
		}
		if what := privateIn(d.content, own); what != "" {
			return nil, step.WithHint(fmt.Errorf("%s holds %s", d.name, what), "take it out of the campaign, for example out of engine.flags or a note; nothing was published")
		}
	}
	return &rec, nil
}

var campaignName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

type document struct {
	name    string
	content []byte
}

func (f Finding) documents() []document {
	return []document{{fileSpec, f.Spec}, {fileRecord, f.Record}, {fileDecision, f.Decision}, {fileReadme, f.Readme}, {fileReport, f.Report}}
}

// folder is the name of a record's folder, without a suffix.
func folder(rec *evidence.Record) string {
	if rec.Date == "" {
		return "undated-" + rec.Campaign
	}
	return rec.Date + "-" + rec.Campaign
}

// place makes the folder unless it is there, and returns its name.
func (w *writer) place(f Finding, rec *evidence.Record) (name string, err error) {
	base := folder(rec)
	if name, err := w.same(base, f); name != "" || err != nil {
		return name, err
	}
	tmp, err := os.MkdirTemp(w.root, tempPrefix+"*")
	if err != nil {
		return "", fmt.Errorf("findings folder %s cannot be written: %w", w.root, diskfile.Cause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if err := w.fill(tmp, f, rec); err != nil {
		return "", fmt.Errorf("finding %s: %w", base, err)
	}
	w.at("filled")
	return w.reveal(tmp, base)
}

// same finds a folder of that name, with or without a suffix, that holds the
// same record and decision.
func (w *writer) same(base string, f Finding) (string, error) {
	entries, err := os.ReadDir(w.root)
	if err != nil {
		return "", fmt.Errorf("findings folder %s: %w", w.root, diskfile.Cause(err))
	}
	for _, e := range entries {
		if _, ok := suffixOf(e.Name(), base); !ok || !e.IsDir() {
			continue
		}
		record, errR := os.ReadFile(filepath.Join(w.root, e.Name(), fileRecord))
		decision, errD := os.ReadFile(filepath.Join(w.root, e.Name(), fileDecision))
		if errR == nil && errD == nil && bytes.Equal(record, f.Record) && bytes.Equal(decision, f.Decision) {
			return e.Name(), nil
		}
	}
	return "", nil
}

// reveal renames the complete folder to the first name that is free. A name
// that another process took in between is not free: a folder with files in it
// is never replaced by a rename.
func (w *writer) reveal(tmp, base string) (string, error) {
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", diskfile.Cause(err)
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		to := filepath.Join(w.root, name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		err := os.Rename(tmp, to)
		if err == nil {
			return name, syncDir(w.root)
		}
		if _, there := os.Lstat(to); there != nil {
			return "", fmt.Errorf("finding %s cannot be put into %s: %w", name, w.root, diskfile.Cause(err))
		}
	}
}

// lock waits for other processes that write to root. The lock is on the folder
// itself, so that no file stays behind; where folders cannot be locked, the
// rename alone keeps two findings apart.
func lock(root string) (unlock func(), err error) {
	l := flock.New(root, flock.SetFlag(os.O_RDONLY))
	switch err := l.Lock(); {
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("findings folder %s cannot be locked: %w", root, diskfile.Cause(err))
	}
	return func() { _ = l.Close() }, nil
}

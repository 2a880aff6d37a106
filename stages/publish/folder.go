package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// maxRows is how large a raw output may be, uncompressed, to be published; a
// larger one is named by its digest alone.
const maxRows = 64 << 20

// rowsEntry is a line of evidence/index.json.
type rowsEntry struct {
	Step    string      `json:"step"`
	Output  string      `json:"output"`
	Digest  step.Digest `json:"sha256"`             // of the uncompressed content
	File    string      `json:"file,omitempty"`     // in evidence/
	LeftOut string      `json:"left_out,omitempty"` // why there is no file
}

// fill writes all files of a finding and their checksums into dir.
func (w *writer) fill(dir string, f Finding, rec *evidence.Record) error {
	sums := map[string][sha256.Size]byte{}
	files := map[string]artifactFile{}
	put := func(name string, content []byte) error {
		sums[name] = sha256.Sum256(content)
		files[name] = artifactFile{Path: name, SHA256: step.Digest(sums[name]), Bytes: len(content)}
		return w.put(filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	for _, d := range f.documents() {
		if err := put(d.name, d.content); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, dirEvidence), 0o755); err != nil {
		return fmt.Errorf("%s cannot be created: %w", dirEvidence, diskfile.Cause(err))
	}
	entries, err := f.rows(rec, put)
	if err != nil {
		return err
	}
	index, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return err
	}
	if err := put(dirEvidence+"/index.json", append(index, '\n')); err != nil {
		return err
	}
	set, err := setOf(rec, files)
	if err != nil {
		return err
	}
	if err := put(fileSet, set); err != nil {
		return err
	}
	if err := put(fileSums, checksums(sums)); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Join(dir, dirEvidence)), syncDir(dir))
}

// checksums is the text that sha256sum -c reads, sorted by name.
func checksums(sums map[string][sha256.Size]byte) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%x  %s\n", sums[name], name)
	}
	return b.Bytes()
}

// rows writes the raw outputs, compressed, and says what became of each.
func (f Finding) rows(rec *evidence.Record, put func(string, []byte) error) ([]rowsEntry, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	taken := map[string]step.Digest{}
	entries := []rowsEntry{}
	for _, e := range rec.Evidence {
		entry := rowsEntry{Step: e.Step, Output: e.Output, Digest: e.Digest}
		content, why, err := f.read(e)
		if err != nil {
			return nil, err
		}
		if entry.LeftOut = why; why == "" {
			entry.File = rowsName(e, taken)
			if _, ok := taken[entry.File]; !ok {
				taken[entry.File] = e.Digest
				if err := put(dirEvidence+"/"+entry.File, encoder.EncodeAll(content, nil)); err != nil {
					return nil, err
				}
			}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// leftOutHeldOut is why answers to held-out items are not published.
const leftOutHeldOut = "answers to held-out items, which may quote them: they stay in the store"

// read returns a raw output, or why it is left out. Rows hold what models
// wrote, and a model may write what looks like a credential: those rows stay
// in the store, and the finding is published all the same.
func (f Finding) read(e evidence.EvidenceFile) (content []byte, leftOut string, err error) {
	if e.HeldOut {
		return nil, leftOutHeldOut, nil
	}
	rc, err := f.Open(e.Digest)
	if err != nil {
		return nil, "", fmt.Errorf("%s of %s: %w", e.Output, e.Step, err)
	}
	defer rc.Close()
	content, err = io.ReadAll(io.LimitReader(rc, maxRows+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("%s of %s: %w", e.Output, e.Step, err)
	case len(content) > maxRows:
		return nil, fmt.Sprintf("larger than %d MiB", maxRows>>20), nil
	case step.Sum(content) != e.Digest:
		return nil, "", fmt.Errorf("%s of %s does not have the digest %s that the record names", e.Output, e.Step, e.Digest.Short())
	}
	if what := credentialIn(content); what != "" {
		return nil, "holds " + what, nil
	}
	own, err := rulesOf(f.Spec)
	if err != nil {
		return nil, "", err
	}
	for _, r := range own { // addresses in answers are what a model said
		if r.Match(content) {
			return nil, "holds what publish.redact forbids", nil
		}
	}
	return content, "", nil
}

// rowsName is a file name for a step's output. Two steps may have the same one
// with their slashes as dashes; the second then carries its digest.
func rowsName(e evidence.EvidenceFile, taken map[string]step.Digest) string {
	stem := strings.Map(plainRune, strings.ReplaceAll(e.Step, "/", "-")) + "." + strings.Map(plainRune, e.Output)
	if d, ok := taken[stem+".zst"]; ok && d != e.Digest {
		return stem + "." + e.Digest.Short() + ".zst"
	}
	return stem + ".zst"
}

// plainRune keeps what is safe in a file name everywhere.
func plainRune(r rune) rune {
	if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r) {
		return r
	}
	return '_'
}

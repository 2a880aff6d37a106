package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/artifact"
)

func (a *app) evidenceVerifyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "recompute a file's numbers from its rows, and its checksums",
		Long: `Recompute every aggregate of a file from its own rows, and say which numbers do
not follow. A comparison is recomputed from the artifacts beside it that it names
by digest. Of a finding folder, all checksums are recomputed too, and the load
metrics are derived again from the raw cells.

` + exitCodeTable(),
		Example: `  cupel evidence verify fp8-moe-ab-comparison.json
  cupel evidence verify findings/2026-11-30-quickstart --json`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.evidenceVerify(args[0]) },
	}
}

func (a *app) evidenceVerify(path string) error {
	v, err := verifyPath(path)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	if a.json {
		if err := a.printJSON(v); err != nil {
			return err
		}
	} else {
		a.printVerification(v)
	}
	if len(v.Mismatches) > 0 {
		return exit(exitFailed)
	}
	return nil
}

func (a *app) printVerification(v *artifact.Verification) {
	a.printf("%s: %d of %d follow\n", v.Format, v.Follow, v.Checked)
	for _, m := range v.Mismatches {
		stated := ""
		if n, ok := m.Stated.(float64); ok {
			stated = fmt.Sprintf("stated %v; ", n)
		}
		a.printf("  does not follow  %s: %s%s\n", m.Field, stated, m.Why)
	}
	for _, s := range v.Not {
		a.printf("  not checked      %s\n", s)
	}
}

func verifyPath(path string) (*artifact.Verification, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	if info.IsDir() {
		return verifyFinding(path)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	defer root.Close()
	content, err := readBounded(root.FS(), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return artifact.Verify(content, besideByDigest(root.FS()))
}

// besideByDigest finds the JSON files of a folder by their digest. They are
// hashed when the first is asked for.
func besideByDigest(fsys fs.FS) artifact.Named {
	var found map[step.Digest][]byte
	return func(d step.Digest) []byte {
		if found == nil {
			found = map[step.Digest][]byte{}
			names, _ := fs.Glob(fsys, "*.json")
			for _, name := range names[:min(len(names), 1000)] {
				if b, err := readBounded(fsys, name); err == nil {
					found[step.Sum(b)] = b
				}
			}
		}
		return found[d]
	}
}

// verifyFinding recomputes the checksums of a finding folder, and what follows
// from its raw rows.
func verifyFinding(dir string) (*artifact.Verification, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	defer root.Close()
	fsys := root.FS()
	v := &artifact.Verification{Format: "cupel/finding", Mismatches: []artifact.Mismatch{}, Not: []string{}}
	sums, err := readBounded(fsys, "SHA256SUMS")
	if err != nil {
		return nil, step.WithHint(fmt.Errorf("SHA256SUMS: %w", err), "a finding folder has one; name a file to verify it alone")
	}
	verifySums(fsys, sums, v)
	verifyBinding(fsys, v)
	rows := verifyRows(fsys, v)
	rederive(fsys, rows, v)
	return v, nil
}

func verifySums(fsys fs.FS, sums []byte, v *artifact.Verification) {
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		want, err := step.ParseDigest(sum)
		if !ok || err != nil || !fs.ValidPath(name) {
			v.Same("SHA256SUMS", false, "a line is no checksum of a file in the folder")
			continue
		}
		content, err := readBounded(fsys, name)
		if err != nil {
			v.Same(name, false, err.Error())
			continue
		}
		v.Same(name, step.Sum(content) == want, "its content is not what SHA256SUMS says")
	}
}

// verifyBinding checks that the decision rests on this record, and the record
// on this campaign.
func verifyBinding(fsys fs.FS, v *artifact.Verification) {
	record, err1 := readBounded(fsys, "record.json")
	decision, err2 := readBounded(fsys, "decision.json")
	canonical, err3 := readBounded(fsys, specBeside)
	if err1 != nil || err2 != nil || err3 != nil {
		v.Same("finding", false, "record.json, decision.json or spec.json is not there")
		return
	}
	var d struct {
		Evidence step.Digest `json:"evidence"`
		Spec     step.Digest `json:"spec_hash"`
	}
	if err := json.Unmarshal(decision, &d); err != nil {
		v.Same("decision.json", false, "it is no decision")
		return
	}
	v.Same("decision.evidence", d.Evidence == step.Sum(record), "it rests on another record")
	v.Same("decision.spec_hash", d.Spec == step.SpecDigest(canonical), "it is of another campaign")
}

// rawRows is one raw output of a finding, or why it is not there.
type rawRows struct {
	Step    string      `json:"step"`
	Output  string      `json:"output"`
	Digest  step.Digest `json:"sha256"`
	File    string      `json:"file"`
	LeftOut string      `json:"left_out"`
}

// unpackMost bounds what one raw output unpacks to.
const unpackMost = 256 << 20

// verifyRows checks the raw outputs against the digests that the record names.
func verifyRows(fsys fs.FS, v *artifact.Verification) map[string][]byte {
	out := map[string][]byte{}
	index, err := readBounded(fsys, "evidence/index.json")
	var entries []rawRows
	if err != nil || json.Unmarshal(index, &entries) != nil {
		v.Same("evidence/index.json", false, "it is not there, or is no index")
		return out
	}
	for _, e := range entries {
		name := e.Step + ":" + e.Output
		if e.File == "" {
			v.Unchecked("%s: %s", name, e.LeftOut)
			continue
		}
		content, err := unpackRows(fsys, "evidence/"+e.File)
		if err != nil {
			v.Same(name, false, err.Error())
			continue
		}
		v.Same(name, step.Sum(content) == e.Digest, "its rows are not those that the record names")
		out[name] = content
	}
	return out
}

func unpackRows(fsys fs.FS, name string) ([]byte, error) {
	packed, err := readBounded(fsys, name)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderMaxMemory(unpackMost), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	content, err := io.ReadAll(io.LimitReader(dec, unpackMost+1))
	if err == nil && len(content) > unpackMost {
		err = fmt.Errorf("it unpacks to more than %d MiB", unpackMost>>20)
	}
	return content, err
}

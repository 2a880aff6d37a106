package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/artifact"
)

func (a *app) evidenceCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "evidence",
		Short: "evidence of this and of other tools: list, show, compare, verify, import, invalidate",
		Long: `Read what was measured, here or by another tool, and say what it is worth.
docs/evidence.md lists the shapes that are read and the fields that are compared.

Prompts, answers, reasoning and command lines are never printed.

` + exitCodeTable(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.evidenceListCmd(), a.evidenceShowCmd(), a.evidenceCompareCmd(), a.evidenceVerifyCmd(), a.evidenceImportCmd(), a.evidenceInvalidateCmd())
	return c
}

// specBeside is the document beside a record.json that tells what its
// workloads ask for.
const specBeside = "spec.json"

// readEvidence reads one file that a user named. A folder stands for the
// finding in it.
func readEvidence(path string, o artifact.Options) (*artifact.Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("%s: %w", path, diskfile.Cause(err)))
	}
	if info.IsDir() {
		path = filepath.Join(path, "record.json")
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("%s: %w", path, diskfile.Cause(err)))
	}
	defer root.Close()
	doc, err := readArtifact(root.FS(), filepath.Base(path), o)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	return doc, nil
}

// readArtifact reads a regular file of at most artifact.MaxBytes below a root
// that no symbolic link leaves.
func readArtifact(fsys fs.FS, name string, o artifact.Options) (*artifact.Document, error) {
	content, err := readBounded(fsys, name)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, "record.json") {
		beside := strings.TrimSuffix(name, "record.json") + specBeside
		if b, err := readBounded(fsys, beside); err == nil {
			o.Siblings = map[string][]byte{specBeside: b}
		}
	}
	return artifact.Read(content, o)
}

// readBounded never opens a pipe or a device, which could block for ever.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, diskfile.Cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > artifact.MaxBytes:
		return nil, step.WithHint(fmt.Errorf("it has %d bytes, at most %d MiB are read", info.Size(), artifact.MaxBytes>>20), "evidence holds results, and rows of their requests; keep raw streams apart")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	defer f.Close()
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = content.ReadFrom(io.LimitReader(f, artifact.MaxBytes+1))
	switch {
	case err != nil:
		return nil, diskfile.Cause(err)
	case content.Len() > artifact.MaxBytes:
		return nil, fmt.Errorf("it grew beyond %d MiB while it was read", artifact.MaxBytes>>20)
	}
	return content.Bytes(), nil
}

// partOf splits PATH#PART. A file whose name has a # is meant as it is.
func partOf(arg string) (path, part string) {
	if _, err := os.Lstat(arg); err == nil {
		return arg, ""
	}
	path, part, _ = strings.Cut(arg, "#")
	return path, part
}

package spec

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/suites"
)

// Limits of item files: one item, and a whole file, which is streamed.
const (
	maxItemBytes  = 8 << 20
	maxItemsBytes = 4 << 30
	maxSnapshot   = 64 << 20
	maxTrace      = 256 << 20
)

// files finds and hashes what a campaign refers to. Nothing is kept in memory
// but one buffer.
type files struct {
	dir     string // of the campaign
	root    *node
	errs    *Errors
	suites  map[string]Suite             // workload -> suite
	snaps   map[int]*File                // index of a research source -> snapshot
	traces  map[string]File              // workload -> arrival trace
	imports map[string]map[string][]File // workload -> candidate -> files
	labels  map[string]File              // judge -> answers that people have judged
	media   map[string]File              // preflight check -> what it shows
	metered map[string]metered           // workload -> recordings and calibration
}

func (f *files) resolve() {
	f.suites, f.snaps, f.traces, f.labels, f.media = map[string]Suite{}, map[int]*File{}, map[string]File{}, map[string]File{}, map[string]File{}
	f.imports, f.metered = map[string]map[string][]File{}, map[string]metered{}
	f.findTraces()
	f.findImported()
	f.findMetered()
	f.findLabels()
	f.findMedia()
	done := map[[2]string]Suite{}
	for _, w := range f.root.get("measure").pairs() {
		n := w.val.get("suite")
		name, ok := n.str()
		if kindName(w.val) != "quality" || !ok {
			continue
		}
		split, _ := w.val.get("split").str()
		s, known := done[[2]string{name, split}]
		if !known {
			var err error
			if s, err = openPart(f.dir, name, split); err != nil {
				if errors.Is(err, errNoParts) {
					f.fail(w.val.get("split"), path{"measure", w.name, "split"}, err)
				} else {
					f.fail(n, path{"measure", w.name, "suite"}, err)
				}
				continue
			}
			done[[2]string{name, split}] = s
		}
		f.suites[w.name] = s
	}
	for i, src := range f.root.get("research").get("sources").items() {
		n := src.get("snapshot")
		name, ok := n.str()
		if !ok {
			continue
		}
		file, _, err := hashFile(f.dir, name, maxSnapshot, 0)
		if err != nil {
			f.fail(n, path{"research", "sources", index(i), "snapshot"}, err)
			continue
		}
		f.snaps[i] = &file
	}
}

func (f *files) findTraces() {
	for _, w := range f.root.get("measure").pairs() {
		n := w.val.get("arrivals").get("trace")
		name, ok := n.str()
		if kindName(w.val) != "open-loop" || !ok {
			continue
		}
		file, rows, err := hashFile(f.dir, name, maxTrace, 0)
		if err != nil {
			f.fail(n, path{"measure", w.name, "arrivals", "trace"}, err)
			continue
		}
		file.Lines = rows
		f.traces[w.name] = file
	}
}

func (f *files) findLabels() {
	for _, j := range f.root.get("judges").pairs() {
		n := j.val.get("labels")
		name, ok := n.str()
		if !ok {
			continue
		}
		file, rows, err := hashFile(f.dir, name, maxItemsBytes, maxItemBytes)
		if err == nil && rows == 0 {
			err = fmt.Errorf("%s holds no label", clip(name))
		}
		if err != nil {
			f.fail(n, path{"judges", j.name, "labels"}, err)
			continue
		}
		file.Lines = rows
		f.labels[j.name] = file
	}
}

func (f *files) fail(n *node, p path, err error) {
	hint := ""
	if h, ok := errors.AsType[*step.Hint](err); ok {
		err, hint = h.Err, h.Todo
	}
	f.errs.add(n.at, p, err.Error(), hint)
}

// openSuite resolves a suite inside the program, a folder with suite.json, or
// one .jsonl file.
func openSuite(dir, name string) (Suite, error) {
	if suites.Shipped(name) {
		return openShipped(name)
	}
	full := locate(dir, name)
	info, err := os.Stat(full)
	if err != nil {
		return Suite{}, step.WithHint(fmt.Errorf("%s: %w", clip(name), diskfile.Cause(err)), "a suite is a folder with suite.json, or a .jsonl file; the path is relative to the campaign file")
	}
	if info.IsDir() {
		return openSuiteFolder(dir, name)
	}
	if filepath.Ext(name) != ".jsonl" {
		return Suite{}, step.WithHint(fmt.Errorf("%s is neither a folder nor a .jsonl file", clip(name)), "a suite is a folder with suite.json, or a .jsonl file")
	}
	file, count, err := hashFile(dir, name, maxItemsBytes, maxItemBytes)
	if err == nil && count == 0 {
		err = fmt.Errorf("%s holds no item", clip(name))
	}
	return Suite{Name: strings.TrimSuffix(filepath.Base(name), ".jsonl"), Items: file, Count: count}, err
}

func locate(dir, name string) string {
	if suites.Shipped(name) {
		return name
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// openRegular opens a regular file of at most limit bytes: no folder, device or
// pipe, which could block for ever.
func openRegular(full string, limit int64) (io.ReadCloser, error) {
	if suites.Shipped(full) {
		return suites.Open(full)
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%d bytes, allowed %d", info.Size(), limit)
	}
	f, err := os.Open(full)
	return f, diskfile.Cause(err)
}

func readRegular(full string, limit int64) ([]byte, error) {
	f, err := openRegular(full, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(src)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return src, diskfile.Cause(err)
}

// hashFile streams a file of at most limit bytes and counts its lines that are
// not blank; a line longer than maxLine bytes is an error (0: no lines).
func hashFile(dir, name string, limit int64, maxLine int) (File, int, error) {
	full := locate(dir, name)
	f, err := openRegular(full, limit)
	if err != nil {
		return File{}, 0, fmt.Errorf("%s: %w", clip(name), err)
	}
	defer f.Close()
	h := sha256.New()
	c := &lineCounter{max: maxLine}
	n, err := io.Copy(io.MultiWriter(h, c), bufio.NewReaderSize(io.LimitReader(f, limit+1), 1<<16))
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return File{}, 0, fmt.Errorf("%s: %w", clip(name), diskfile.Cause(err))
	}
	return File{Path: full, Name: name, Digest: step.Digest(h.Sum(nil)), Size: n}, c.total(), nil
}

// lineCounter counts lines that hold more than white space.
type lineCounter struct {
	max, lines, items, length int
	filled                    bool // the line so far is not blank
}

func (c *lineCounter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		c.length += len(line)
		c.filled = c.filled || len(bytes.TrimSpace(line)) > 0
		if c.max > 0 && c.length > c.max {
			return 0, fmt.Errorf("line %d is longer than %d bytes, the limit for one item", c.lines+1, c.max)
		}
		if ended {
			c.end()
		}
		p = rest
	}
	return total, nil
}

func (c *lineCounter) end() {
	if c.filled {
		c.items++
	}
	c.lines++
	c.length, c.filled = 0, false
}

// total counts a last line without a line end too.
func (c *lineCounter) total() int {
	if c.filled {
		return c.items + 1
	}
	return c.items
}

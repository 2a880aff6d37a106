package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/foreign"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/sandbox"
	"github.com/cupel-dev/cupel/stages/score"
	"github.com/cupel-dev/cupel/suites"
)

// outputs are stored answers that can be read more than once.
type outputs struct {
	name  string
	r     io.ReaderAt
	size  int64
	close func() error
}

// openOutputs opens a file, or an output of the store by step name or digest.
func (a *app) openOutputs(name string) (*outputs, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fail(exitUsage, step.WithHint(fmt.Errorf("%s is not a regular file", name), "score one file at a time"))
	case err == nil:
		f, err := os.Open(name)
		if err != nil {
			return nil, fail(exitUsage, err)
		}
		return &outputs{name, f, info.Size(), f.Close}, nil
	case !errors.Is(err, os.ErrNotExist):
		return nil, fail(exitUsage, err)
	}
	b, err := a.storedOutputs(name)
	if err != nil {
		return nil, err
	}
	return &outputs{name, bytes.NewReader(b), int64(len(b)), func() error { return nil }}, nil
}

func (a *app) storedOutputs(name string) ([]byte, error) {
	s, err := a.storeHere(store.ReadOnly)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("%s is no file, and: %w", name, err))
	}
	defer s.Close()
	d, err := outputDigest(s, name)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	b, err := s.Read(d)
	if err == nil && answersHeldOut(b) {
		return nil, fail(exitUsage, step.WithHint(fmt.Errorf("%s answers held-out items, and their answers are scored in a campaign", name), "change the workload's scorers and run it: nothing is sent again"))
	}
	return b, fail(exitOutside, err)
}

func outputDigest(s *store.Store, name string) (step.Digest, error) {
	stepName, output, given := strings.Cut(name, ":")
	rec, ok := newest(s, stepName)
	if !ok {
		d, err := expandDigest(s, name)
		if err != nil {
			return d, fmt.Errorf("%s is neither a file nor a step in %s: %w", name, s.Dir(), err)
		}
		return d, nil
	}
	if !given {
		output = evidence.OutResponses
	}
	out, ok := rec.Output(output)
	if !ok {
		return step.Digest{}, step.WithHint(fmt.Errorf("%s has no %s", stepName, output), "answers are the output of a step such as measure/q8_0/answers/generate")
	}
	return out.Digest, nil
}

// addItems reads a suite folder, an item file or a shipped suite, which needs
// no prefix where nothing on disk has its name.
func addItems(sheet *score.Sheet, name string) error {
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) && slices.Contains(suites.Names(), name) {
		name = suites.Prefix + name
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	suite, err := spec.OpenSuite(wd, name)
	if err != nil {
		return fmt.Errorf("--items: %w", err)
	}
	f, err := openFile(suite.Items)
	if err != nil {
		return fmt.Errorf("--items: %w", err)
	}
	defer f.Close()
	return readItemFile(sheet, suite.Items.Name, f)
}

// readItemFile parses runs of lines in parallel; the lines of errors are those of
// the file.
func readItemFile(sheet *score.Sheet, name string, r io.Reader) error {
	type run struct {
		list []items.Item
		err  error
	}
	parse := func() func(foreign.Block) run {
		return func(b foreign.Block) run {
			out := run{list: make([]items.Item, 0, b.Lines())}
			out.err = items.ReadNamed(name, bytes.NewReader(b.Text), func(it items.Item) error {
				out.list = append(out.list, it)
				return nil
			})
			if at, ok := errors.AsType[*items.Error](out.err); ok {
				at.Line += b.First - 1
			}
			return out
		}
	}
	produce := func(yield func(foreign.Block) error) error { return foreign.Blocks(r, yield) }
	return foreign.Ordered(runtime.GOMAXPROCS(0), produce, parse, func(b run) error {
		for _, it := range b.list {
			if err := sheet.AddItem(it); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return b.err
	})
}

// newSheet reads --scorers.
func newSheet(o scoreOptions) (*score.Sheet, error) {
	opt := score.SheetOptions{Stratify: o.by, Runner: sandbox.New(sandbox.Options{})}
	list, err := scorerList(o.scorers)
	if err != nil {
		return nil, fmt.Errorf("--scorers: %w", err)
	}
	if o.replace && len(list) == 0 {
		return nil, errors.New("--replace: there is nothing in --scorers to score with")
	}
	if o.replace || o.items == "" && len(list) > 0 {
		opt.Replace = list
		sheet, err := score.NewSheet(opt)
		return sheet, prefixed("--scorers", err)
	}
	opt.Scorers = map[string]map[string]any{}
	for _, ref := range list {
		if known, _ := score.Lookup(ref.Name); len(ref.Params) == 0 && !known.Runs { // naming one that runs programs allows it to
			return nil, step.WithHint(fmt.Errorf("--scorers: %s has no parameters", ref.Name), "write "+ref.Name+`={"…": …}, or --replace to score every item with it`)
		}
		p := map[string]any{}
		for name, v := range ref.Params {
			p[name] = v
		}
		opt.Scorers[ref.Name] = p
	}
	sheet, err := score.NewSheet(opt)
	return sheet, prefixed("--scorers", err)
}

func prefixed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// scorerList reads name, name={params} and files of {name: params}.
func scorerList(args []string) (items.Scorers, error) {
	var list items.Scorers
	seen := map[string]bool{}
	for _, arg := range args {
		refs, err := scorerRefs(arg)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if seen[ref.Name] {
				return nil, fmt.Errorf("%s is named twice", ref.Name)
			}
			seen[ref.Name] = true
			list = append(list, ref)
		}
	}
	return list, nil
}

func scorerRefs(arg string) (items.Scorers, error) {
	name, value, given := strings.Cut(arg, "=")
	if given {
		ref := items.ScorerRef{Name: name}
		if err := strictJSON([]byte(value), &ref.Params); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return items.Scorers{ref}, nil
	}
	if _, ok := score.Lookup(arg); ok {
		return items.Scorers{{Name: arg}}, nil
	}
	b, err := os.ReadFile(arg)
	if err != nil {
		return nil, fmt.Errorf("%s is no scorer (known: %s) and no file", arg, strings.Join(score.Names(), ", "))
	}
	var file map[string]map[string]json.RawMessage
	if err := strictJSON(b, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	var refs items.Scorers
	for _, name := range sortedNames(file) {
		refs = append(refs, items.ScorerRef{Name: name, Params: file[name]})
	}
	return refs, nil
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// campaign is a loaded file with everything that commands derive from it.
type campaign struct {
	path   string
	loaded *spec.Loaded
	wiring *wiring
	plan   *plan.Plan
}

// open loads a campaign, refuses what this version cannot run, and plans it.
func (a *app) open(path string, binds []string) (*campaign, error) {
	return a.openServing(path, binds, false)
}

// openServing is open for a run that may or may not run the campaign's commands.
func (a *app) openServing(path string, binds []string, serve bool) (*campaign, error) {
	loaded, err := spec.Load(path)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	if err := refuse(loaded); err != nil {
		return nil, fail(exitUsage, err)
	}
	bindings, err := a.bindings(loaded, binds)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	if err := sharedEndpoint(loaded, bindings); err != nil {
		return nil, fail(exitUsage, err)
	}
	if err := checkHardware(bindings); err != nil {
		return nil, fail(exitUsage, err)
	}
	w := wire(loaded, bindings)
	w.serve = serve
	if err := w.takesTurns(); err != nil {
		return nil, fail(exitUsage, err)
	}
	p, err := plan.Build(loaded.Campaign, w.adders()...)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	return &campaign{path: path, loaded: loaded, wiring: w, plan: p}, nil
}

// store opens the store of a campaign. A store that cannot be used is the
// outside's failure.
func (a *app) store(c *campaign, mode store.Mode) (*store.Store, error) {
	dir := a.storeDir
	if dir == "" {
		dir = filepath.Join(c.loaded.Dir, ".cupel")
	}
	return a.openStore(dir, mode)
}

func (a *app) openStore(dir string, mode store.Mode) (*store.Store, error) {
	s, err := store.Open(dir, store.Options{Mode: mode, AllowNetworkFS: a.networkFS})
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	return s, nil
}

// storeHere opens the store for commands without a campaign argument: --store,
// or the nearest .cupel at or above the working directory.
func (a *app) storeHere(mode store.Mode) (*store.Store, error) {
	if a.storeDir != "" {
		if _, err := os.Stat(a.storeDir); err != nil {
			return nil, fail(exitUsage, fmt.Errorf("--store %s: %w", a.storeDir, errors.Unwrap(err)))
		}
		return a.openStore(a.storeDir, mode)
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, fail(exitOutside, err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		tries := []string{dir, filepath.Join(dir, "pipelines")}
		if dir == wd {
			tries = append(tries, filepath.Join(dir, "cupel-demo", "pipelines"))
		}
		for _, at := range tries {
			try := filepath.Join(at, ".cupel")
			if _, err := os.Stat(try); err == nil {
				return a.openStore(try, mode)
			}
		}
		if dir == filepath.Dir(dir) {
			return nil, fail(exitUsage, fmt.Errorf("no .cupel store at or above %s; name one with --store", wd))
		}
	}
}

// bindings merges --bind, the environment and bindings.yaml beside the
// campaign. That file may serve several campaigns: what it says of candidates
// that this one does not have is left alone.
func (a *app) bindings(l *spec.Loaded, flags []string) (map[string]spec.Binding, error) {
	var file map[string]spec.Binding
	name := filepath.Join(l.Dir, "bindings.yaml")
	if _, err := os.Stat(name); err == nil {
		if file, err = spec.LoadBindings(name); err != nil {
			return nil, err
		}
		maps.DeleteFunc(file, func(cand string, _ spec.Binding) bool {
			_, ok := l.Campaign.Pinned(cand)
			return !ok
		})
	}
	return spec.ResolveBindings(l.Campaign, file, os.Environ(), flags)
}

// sharedEndpoint refuses two candidates that are bound to one model at one
// address, which would be compared with themselves, and a judge that is bound to
// the model of a candidate. Judges may share one: their rubrics differ.
func sharedEndpoint(l *spec.Loaded, bindings map[string]spec.Binding) error {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(l.Campaign.Candidates)) {
		at, bound := boundTo(l, bindings, name)
		if !bound {
			continue
		}
		if other, twice := seen[at]; twice {
			return step.WithHint(fmt.Errorf("candidates %s and %s are both bound to %s, so one would be measured twice", other, name, bindings[name].URL),
				"bind each to its own endpoint, or name its model: --bind "+name+"=URL,model=NAME")
		}
		seen[at] = name
	}
	for _, name := range slices.Sorted(maps.Keys(l.Campaign.Judges)) {
		at, bound := boundTo(l, bindings, name)
		if other, same := seen[at]; bound && same {
			return step.WithHint(fmt.Errorf("judge %s is bound to %s, as candidate %s is", name, bindings[name].URL, other),
				"a candidate cannot be its own judge; bind the judge to another model: --bind "+name+"=URL,model=NAME")
		}
	}
	return nil
}

// boundTo is the address and the model of a binding.
func boundTo(l *spec.Loaded, bindings map[string]spec.Binding, name string) (string, bool) {
	b, ok := bindings[name]
	pins, _ := l.Campaign.Pinned(name)
	return strings.TrimRight(b.URL, "/") + " model " + cmp.Or(b.ServedName, pins.ServedName), ok
}

func bindFlag(c *cobra.Command, binds *[]string) {
	c.Flags().StringArrayVar(binds, "bind", nil, "where a candidate is, `name=url` (repeatable; also bindings.yaml and $CUPEL_BIND_NAME)")
}

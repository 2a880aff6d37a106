package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/pin"
)

func (a *app) pinCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "pin COMMAND",
		Short: "what a candidate is: declared, and as its endpoint tells it",
		Long: `A pin is a fact that tells one serving configuration from another: weights,
quantisation, template, tokenizer, engine, limits. docs/pins.md says which engine
tells which, by which page.

` + exitCodeTable(),
		Example: `  cupel pin show campaign.yaml
  cupel pin show campaign.yaml --candidate fp8`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.pinShowCmd(), a.pinImageCmd())
	return c
}

func (a *app) pinShowCmd() *cobra.Command {
	var binds []string
	var only string
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "ask the bound endpoints now what they are, beside what is declared",
		Long: `Ask the endpoints of a campaign what they are, and print each pin as declared and
as observed, with the page that told it. At most three requests of one token are
sent to an endpoint; nothing is stored.

The exit code is 1 when a declared pin is not what is served, or stays unknown
where the campaign says pins: strict, and 4 when an endpoint cannot be asked.

` + exitCodeTable(),
		Example: `  cupel pin show campaign.yaml
  cupel pin show campaign.yaml --candidate fp8 --bind fp8=http://127.0.0.1:8000/v1 --json`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.showPins(c.Context(), args[0], only, binds)
		},
	}
	bindFlag(c, &binds)
	c.Flags().StringVar(&only, "candidate", "", "ask this `name` alone, a candidate or a judge")
	return c
}

// pinned is what one endpoint was found to be.
type pinned struct {
	Candidate string           `json:"candidate"`
	Pin       *evidence.PinDoc `json:"pin"`               // null = it was not observed
	Differs   []string         `json:"differs,omitempty"` // with both values
	Unpinned  []string         `json:"unpinned"`          // pins that matter, neither declared nor observed
	Error     string           `json:"error,omitempty"`   // why it was not observed
	Notes     []string         `json:"notes,omitempty"`
	code      exitCode
}

func (a *app) showPins(ctx context.Context, path, only string, binds []string) error {
	loaded, err := spec.Load(path)
	if err != nil {
		return fail(exitUsage, err)
	}
	bindings, err := a.bindings(loaded, binds)
	if err != nil {
		return fail(exitUsage, err)
	}
	names, err := endpointNames(loaded.Campaign, only)
	if err != nil {
		return fail(exitUsage, err)
	}
	w := wire(loaded, bindings)
	defer w.close()
	if err := w.start(); err != nil {
		return fail(exitOutside, err)
	}
	all, worst := make([]pinned, 0, len(names)), exitOK
	for _, name := range names {
		p := w.observe(ctx, name)
		if ctx.Err() != nil {
			return fail(exitInterrupted, ctx.Err())
		}
		all, worst = append(all, p), max(worst, p.code)
	}
	if a.json {
		if err := a.printJSON(map[string]any{"spec_hash": loaded.Digest, "pins": all}); err != nil {
			return err
		}
		return exit(worst)
	}
	for i, p := range all {
		if i > 0 {
			a.printf("\n")
		}
		printPinned(a.stdout, p)
		if p.Error != "" {
			fmt.Fprintf(a.stderr, "cupel: %s: %s\n", p.Candidate, p.Error)
		}
	}
	return exit(worst)
}

// endpointNames are all candidates and judges, or the one that was named.
func endpointNames(c *spec.Campaign, only string) ([]string, error) {
	if only == "" {
		return c.Endpoints(), nil
	}
	if _, ok := c.Pinned(only); !ok {
		return nil, step.WithHint(fmt.Errorf("the campaign has no candidate or judge %q", only), "it has "+strings.Join(c.Endpoints(), ", "))
	}
	return []string{only}, nil
}

// observe asks one endpoint, and closes what it opened.
func (w *wiring) observe(ctx context.Context, name string) pinned {
	p := pinned{Candidate: name, Unpinned: []string{}}
	doc, err := w.pinOf(ctx, name)
	if err != nil {
		p.Error, p.code = err.Error(), exitOutside
		if !errors.Is(err, step.ErrOutside) && !errors.Is(err, step.ErrUnreachable) {
			p.code = exitUsage // such as a key's variable that is empty
		}
		return p
	}
	p.Pin, p.Notes = &doc, doc.Observed.Notes
	p.Differs = pin.Wrong(doc, w.servedName(name))
	p.Unpinned = append(p.Unpinned, pin.Unpinned(doc)...)
	_, candidate := w.loaded.Campaign.Candidates[name]
	if len(p.Differs) > 0 || candidate && w.loaded.Campaign.Pins == "strict" && len(p.Unpinned) > 0 {
		p.code = exitFailed
	}
	return p
}

func (w *wiring) pinOf(ctx context.Context, name string) (evidence.PinDoc, error) {
	ep, err := w.dial(measure.Need{Candidate: name})
	if err != nil {
		return evidence.PinDoc{}, err
	}
	defer ep.Close()
	pins, _ := w.loaded.Campaign.Pinned(name)
	doc, _, err := pin.Observe(ctx, ep, pins)
	return doc, err
}

// printPinned prints the table of one endpoint.
func printPinned(out io.Writer, p pinned) {
	if p.Pin == nil {
		fmt.Fprintf(out, "%s  not observed\n", p.Candidate)
		return
	}
	o := p.Pin.Observed
	fmt.Fprintf(out, "%s  %s\n", p.Candidate, strings.TrimSpace(o.EngineName+" "+o.EngineVersion))
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "  PIN\tDECLARED\tOBSERVED\tSTATE\tBY\tNOTE")
	for _, f := range p.Pin.Fields {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", f.Name, shortPin(f.Declared), shortPin(f.Observed), f.State, orDash(f.By), orDash(f.Note))
	}
	w.Flush()
	for _, d := range p.Differs {
		fmt.Fprintf(out, "differs: %s\n", d)
	}
	if len(p.Unpinned) > 0 {
		fmt.Fprintf(out, "neither declared nor observed: %s\n", strings.Join(p.Unpinned, ", "))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
}

// shortPin fits a value into a column; --json has all of it.
func shortPin(s string) string {
	const most = 60
	if len(s) == 40 || len(s) == 64 {
		if strings.Trim(s, "0123456789abcdef") == "" {
			return s[:12] + "…"
		}
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return orDash(s)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

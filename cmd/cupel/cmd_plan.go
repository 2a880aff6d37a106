package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/measure"
)

func (a *app) planCmd() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "what a run would do: cached, will run, waits on; requests and tokens",
		Long: `Print the steps of a campaign in order and what a run would do with each. The
store is opened read-only and stays byte for byte the same. Observing steps are
assumed to see what they saw last. <= marks an upper bound, >= a lower one: how many
requests fill the window of an energy workload is known when it is measured.

` + exitCodeTable(),
		Example: `  cupel plan pipelines/quickstart.yaml
  cupel plan campaign.yaml --refresh 'measure/fp8'`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.printPlan(args[0], o) },
	}
	bindFlag(c, &o.binds)
	f := c.Flags()
	f.StringVar(&o.only, "only", "", "plan this `stage` alone")
	f.StringVar(&o.from, "from", "", "take everything before this `stage` from the store")
	f.StringArrayVar(&o.refresh, "refresh", nil, "steps matching this `glob` run although they are in the store")
	f.BoolVar(&o.offline, "offline", false, "plan without the endpoints")
	f.BoolVar(&o.remeasure, "remeasure", false, "measure again what is damaged")
	f.BoolVar(&o.serve, "serve", serveAllowed(), "plan a run with --serve; nothing is started")
	return c
}

func (a *app) printPlan(path string, o runOptions) error {
	c, err := a.openServing(path, o.binds, o.serve)
	if err != nil {
		return err
	}
	s, err := a.store(c, store.ReadOnly)
	if err != nil {
		return err
	}
	defer s.Close()
	e := a.engine(c, s, o)
	rows, err := e.Preview(c.plan)
	if err != nil {
		return fail(exitUsage, err)
	}
	if err := selectedCosts(c, rows); err != nil {
		return fail(exitUsage, err)
	}
	says := energySays(c.loaded.Campaign, probed{err: errNotProbed})
	if a.json {
		out := map[string]any{"spec_hash": c.loaded.Digest, "steps": rows, "starts": c.starts(e)}
		if says != nil {
			out["energy"] = says
		}
		return a.printJSON(out)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "STEP\tPLAN\tREQUESTS\tTOKENS<=\tLAST TOOK\tWHY")
	var sum exec.Preview
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Forecast, requests(r), tokens(r), took(r.LastTook), r.Reason)
		sum.Cost.Requests += r.Cost.Requests
		sum.Cost.Tokens += r.Cost.Tokens
		sum.Cost.AtLeast = sum.Cost.AtLeast || r.Cost.AtLeast
		sum.LastTook += r.LastTook
	}
	w.Flush()
	a.printf("\n")
	a.printStarts(c.starts(e))
	for _, s := range says {
		a.printf("%s\n", s)
	}
	a.printf("%s\n", planSummary(rows, sum))
	return nil
}

// selectedCosts replaces the stages' bound on a generation, the whole suite, by
// the items that where and limit leave of it: only here are items read.
func selectedCosts(c *campaign, rows []exec.Preview) error {
	counts, err := selectedItems(c.loaded)
	if err != nil {
		return err
	}
	for i, r := range rows {
		parts := strings.Split(r.Name, "/")
		if r.Step.Kind != measure.KindGenerate || r.Cost.Requests == 0 || r.Cost.Exact || len(parts) < 3 {
			continue
		}
		q := c.loaded.Campaign.Measure[parts[2]].Quality
		if q == nil {
			continue
		}
		items := 0
		for _, n := range counts[parts[2]] {
			items += n
		}
		each := r.Cost.Tokens / r.Cost.Requests
		rows[i].Cost.Requests = items * q.Samples * q.Repeats
		rows[i].Cost.Tokens = rows[i].Cost.Requests * each
	}
	return nil
}

func planSummary(rows []exec.Preview, sum exec.Preview) string {
	n := map[exec.Forecast]int{}
	for _, r := range rows {
		n[r.Forecast]++
	}
	var parts []string
	for _, f := range []exec.Forecast{exec.WillHit, exec.WillLook, exec.WillRun, exec.WillWait, exec.WillSkip, exec.WillFail, exec.WillLeave} {
		if n[f] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[f], f))
		}
	}
	bound := "at most"
	if sum.Cost.AtLeast {
		bound = "at least" // it depends on how fast they are answered
	}
	s := strings.Join(parts, ", ") + fmt.Sprintf("; %s %s requests", bound, orZero(count(sum.Cost.Requests)))
	if sum.LastTook > 0 {
		s += ", " + took(sum.LastTook) + " last time"
	}
	return s
}

// requests is what a step will send, or at most sends.
func requests(r exec.Preview) string {
	switch {
	case r.Cost.Exact:
		return fmt.Sprint(r.Cost.Requests)
	case r.Cost.Requests == 0:
		return ""
	}
	if r.Cost.AtLeast {
		return fmt.Sprintf(">=%d", r.Cost.Requests)
	}
	return fmt.Sprintf("<=%d", r.Cost.Requests)
}

// tokens is an upper bound, or nothing where there is none.
func tokens(r exec.Preview) string {
	if r.Cost.AtLeast {
		return "?"
	}
	return count(r.Cost.Tokens)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

func took(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return seconds(d.Seconds())
}

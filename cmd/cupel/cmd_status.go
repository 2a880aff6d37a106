package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/store"
)

func (a *app) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "status [RUN]",
		Short: "the last run, or one that goes on in another terminal",
		Example: `  cupel status
  cupel status 01JQ8Z5T3V0000000000000000 --json`,
		Args: atMostOne("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			log, err := a.runLog(args)
			if err != nil {
				return err
			}
			return a.printStatus(log)
		},
	}
}

func (a *app) logCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "log [RUN]",
		Short: "every event of a run",
		Example: `  cupel log
  cupel log 01JQ8Z5T3V0000000000000000 --json`,
		Args: atMostOne("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			log, err := a.runLog(args)
			if err != nil {
				return err
			}
			for _, line := range log.Events {
				if a.json {
					a.printf("%s\n", line)
					continue
				}
				var ev exec.Event
				if json.Unmarshal(line, &ev) == nil {
					a.printf("%s  %-44s %-8s %s\n", ev.Time.Format("15:04:05.000"), cmp.Or(ev.Step, ev.Session), ev.State, eventText(ev))
				}
			}
			return nil
		},
	}
}

func eventText(ev exec.Event) string {
	switch {
	case ev.Error != "":
		return ev.Error
	case ev.State == "progress":
		return fmt.Sprintf("%d/%d %s", ev.Done, ev.Total, ev.Note)
	case ev.Note != "":
		return ev.Note
	}
	return ev.Reason
}

func (a *app) runLog(args []string) (*store.RunLog, error) {
	s, err := a.storeHere(store.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	id := ""
	if len(args) == 1 {
		id = args[0]
	} else if id, err = s.LatestRun(); err != nil {
		if errors.Is(err, store.ErrMissing) {
			return nil, fail(exitUsage, fmt.Errorf("no run has been started in %s", s.Dir()))
		}
		return nil, fail(exitOutside, err)
	}
	log, err := s.ReadRun(id)
	switch {
	case errors.Is(err, store.ErrMissing):
		return nil, fail(exitUsage, fmt.Errorf("no run %s in %s", id, s.Dir()))
	case err != nil:
		return nil, fail(exitUsage, err)
	}
	return log, nil
}

// status folds a run's events into what is known of each step.
type status struct {
	Run     string       `json:"run"`
	Started time.Time    `json:"started"`
	State   string       `json:"state"` // running | ended | died
	Summary string       `json:"summary,omitempty"`
	Steps   []exec.Event `json:"steps"` // the last event of each step
}

func foldStatus(log *store.RunLog) status {
	st := status{Run: log.ID, Started: log.Started, State: "died", Steps: []exec.Event{}}
	if log.Alive {
		st.State = "running"
	}
	at := map[string]int{}
	for _, line := range log.Events {
		var ev exec.Event
		if json.Unmarshal(line, &ev) != nil {
			continue
		}
		if ev.Step == "" {
			if ev.State == "end" {
				st.State, st.Summary = "ended", ev.Note
			}
			continue
		}
		if ev.State == "note" {
			continue
		}
		i, seen := at[ev.Step]
		if !seen {
			i = len(st.Steps)
			at[ev.Step] = i
			st.Steps = append(st.Steps, ev)
		}
		st.Steps[i] = ev
	}
	return st
}

func (a *app) printStatus(log *store.RunLog) error {
	st := foldStatus(log)
	if a.json {
		return a.printJSON(st)
	}
	a.printf("run %s started %s: %s\n", st.Run, st.Started.Format("2006-01-02 15:04:05"), st.State)
	slices.SortStableFunc(st.Steps, func(x, y exec.Event) int { return x.Time.Compare(y.Time) })
	for _, ev := range st.Steps {
		a.printf("  %-44s %-8s %s\n", ev.Step, ev.State, eventText(ev))
	}
	if st.Summary != "" {
		a.printf("%s\n", st.Summary)
	}
	if st.State == "died" {
		a.printf("its process is gone; the same `cupel run` continues it\n")
	}
	return nil
}

func atMostOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return fail(exitUsage, fmt.Errorf("%s takes at most one %s, got %d arguments; see '%s -h'", c.CommandPath(), name, len(args), c.CommandPath()))
	}
}

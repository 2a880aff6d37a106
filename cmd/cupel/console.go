package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/cupel-dev/cupel/engine/exec"
)

// console shows a run while it goes on: bars on a terminal, one plain line per
// event elsewhere, JSON lines with --json.
type console struct {
	a     *app
	bars  progress.Writer // nil = plain lines
	ended chan struct{}   // closed when the bars are off the screen
	run   map[string]*progress.Tracker
	shown map[string]int // plain: progress quarters already printed
}

func (a *app) console() *console {
	c := &console{a: a, run: map[string]*progress.Tracker{}, shown: map[string]int{}}
	if a.quiet || a.json || !terminal(a.stderr) {
		return c
	}
	c.bars = progress.NewWriter()
	c.bars.SetOutputWriter(a.stderr)
	c.bars.SetUpdateFrequency(150 * time.Millisecond)
	c.bars.SetTrackerLength(20)
	c.bars.SetMessageLength(72)
	c.bars.SetStyle(progress.StyleBlocks)
	show := &c.bars.Style().Visibility
	show.ETA, show.Time, show.Percentage, show.Value = true, false, false, false
	c.bars.SetTrackerPosition(progress.PositionRight)
	c.ended = make(chan struct{})
	go func() {
		c.bars.Render()
		close(c.ended)
	}()
	return c
}

// event shows one event. The engine calls it from one goroutine at a time.
func (c *console) event(ev exec.Event) {
	switch {
	case c.a.json:
		line, err := json.Marshal(ev)
		if err == nil {
			fmt.Fprintf(c.a.stdout, "%s\n", line)
		}
	case c.a.quiet:
	case ev.State == "progress":
		c.progress(ev)
	case ev.State == "running":
		c.running(ev)
	default:
		c.end(ev)
	}
}

func (c *console) running(ev exec.Event) {
	if c.bars == nil {
		c.line("%-44s running  %s", ev.Step, ev.Reason)
		return
	}
	t := &progress.Tracker{Message: ev.Step, RemoveOnCompletion: true, AutoStopDisabled: true}
	c.run[ev.Step] = t
	c.bars.AppendTracker(t)
}

func (c *console) progress(ev exec.Event) {
	if t := c.run[ev.Step]; t != nil {
		t.UpdateTotal(int64(ev.Total))
		t.SetValue(int64(ev.Done))
		t.UpdateMessage(fmt.Sprintf("%-44s %d/%d  %s", ev.Step, ev.Done, ev.Total, ev.Note))
		return
	}
	if ev.Total == 0 || c.bars != nil {
		return
	}
	quarter := 4 * ev.Done / ev.Total
	if quarter > c.shown[ev.Step] && quarter < 4 {
		c.shown[ev.Step] = quarter
		c.line("%-44s %d/%d  %s", ev.Step, ev.Done, ev.Total, ev.Note)
	}
}

func (c *console) end(ev exec.Event) {
	if t := c.run[ev.Step]; t != nil && ev.State != "note" {
		t.MarkAsDone()
		delete(c.run, ev.Step)
	}
	switch {
	case ev.Step == "" && ev.State == "end":
		c.line("%s", ev.Note)
	case ev.State == "note":
		c.line("%s", strings.TrimSpace(ev.Step+" "+ev.Note))
	case ev.Step == "" || ev.State == string(exec.Left):
	case ev.State == string(exec.Cached) && ev.Reason == "" && !c.a.verbose:
		// Only what happened is worth a line; the last one counts the rest.
	case ev.Error != "":
		c.line("%-44s %-8s %s", ev.Step, ev.State, strings.TrimPrefix(ev.Error, ev.Step+": "))
	case ev.State == string(exec.Done):
		c.line("%-44s %-8s %-7s  %s", ev.Step, ev.State, seconds(ev.Seconds), ev.Note)
	default:
		c.line("%-44s %-8s %s", ev.Step, ev.State, ev.Reason)
	}
}

func (c *console) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if c.bars != nil {
		c.bars.Log("%s", text)
		return
	}
	fmt.Fprintln(c.a.stderr, text)
}

// close takes the bars off the screen.
func (c *console) close() {
	if c.bars == nil {
		return
	}
	for _, t := range c.run {
		t.MarkAsDone()
	}
	c.bars.Stop()
	<-c.ended
}

func seconds(s float64) string {
	switch {
	case s < 0.0995:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	case s < 120:
		return fmt.Sprintf("%.0f s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// entry is what a ledger keeps of a candidate: that it was started and has to be
// stopped, or was stopped and has to be started again.
type entry struct {
	Candidate string   `json:"candidate"`
	Restore   bool     `json:"restore,omitempty"`
	Start     []string `json:"start"`
	Stop      []string `json:"stop,omitempty"`
	Dir       string   `json:"dir"`
	Group     int      `json:"group,omitempty"`    // process group of the start command
	Boot      string   `json:"boot,omitempty"`     // of the machine, by which a group is still this one
	Began     string   `json:"began,omitempty"`    // of the group's leader, in clock ticks since boot
	Campaign  string   `json:"campaign,omitempty"` // for messages
	GPUs      []string `json:"gpus,omitempty"`
}

func entryOf(h *Hooks, s Server, p *process, restore bool) entry {
	e := entry{Candidate: s.Candidate, Restore: restore, Start: s.Start, Stop: s.Stop, Dir: h.Dir, Campaign: h.Campaign, GPUs: s.GPUs}
	if p != nil {
		e.Group, e.Boot = p.cmd.Process.Pid, boot()
		e.Began, _ = began(e.Group)
	}
	return e
}

func (h *Hooks) write(e entry) error {
	b, err := json.Marshal(e)
	if err == nil {
		err = h.Ledger.Put(e.Candidate, b)
	}
	if err != nil {
		return fmt.Errorf("what is started for %s cannot be written down: %w", e.Candidate, err)
	}
	return nil
}

// Left is what an earlier run that died has left of a candidate.
type Left struct {
	Candidate string
	Restore   bool   // it was stopped and has to be started again; else it may still run
	Command   string // that does it, "" = none is known
}

// Left lists what earlier runs have left. It leaves out what a run that is alive
// works with.
func (h *Hooks) Left() ([]Left, error) {
	var out []Left
	err := h.eachLeft(func(e entry) error {
		l := Left{Candidate: e.Candidate, Restore: e.Restore, Command: words(e.Stop)}
		if e.Restore {
			l.Command = words(e.Start)
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

func (h *Hooks) eachLeft(f func(entry) error) error {
	all, err := h.Ledger.All()
	if err != nil {
		return outside(fmt.Errorf("what earlier runs have started cannot be read: %w", err))
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, ok := h.Servers[name]
		if !ok {
			s = Server{Candidate: name, Address: "candidate " + name}
		}
		release, err := h.lease(s)
		if err != nil {
			continue // another run is at it
		}
		var e entry
		if err := json.Unmarshal(all[name], &e); err != nil || e.Candidate != name {
			errs = append(errs, fmt.Errorf("what an earlier run has written down about %s cannot be read", name))
		} else {
			errs = append(errs, f(e))
		}
		release()
	}
	return errors.Join(errs...)
}

// Recover cleans up after runs that died: what they had started is stopped, and
// what they had stopped is started again by Finish.
func (h *Hooks) Recover(log Log) error {
	return h.eachLeft(func(e entry) error {
		if e.Restore {
			if _, ok := h.Servers[e.Candidate]; ok {
				log.Note("candidate %s was stopped by an earlier run that died; it is started again at the end", e.Candidate)
				h.displace(e.Candidate, true)
				return nil
			}
			return step.WithHint(outside(fmt.Errorf("candidate %s was stopped by an earlier run that died, and is no longer in the campaign", e.Candidate)),
				fmt.Sprintf("start it by hand, in %s: %s", e.Dir, words(e.Start)))
		}
		log.Note("candidate %s was started by an earlier run that died; stopping it first", e.Candidate)
		return h.recover(e, log)
	})
}

// recover stops with the command that the earlier run would have used.
func (h *Hooks) recover(e entry, log Log) error {
	s, ok := h.Servers[e.Candidate]
	if !ok {
		s = Server{Candidate: e.Candidate, Timeout: time.Minute}
	}
	s.Stop = e.Stop
	at := *h.commands(e.Dir)
	var err error
	if len(e.Stop) > 0 {
		err = at.command(s, "stop", e.Stop, log)
	}
	if e.group() {
		endGroup(e.Group, h.grace(), func() bool { return alive(e.Group) })
	}
	if err == nil && s.Look != nil {
		err = h.silence(s)
	}
	if err != nil {
		return step.WithHint(outside(fmt.Errorf("candidate %s, which an earlier run has started, could not be stopped: %w", e.Candidate, err)), byHand(&at, s, e.Stop))
	}
	return h.Ledger.Remove(e.Candidate)
}

// commands is a Hooks that runs commands in another folder.
func (h *Hooks) commands(dir string) *Hooks {
	return &Hooks{Campaign: h.Campaign, Dir: dir, Environ: h.Environ, Secrets: h.Secrets, Grace: h.Grace}
}

// group reports whether the process group of an entry is still the one that it
// was: its leader is the same process, or has ended and left others.
func (e entry) group() bool {
	if e.Group <= 1 || e.Boot == "" || e.Boot != boot() || !alive(e.Group) {
		return false
	}
	now, there := began(e.Group)
	return !there || now == e.Began && now != ""
}

// boot identifies the machine's present boot, "" where that is not known.
func boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux only
	return strings.TrimSpace(string(b))
}

// began says when a process began, and whether there is one that has not ended.
func began(pid int) (ticks string, there bool) {
	f := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if len(f) < 20 || f[0] == "Z" {
		return "", false
	}
	return f[19], true
}

package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// codeless are commands that only print what is inside the binary: they have no
// exit codes of their own to explain.
var codeless = []string{"cupel metrics", "cupel schema", "cupel version", "cupel status", "cupel log", "cupel store stats", "cupel research fields"}

// TestHelp walks all commands: each one that does something has two examples
// that are commands, the table of exit codes, and help by -h.
func TestHelp(t *testing.T) {
	root := (&app{}).root()
	n := 0
	walk(root, func(c *cobra.Command) {
		if c.Hidden || !c.Runnable() || c == root {
			return
		}
		n++
		name := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short text %q", name, c.Short)
		}
		if c.HasSubCommands() {
			return
		}
		examples := strings.Split(c.Example, "\n")
		if len(examples) != 2 {
			t.Errorf("%s: %d examples, want 2", name, len(examples))
		}
		for _, e := range examples {
			if e = strings.TrimSpace(e); !strings.HasPrefix(e, name) {
				t.Errorf("%s: example %q", name, e)
			}
			checkExample(t, e)
		}
		if !slices.Contains(codeless, name) && !strings.Contains(c.Long, exitCodeTable()) {
			t.Errorf("%s has no table of exit codes", name)
		}
		checkHelp(t, name)
	})
	if n < 15 {
		t.Errorf("only %d commands were found", n)
	}
}

func walk(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		walk(sub, f)
	}
}

// checkExample parses every command of an example line: its flags exist and its
// arguments are as many as the command takes.
func checkExample(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	for _, one := range strings.Split(line, " && ") {
		words := fields(one)
		if len(words) == 0 || words[0] != "cupel" {
			t.Errorf("example %q is not a command", one)
			continue
		}
		root := (&app{}).root()
		c, rest, err := root.Find(words[1:])
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("example %q: %v", one, err)
		}
	}
}

// fields splits a command line; single quotes keep words together.
func fields(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

func checkHelp(t *testing.T, name string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append(strings.Fields(name)[1:], "-h")
	if code := run(context.Background(), args, nil, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Errorf("%s -h: exit code %d, stderr %q", name, code, &stderr)
	}
	if !strings.Contains(stdout.String(), "Examples:") {
		t.Errorf("%s -h has no examples: %s", name, &stdout)
	}
}

// Command cupel-meter says what a machine is made of: its processors through the
// system, its NVIDIA GPUs through NVML. And it records their counters of energy. It is
// the only program here that is built with cgo; without cgo it says so, and the GPUs
// are unknown.
//
// It stands beside cupel, which starts it, or runs on the serving host by itself:
//
//	cupel-meter identify > host.json
//	cupel-meter sample --for 60s --out energy.trace.jsonl
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

// Exit codes: those of cupel that can occur here.
const (
	exitOK      = 0
	exitUsage   = 2
	exitOutside = 4
)

const exitCodeTable = `Exit codes:
  0    done
  2    wrong usage
  4    no GPU or domain, and it was required; or the trace cannot be written
`

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// meter is what the commands share. Results go to stdout, all else to stderr.
type meter struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run is main without the process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	m := &meter{stdin, stdout, stderr}
	root := m.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "cupel-meter: "+err.Error())
	if errors.Is(err, errOutside) {
		return exitOutside
	}
	return exitUsage
}

// errOutside marks what is not the user's mistake.
var errOutside = errors.New("outside")

func (m *meter) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "cupel-meter",
		Short:         "what this machine is made of and what it draws, for cupel",
		Long:          "cupel-meter says what a machine is made of, so that a result of one kind of GPU is\nnever taken for a result of another, and records what its counters of energy say.\n\n" + exitCodeTable,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(m.identifyCmd(), m.sampleCmd(), m.probeCmd(), m.serveCmd(), m.importCmd(), m.versionCmd())
	return root
}

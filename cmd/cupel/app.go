package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cupel-dev/cupel/engine/spec"
)

// app is what every command shares: streams and global flags. Results go to
// stdout, everything else to stderr.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	storeDir  string
	networkFS bool
	json      bool
	noColor   bool
	quiet     bool
	verbose   bool
}

// run is main without the process: tests call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	a.printError(err)
	return int(codeOf(err))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "cupel",
		Short: "decide a model, quantisation or engine swap from one spec file",
		Long: `cupel turns an LLM serving decision into a campaign file, runs it as
content-addressed steps (research, pin, preflight, measure, score, compare,
publish, decide) and answers a release pipeline with an exit code.

` + exitCodeTable(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.storeDir, "store", os.Getenv("CUPEL_STORE"), "store directory (default .cupel beside the campaign, or $CUPEL_STORE)")
	f.BoolVar(&a.networkFS, "allow-network-fs", false, "use a store on a network file system, where locks may not hold")
	f.BoolVar(&a.json, "json", false, "one JSON document (or one JSON line per event) on stdout")
	f.BoolVar(&a.noColor, "no-color", os.Getenv("NO_COLOR") != "", "no colour (also $NO_COLOR)")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "more detail")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fail(exitUsage, fmt.Errorf("%w; see '%s -h'", err, c.CommandPath()))
	})
	root.AddCommand(
		a.demoCmd(), a.initCmd(), a.checkCmd(), a.hashCmd(), a.planCmd(), a.runCmd(),
		a.explainCmd(), a.statusCmd(), a.logCmd(), a.showCmd(),
		a.gateCmd(), a.verifyCmd(), a.approveCmd(), a.replayCmd(), a.historyCmd(), a.evidenceCmd(),
		a.compareCmd(), a.powerCmd(), a.scoreCmd(), a.judgeCmd(), a.researchCmd(), a.pinCmd(), a.modelsCmd(),
		a.storeCmd(), a.suiteCmd(), a.itemsCmd(), a.schemaCmd(), a.metricsCmd(),
		a.overheadCmd(), a.doctorCmd(), a.versionCmd(), a.embeddedCmd(), a.loopbackCmd(),
	)
	return root
}

// printError is the one way in which an error reaches a person.
func (a *app) printError(err error) {
	var e *exitError
	switch {
	case err == nil, errors.As(err, &e) && e.err == nil:
		return
	}
	var many spec.Errors
	if errors.As(err, &many) {
		fmt.Fprintln(a.stderr, strings.TrimRight(many.Error(), "\n"))
		return
	}
	fmt.Fprintln(a.stderr, "cupel: "+err.Error())
}

// printJSON writes one indented document to stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printf writes a result to stdout.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }

// notef writes a remark to stderr, unless -q.
func (a *app) notef(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format, args...)
	}
}

// terminal reports whether w is a terminal that a person looks at.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colors returns the painter for stdout.
func (a *app) colors() painter { return painter(!a.noColor && terminal(a.stdout)) }

// painter colours text when true.
type painter bool

func (p painter) paint(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) green(s string) string  { return p.paint("32", s) }
func (p painter) red(s string) string    { return p.paint("31", s) }
func (p painter) yellow(s string) string { return p.paint("33", s) }
func (p painter) bold(s string) string   { return p.paint("1", s) }

// exactArgs refuses a wrong number of arguments in one sentence.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			return fail(exitUsage, fmt.Errorf("%s takes no arguments, got %d; see '%s -h'", c.CommandPath(), len(args), c.CommandPath()))
		}
		return fail(exitUsage, fmt.Errorf("%s takes %s, got %d argument(s); see '%s -h'", c.CommandPath(), strings.Join(names, " and "), len(args), c.CommandPath()))
	}
}

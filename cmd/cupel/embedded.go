package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/cmd/cupel/internal/tinyengine"
	"github.com/cupel-dev/cupel/engine/spec"
)

// embeddedScheme in a binding's URL asks for the engine inside this binary:
// embedded:tiny-f16.
const embeddedScheme = "embedded:"

// embeddedCmd is the hidden command that serves the embedded engine. It runs
// as a process of its own, so that the client's CPU time, by which a cell is
// judged client-bound, does not contain the engine's.
func (a *app) embeddedCmd() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:    "embedded-engine MODEL...",
		Short:  "serve the demonstration engine until standard input ends, or with --listen until it is told to end",
		Hidden: true,
		RunE: func(c *cobra.Command, names []string) error {
			// Ctrl-C reaches the whole group: requests in flight are to be finished.
			signal.Ignore(os.Interrupt)
			models, err := loadEmbedded(names)
			if err != nil {
				return fail(exitUsage, err)
			}
			srv, err := tinyengine.Start(context.Background(), cmp.Or(listen, "127.0.0.1:0"), models...)
			if err != nil {
				return fail(exitOutside, err)
			}
			defer srv.Close()
			a.printf("%s\n", srv.URL())
			if listen != "" { // as a server of its own: a campaign may start it
				<-c.Context().Done()
				return nil
			}
			_, err = io.Copy(io.Discard, a.stdin) // ends when the parent does, however it ends
			return err
		},
	}
	c.Flags().StringVar(&listen, "listen", "", "`address` to listen on, and not to mind standard input")
	return c
}

func loadEmbedded(names []string) ([]*tinyengine.Model, error) {
	files := tinyengine.Embedded()
	var models []*tinyengine.Model
	for _, name := range names {
		gguf, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("%s%s: no such embedded model; there are %s", embeddedScheme, name, strings.Join(tinyengine.Names(), ", "))
		}
		m, err := tinyengine.Load(name, gguf)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", embeddedScheme, name, err)
		}
		models = append(models, m)
	}
	return models, nil
}

// startEmbedded starts the engine with the models that the bindings name; nil
// when they name none.
func startEmbedded(bindings map[string]spec.Binding) (*child, error) {
	var names []string
	for _, b := range bindings {
		for _, address := range append([]string{b.URL}, b.Replicas...) {
			if name, ok := strings.CutPrefix(address, embeddedScheme); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return startChild("embedded engine", append([]string{"embedded-engine"}, names...)...)
}

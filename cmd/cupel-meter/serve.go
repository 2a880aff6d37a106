package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/meter/remote"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// serveOptions are the flags of cupel-meter serve.
type serveOptions struct {
	sourceOptions
	listen    remote.Listen
	tokenFile string
	atOnce    int
}

// tokenVariable names the variable that has the token of clients and server.
const tokenVariable = "CUPEL_METER_TOKEN"

func (m *meter) serveCmd() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "record for a cupel on another machine, over HTTP",
		Long: `Answer over HTTP: what can be read here, the wall clock, and recordings, which are made
while they are fetched. Beyond loopback it wants a token of at least 16 characters, from
$CUPEL_METER_TOKEN or --token-file, and TLS, or --insecure-plain-http.

It ends on SIGINT or SIGTERM, and ends its recordings before. docs/meter-remote.md
describes the requests.

` + exitCodeTable,
		Example: "  cupel-meter serve\n  cupel-meter serve --listen 0.0.0.0:9151 --token-file token --tls-cert cert.pem --tls-key key.pem",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return m.serve(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.listen.Address, "listen", "127.0.0.1:9151", "host and port to listen on")
	f.StringVar(&o.tokenFile, "token-file", "", "a file with the token that clients must send (also $CUPEL_METER_TOKEN)")
	f.StringVar(&o.listen.Cert, "tls-cert", "", "certificate chain, PEM")
	f.StringVar(&o.listen.Key, "tls-key", "", "private key, PEM")
	f.BoolVar(&o.listen.Plain, "insecure-plain-http", false, "beyond loopback without TLS: the token can be read on the way")
	f.IntVar(&o.atOnce, "recordings", 4, "recordings at a time, 1 to 64")
	o.flags(c, os.Getenv("CUPEL_NVML_LIBRARY"))
	return c
}

func (o *serveOptions) check() (err error) {
	switch {
	case o.atOnce < 1 || o.atOnce > 64:
		return fmt.Errorf("--recordings %d, want 1 to 64", o.atOnce)
	case o.Wall == "-":
		return errors.New("--wall - is for one recording: serve makes several")
	}
	if o.listen.Token, err = token(o.tokenFile); err != nil {
		return err
	}
	if err := o.listen.Check(); err != nil {
		return err
	}
	return o.sourceOptions.check()
}

// token reads the token from its file, or from the environment; "" = there is none.
func token(file string) (string, error) {
	if file == "" {
		t := os.Getenv(tokenVariable)
		if t != "" && !isToken(t) {
			return "", fmt.Errorf("$%s: %w", tokenVariable, errToken)
		}
		return t, nil
	}
	b, err := diskfile.Read(file, 4<<10)
	if err != nil {
		return "", fmt.Errorf("--token-file %w", err)
	}
	t := strings.TrimSpace(string(b))
	if !isToken(t) {
		return "", fmt.Errorf("--token-file %s: %w", file, errToken)
	}
	return t, nil
}

var errToken = errors.New("want one line of printable ASCII without spaces")

// isToken reports whether t can be sent in a header.
func isToken(t string) bool {
	return t != "" && !strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (m *meter) serve(ctx context.Context, o serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	sources, _, err := openSources(ctx, o.sourceOptions) // what is required is there, or it does not start
	if err := errors.Join(err, closeAll(sources)); err != nil {
		return err
	}
	l, err := o.listen.Open(ctx)
	if err != nil {
		return step.Mark(errOutside, fmt.Errorf("--listen: %w", err))
	}
	scheme := "http"
	if o.listen.Cert != "" {
		scheme = "https"
	}
	fmt.Fprintf(m.stderr, "cupel-meter: listening on %s://%s\n", scheme, l.Addr())
	h := remote.Handler(remote.ServerOptions{
		Version: "cupel-meter " + version, Token: o.listen.Token, AtOnce: o.atOnce, Done: ctx.Done(),
		Open: o.open, Record: record.Record,
		Describe: func(sources []source.Source, missing []trace.Missing) (any, error) {
			return m.listing(ctx, sources, missing)
		},
	})
	return step.Mark(errOutside, remote.Serve(ctx, l, h, log.New(m.stderr, "cupel-meter: ", 0)))
}

// open opens the sources of one recording. A client may name GPUs; where --gpu names
// some, only those.
func (o *serveOptions) open(ctx context.Context, gpus []string) ([]source.Source, []trace.Missing, error) {
	of := o.sourceOptions
	for _, g := range gpus {
		if len(o.GPUs) > 0 && !slices.Contains(o.GPUs, g) {
			return nil, nil, step.Mark(remote.ErrRequest, fmt.Errorf("%s is not among the GPUs that are served", g))
		}
	}
	if len(gpus) > 0 {
		of.GPUs = gpus
	}
	sources, missing, err := openSources(ctx, of)
	if err != nil && len(gpus) > 0 {
		err = step.Mark(remote.ErrRequest, err)
	}
	return sources, missing, err
}

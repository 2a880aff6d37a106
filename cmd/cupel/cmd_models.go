package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
	"github.com/cupel-dev/cupel/stages/pin/hub"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

func (a *app) modelsCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "models",
		Short: "model files by immutable identity: pull, verify, inventory, digest",
		Long: `Get the files of one commit of a model, list them with their digests, and show
later that they are still the same. docs/models.md says how the digest that
model.sha256 of a campaign may hold is computed.

` + exitCodeTable(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.modelsPullCmd(), a.modelsVerifyCmd(), a.modelsInventoryCmd(), a.modelsDigestCmd())
	return c
}

// hubOptions say which hub is asked, and as whom.
type hubOptions struct {
	endpoint string
	tokenEnv string
}

func (o *hubOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.endpoint, "endpoint", usualEndpoint(), "`URL` of the hub (also $HF_ENDPOINT)")
	c.Flags().StringVar(&o.tokenEnv, "token-env", "", "`NAME` of the environment variable that holds an access token; without it nobody's is sent")
}

func usualEndpoint() string {
	if e := os.Getenv("HF_ENDPOINT"); e != "" {
		return e
	}
	return hub.DefaultEndpoint
}

func (o *hubOptions) hub(client *fetch.Client) (*hub.Hub, error) {
	endpoint := strings.TrimRight(o.endpoint, "/")
	if err := fetch.CheckBase(endpoint); err != nil {
		return nil, fmt.Errorf("--endpoint: %w", err)
	}
	h := &hub.Hub{Client: client, Endpoint: endpoint}
	if o.tokenEnv == "" {
		return h, nil
	}
	h.Token = strings.TrimSpace(os.Getenv(o.tokenEnv))
	switch {
	case strings.Contains(o.tokenEnv, "hf_"):
		return nil, step.WithHint(errors.New("--token-env holds a token"), "give the name of an environment variable that holds it, and revoke this one: command lines are seen by others")
	case h.Token == "":
		return nil, fmt.Errorf("--token-env: $%s is empty", o.tokenEnv)
	case strings.ContainsFunc(h.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("--token-env: $%s holds something that is no token", o.tokenEnv)
	}
	return h, nil
}

// modelsError gives errors about model files their exit code.
func modelsError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fail(exitInterrupted, errors.New("interrupted; run the same command again to continue"))
	case errors.Is(err, hub.ErrUsage), errors.Is(err, inventory.ErrFolder):
		return fail(exitUsage, err)
	case errors.Is(err, hub.ErrConflict), errors.Is(err, inventory.ErrCorrupt), errors.Is(err, inventory.ErrUnfinished):
		return fail(exitFailed, err)
	}
	return fail(exitOutside, err)
}

// printDifferences lists how a folder differs from what it should be.
func (a *app) printDifferences(found []inventory.Finding) {
	for _, f := range found {
		a.printf("%-10s %s: %s\n", f.What, printable(f.Path), printable(f.Why))
	}
}

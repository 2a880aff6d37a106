package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/stages/pin/fetch"
	"github.com/cupel-dev/cupel/stages/pin/image"
)

type pinImageOptions struct {
	platform     string
	dockerConfig string
	campaign     string
}

// args wants a reference, or a campaign and none.
func (o *pinImageOptions) args(c *cobra.Command, args []string) error {
	if o.campaign != "" {
		return exactArgs()(c, args)
	}
	return exactArgs("REF")(c, args)
}

func (a *app) pinImageCmd() *cobra.Command {
	var o pinImageOptions
	c := &cobra.Command{
		Use:   "image [REF]",
		Short: "the digest that an image's tag stands for now, ready for engine.image",
		Long: `Ask the registry of an image for its manifest, compute the manifest's SHA-256 and
print NAME@sha256:DIGEST as engine.image of a campaign wants it. A reference that
has a digest already is checked to be there. Nothing but manifests is read.

For an image of several platforms the digest is that of the index, which is the
same on every machine; the platforms are listed on stderr, and --platform takes
the digest of one of them.

With --campaign the engine.image of every candidate and judge is asked for
instead; one that its registry does not have is exit code 1.

Public images need no credentials. With --docker-config (or $DOCKER_CONFIG) those
of its auths entry are used; credential helpers are not started.

` + exitCodeTable(),
		Example: `  cupel pin image vllm/vllm-openai:v0.11.0
  cupel pin image --campaign campaign.yaml --json`,
		Args: o.args,
		RunE: func(c *cobra.Command, args []string) error {
			if o.campaign != "" {
				return a.pinImages(c.Context(), o)
			}
			return a.pinImage(c.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.platform, "platform", "", "`os/architecture` to take from an index, such as linux/amd64")
	f.StringVar(&o.campaign, "campaign", "", "campaign `file` whose images are checked to be there")
	f.StringVar(&o.dockerConfig, "docker-config", usualDockerConfig(), "Docker configuration `file` with credentials (default config.json in $DOCKER_CONFIG)")
	return c
}

// usualDockerConfig is the file that DOCKER_CONFIG points to, "" when it is not
// set: the home directory is not looked at unasked.
func usualDockerConfig() string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(dir, "config.json")
	}
	return ""
}

func (a *app) pinImage(ctx context.Context, text string, o pinImageOptions) error {
	ref, r, err := a.resolveImage(ctx, text, o)
	if err != nil {
		return imageError(ctx, err)
	}
	if a.json {
		return a.printJSON(r)
	}
	if ref.Tag == "" && ref.Digest == "" {
		a.notef("no tag: latest was looked up\n")
	}
	if o.platform == "" {
		for _, p := range r.Platforms {
			a.notef("%-16s %s\n", p.Platform, p.Digest)
		}
	}
	a.printf("%s\n", r.Image)
	return nil
}

func (a *app) resolveImage(ctx context.Context, text string, o pinImageOptions) (ref image.Reference, r *image.Resolved, err error) {
	if ref, err = image.Parse(text); err != nil {
		return ref, nil, err
	}
	g := image.Registry{Client: a.fetcher(nil)}
	if o.dockerConfig != "" {
		if g.Credentials, err = image.LoadCredentials(o.dockerConfig, ref.Host); err != nil {
			return ref, nil, err
		}
	}
	r, err = g.Resolve(ctx, ref, o.platform)
	return ref, r, err
}

// imageError gives errors about images their exit code.
func imageError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fail(exitInterrupted, errors.New("interrupted"))
	case errors.Is(err, image.ErrReference), errors.Is(err, image.ErrPlatform):
		return fail(exitUsage, err)
	}
	return fail(exitOutside, err)
}

// fetcher asks hubs and registries; what is tried again is told, to tell or on
// stderr.
func (a *app) fetcher(tell func(string)) *fetch.Client {
	if tell == nil {
		tell = func(s string) { a.notef("%s\n", s) }
	}
	return fetch.New(fetch.Options{Notice: tell})
}

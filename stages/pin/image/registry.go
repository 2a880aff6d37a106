package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
)

// Registry is a server that holds images, and who asks it. It is for one
// reference at a time.
type Registry struct {
	Client      *fetch.Client
	Credentials Credentials

	host, authorization string
}

// Resolved is what a reference stands for now.
type Resolved struct {
	Image     string     `json:"image"`  // name@sha256:HEX, for engine.image
	Digest    string     `json:"digest"` // sha256:HEX
	MediaType string     `json:"mediaType"`
	Index     string     `json:"index,omitempty"`     // digest of the index, when a platform of it was asked for
	Platforms []Platform `json:"platforms,omitempty"` // of an index
}

var (
	// ErrPlatform marks a platform that an image does not have.
	ErrPlatform = errors.New("no such platform")
	// ErrMissing marks an image that its registry does not have.
	ErrMissing = errors.New("no such image")
)

const maxManifest = 8 << 20 // registries need not take more than 4 MiB

// Media types of manifests that are read.
const (
	ociIndex       = "application/vnd.oci.image.index.v1+json"
	ociManifest    = "application/vnd.oci.image.manifest.v1+json"
	dockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
)

// Resolve asks what r stands for. The digest is computed over the manifest that
// the registry sends, and must be the one it was asked for or says itself.
// platform, such as linux/amd64, chooses from an index; "" takes the index.
func (g *Registry) Resolve(ctx context.Context, r Reference, platform string) (*Resolved, error) {
	g.host = r.Host
	digest := r.Digest
	if digest == "" {
		digest = g.head(ctx, r)
	}
	m, err := g.manifest(ctx, r, digest)
	if err != nil {
		return nil, err
	}
	out := &Resolved{Image: r.Pinned(m.digest), Digest: m.digest, MediaType: m.MediaType, Platforms: m.platforms()}
	if platform == "" {
		return out, nil
	}
	return g.choose(ctx, r, out, platform)
}

// choose takes one platform's manifest, and makes sure that it is there.
func (g *Registry) choose(ctx context.Context, r Reference, of *Resolved, platform string) (*Resolved, error) {
	digest, err := pick(of.Platforms, platform)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.Image, err)
	}
	m, err := g.manifest(ctx, r, digest)
	if err != nil {
		return nil, err
	}
	return &Resolved{Image: r.Pinned(m.digest), Digest: m.digest, MediaType: m.MediaType, Index: of.Digest, Platforms: of.Platforms}, nil
}

// head asks for the digest of a tag. "" = the registry does not say; then the
// manifest itself does.
func (g *Registry) head(ctx context.Context, r Reference) string {
	resp, err := g.ask(ctx, http.MethodHead, r, r.tag())
	if err != nil {
		return "" // what is wrong, the GET will say
	}
	resp.Body.Close()
	if d := resp.Header.Get("Docker-Content-Digest"); digestForm.MatchString(d) {
		return d
	}
	return ""
}

func (r Reference) tag() string {
	if r.Tag == "" {
		return "latest"
	}
	return r.Tag
}

// manifest gets a manifest by its digest, or by the tag when digest is "", and
// checks it.
func (g *Registry) manifest(ctx context.Context, r Reference, digest string) (*manifest, error) {
	at := digest
	if at == "" {
		at = r.tag()
	}
	resp, b, err := g.read(ctx, r, at)
	if err != nil {
		return nil, g.missing(err, r, at)
	}
	m, err := parseManifest(b, resp.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", resp.Place(), err)
	}
	said := resp.Header.Get("Docker-Content-Digest")
	if strings.HasPrefix(said, "sha512:") {
		said = "" // of the same bytes, by another hash
	}
	for _, want := range []string{digest, said} {
		if want != "" && want != m.digest {
			return nil, step.WithHint(fmt.Errorf("%s: asked for %s, the manifest that was sent has %s", resp.Place(), fetch.Words(want, ""), m.digest), "a proxy may change answers; nothing was pinned")
		}
	}
	return m, nil
}

// read gets one manifest, and tries again where that may help.
func (g *Registry) read(ctx context.Context, r Reference, at string) (resp *fetch.Response, b []byte, err error) {
	err = g.Client.Retry(ctx, "", func() (bool, error) {
		if resp, err = g.ask(ctx, http.MethodGet, r, at); err != nil {
			return false, err
		}
		b, err = resp.ReadAll(maxManifest)
		return false, err
	})
	return resp, b, err
}

// missing says what a 404 means.
func (g *Registry) missing(err error, r Reference, at string) error {
	if s, ok := errors.AsType[*fetch.Status](err); ok && s.Code == http.StatusNotFound {
		return step.Mark(ErrMissing, step.WithHint(fmt.Errorf("%s has no %s of %s: %w", r.Host, at, r.Name, err), "check the name and the tag; registries may have deleted an old digest"))
	}
	return err
}

// ask sends one request, authenticates once when it is refused, and sends it
// again.
func (g *Registry) ask(ctx context.Context, method string, r Reference, at string) (*fetch.Response, error) {
	req := fetch.Request{Method: method, URL: g.base() + "/v2/" + r.Name + "/manifests/" + at, Authorization: g.authorization, Header: http.Header{
		"Accept": {ociIndex, dockerList, ociManifest, dockerManifest},
	}}
	resp, err := g.Client.Do(ctx, req)
	s, refused := errors.AsType[*fetch.Status](err)
	if !refused || s.Code != http.StatusUnauthorized {
		return resp, err
	}
	if g.authorization, err = g.answer(ctx, s, r.Name); err != nil {
		return nil, err
	}
	req.Authorization = g.authorization
	resp, err = g.Client.Do(ctx, req)
	if s, refused := errors.AsType[*fetch.Status](err); refused && (s.Code == http.StatusUnauthorized || s.Code == http.StatusForbidden) {
		return nil, g.refused(s, r.Name)
	}
	return resp, err
}

func (g *Registry) base() string {
	if fetch.Loopback(g.host) {
		return "http://" + g.host
	}
	return "https://" + g.host
}

package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
)

// manifest is the part of an image manifest or an index that is read.
type manifest struct {
	Schema    int    `json:"schemaVersion"`
	MediaType string `json:"mediaType"`
	Manifests []struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Platform  *struct {
			OS           string `json:"os"`
			Architecture string `json:"architecture"`
			Variant      string `json:"variant"`
		} `json:"platform"`
	} `json:"manifests"`
	Config *struct {
		Digest string `json:"digest"`
	} `json:"config"`

	digest string // of the bytes that were sent
}

// Platform is one image of an index.
type Platform struct {
	Platform string `json:"platform"` // os/architecture[/variant]
	Digest   string `json:"digest"`
}

// parseManifest reads a manifest and says which digest its bytes have. A
// document that leaves its media type out has that of the answer.
func parseManifest(b []byte, contentType string) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, errors.New("the answer is no manifest: it is not JSON")
	}
	kind, _, _ := strings.Cut(contentType, ";")
	if m.MediaType == "" {
		m.MediaType = fetch.Words(kind, "")
	}
	switch {
	case m.Schema == 1:
		return nil, step.WithHint(errors.New("a manifest of schema 1, whose digest is not of its bytes"), "push the image again with a newer tool")
	case m.Schema != 2 || m.Config == nil && m.Manifests == nil:
		return nil, errors.New("the answer is no image manifest and no index")
	}
	sum := sha256.Sum256(b)
	m.digest = "sha256:" + hex.EncodeToString(sum[:])
	return &m, nil
}

// platforms lists the images of an index, nil for a single image. Attestations
// stand in an index as images for the platform unknown/unknown.
func (m *manifest) platforms() (out []Platform) {
	for _, d := range m.Manifests {
		if d.Platform == nil || d.Platform.OS == "unknown" || !digestForm.MatchString(d.Digest) {
			continue
		}
		name := d.Platform.OS + "/" + d.Platform.Architecture
		if d.Platform.Variant != "" {
			name += "/" + d.Platform.Variant
		}
		out = append(out, Platform{fetch.Words(name, ""), d.Digest})
	}
	return out
}

// pick finds a platform. Without its variant a name stands for the only one
// that begins with it.
func pick(all []Platform, want string) (string, error) {
	var names, found []string
	for _, p := range all {
		if p.Platform == want {
			return p.Digest, nil
		}
		names = append(names, p.Platform)
		if strings.HasPrefix(p.Platform, want+"/") {
			found = append(found, p.Digest)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(all) == 0:
		return "", step.Mark(ErrPlatform, step.WithHint(errors.New("it is one image and no index, and does not say for which platform"), "leave --platform out"))
	}
	return "", step.Mark(ErrPlatform, step.WithHint(fmt.Errorf("it has no one image for %q", want), "it has "+strings.Join(names, ", ")))
}

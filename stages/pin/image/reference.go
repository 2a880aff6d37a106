package image

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// ErrReference marks a reference that cannot be read.
var ErrReference = errors.New("bad reference")

// Reference names an image: [HOST/]NAME[:TAG][@sha256:HEX].
type Reference struct {
	Named  string // host and name as they were written
	Host   string // of the registry, with its port
	Name   string // in the registry
	Tag    string // "" = none was written
	Digest string // sha256:HEX, "" = none was written
}

const (
	dockerHub  = "docker.io"
	dockerHost = "registry-1.docker.io"
)

// The grammar of the distribution project; a name in the registry is at most
// 255 characters with its host.
var (
	hostForm   = regexp.MustCompile(`^(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:]+\](?::[0-9]{1,5})?$`)
	nameForm   = regexp.MustCompile(`^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$`)
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Parse reads a reference. A name without a host is one of docker.io, and one
// without a slash there belongs to library/.
func Parse(s string) (Reference, error) {
	var r Reference
	rest, digest, hasDigest := strings.Cut(s, "@")
	if hasDigest && !digestForm.MatchString(digest) {
		return r, bad(s, fmt.Sprintf("%q is no digest", digest), "want sha256: and 64 lower-case hexadecimal digits")
	}
	r.Digest = digest
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, '/') {
		rest, r.Tag = rest[:i], rest[i+1:]
		if !tagForm.MatchString(r.Tag) {
			return r, bad(s, fmt.Sprintf("%q is no tag", r.Tag), "a tag has up to 128 letters, digits, _, . and -")
		}
	}
	r.Named, r.Host, r.Name = rest, dockerHub, rest
	if host, name, ok := strings.Cut(rest, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		r.Host, r.Name = host, name
	}
	if !hostForm.MatchString(r.Host) {
		return r, bad(s, fmt.Sprintf("%q is no host", r.Host), "write HOST[:PORT]/NAME:TAG, without https://")
	}
	if !nameForm.MatchString(r.Name) || len(rest) > 255 {
		return r, bad(s, fmt.Sprintf("%q is no name of an image", r.Name), "write NAME:TAG or HOST/NAME:TAG; names are of small letters, digits, and . _ - between them")
	}
	r.atDockerHub()
	return r, nil
}

func (r *Reference) atDockerHub() {
	if r.Host != dockerHub && r.Host != "index.docker.io" {
		return
	}
	r.Host = dockerHost
	if !strings.Contains(r.Name, "/") {
		r.Name = "library/" + r.Name
	}
}

func bad(s, why, todo string) error {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return step.Mark(ErrReference, step.WithHint(fmt.Errorf("image %q: %s", s, why), todo))
}

// Pinned writes the reference with a digest, as engine.image of a campaign wants
// it.
func (r Reference) Pinned(digest string) string { return r.Named + "@" + digest }

package llm

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// place is where an endpoint's calls go.
type place struct {
	base string // as given, without a trailing slash
	root string // base without a final /v1: where Ollama's API and /props live
	v1   bool   // the path ends in /v1
}

// parseURL checks a base URL. Its errors never repeat user information, which
// may be a password.
func parseURL(raw string) (place, error) {
	const hint = "write it like http://127.0.0.1:8000/v1 (OpenAI-compatible) or http://127.0.0.1:11434 (Ollama)"
	fail := func(format string, args ...any) (place, error) {
		return place{}, step.WithHint(fmt.Errorf("endpoint URL: "+format, args...), hint)
	}
	if strings.TrimSpace(raw) == "" {
		return fail("it is empty")
	}
	u, err := url.Parse(raw)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // without the URL itself
		}
		return fail("it does not parse: %w", err)
	}
	switch {
	case u.User != nil:
		return place{}, step.WithHint(errors.New("endpoint URL: it holds a user name or password"),
			"put the key into an environment variable and name that in apiKeyEnv")
	case u.Scheme != "http" && u.Scheme != "https":
		return fail("scheme %q in %q is not http or https", u.Scheme, raw)
	case u.Hostname() == "":
		return fail("%q names no host", raw)
	case u.RawQuery != "" || u.ForceQuery:
		return fail("%q has a query", strings.SplitN(raw, "?", 2)[0])
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return fail("%q has a fragment", strings.SplitN(raw, "#", 2)[0])
	}
	base := strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	root, v1 := strings.CutSuffix(base, "/v1")
	return place{base: base, root: root, v1: v1}, nil
}

// openAI returns the place with /v1 added when the URL has no path at all:
// every OpenAI-compatible server puts its API there.
func (p place) openAI() place {
	if _, rest, _ := strings.Cut(p.base, "://"); strings.Contains(rest, "/") {
		return p
	}
	return place{base: p.base + "/v1", root: p.base, v1: true}
}

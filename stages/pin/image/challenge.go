package image

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
)

// challenge is one way to authenticate, of a WWW-Authenticate header.
type challenge struct {
	scheme string // lower case
	params map[string]string
}

// parseChallenges reads the values of WWW-Authenticate (RFC 9110, 11.6.1):
// schemes, each with parameters, parted by commas. What cannot be read ends the
// list.
func parseChallenges(values []string) (out []challenge) {
	for _, s := range values {
		for s = skip(s); s != ""; s = skip(s) {
			word, rest := token(s)
			if word == "" {
				break
			}
			if value, after, ok := parameter(rest); ok && len(out) > 0 {
				out[len(out)-1].params[strings.ToLower(word)] = value
				s = after
				continue
			}
			out = append(out, challenge{strings.ToLower(word), map[string]string{}})
			s = rest
		}
	}
	return out
}

func skip(s string) string { return strings.TrimLeft(s, " \t,") }

// token cuts a word off.
func token(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t,=\"")
	if i < 0 {
		i = len(s)
	}
	return s[:i], s[i:]
}

// parameter reads = and a token or a quoted string.
func parameter(s string) (value, rest string, ok bool) {
	s, ok = strings.CutPrefix(strings.TrimLeft(s, " \t"), "=")
	if !ok {
		return "", s, false
	}
	s = strings.TrimLeft(s, " \t")
	if !strings.HasPrefix(s, `"`) {
		value, rest = token(s)
		return value, rest, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), "", true
}

// answer turns a refusal into the Authorization of the next try.
func (g *Registry) answer(ctx context.Context, s *fetch.Status, name string) (string, error) {
	all := parseChallenges(s.Origin.Values("WWW-Authenticate"))
	for _, c := range all {
		if c.scheme == "bearer" {
			return g.bearer(ctx, c, name)
		}
	}
	for _, c := range all {
		if c.scheme == "basic" && g.Credentials.User != "" {
			return g.basic(), nil
		}
	}
	return "", g.refused(s, name)
}

func (g *Registry) basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(g.Credentials.User+":"+g.Credentials.Password))
}

// bearer gets a token from the server that the registry names.
func (g *Registry) bearer(ctx context.Context, c challenge, name string) (string, error) {
	at, err := url.Parse(c.params["realm"])
	if err != nil || at.Host == "" {
		return "", fmt.Errorf("%s: the registry wants a token and does not say from where", g.host)
	}
	if at.Scheme != "https" && !(fetch.Loopback(at.Host) && fetch.Loopback(g.host)) {
		return "", fmt.Errorf("%s: the registry wants a token from %s, which is not https", g.host, fetch.Words(at.Redacted(), ""))
	}
	q := at.Query()
	if s := c.params["service"]; s != "" {
		q.Set("service", s)
	}
	scope := c.params["scope"]
	if scope == "" {
		scope = "repository:" + name + ":pull"
	}
	q.Del("scope")
	for _, one := range strings.Fields(scope) {
		q.Add("scope", one)
	}
	at.RawQuery = q.Encode()
	r := fetch.Request{URL: at.String()}
	if g.Credentials.User != "" {
		r.Authorization = g.basic()
	}
	return g.token(ctx, r, name)
}

func (g *Registry) token(ctx context.Context, r fetch.Request, name string) (string, error) {
	b, resp, err := g.Client.JSON(ctx, r, 1<<20)
	if s, ok := errors.AsType[*fetch.Status](err); ok && (s.Code == http.StatusUnauthorized || s.Code == http.StatusForbidden) {
		return "", g.refused(s, name)
	}
	if err != nil {
		return "", err
	}
	var doc struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return "", fmt.Errorf("%s: the answer is no token", resp.Place())
	}
	if doc.Token == "" {
		doc.Token = doc.Access
	}
	if doc.Token == "" || strings.ContainsAny(doc.Token, " \r\n") {
		return "", fmt.Errorf("%s: the answer holds no token", resp.Place())
	}
	return "Bearer " + doc.Token, nil
}

// refused says what to do where nobody is let in.
func (g *Registry) refused(s *fetch.Status, name string) error {
	todo := "check the name; a private image needs --docker-config with credentials for " + g.host
	if g.Credentials != (Credentials{}) {
		todo = "check the name, and that these credentials may read it"
	}
	return step.WithHint(fmt.Errorf("%s at %s is refused or does not exist: %w", name, g.host, s), todo)
}

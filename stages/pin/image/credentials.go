package image

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
)

// Credentials are a name and a password for one registry. The zero value is
// nobody.
type Credentials struct{ User, Password string }

const maxConfig = 1 << 20

// LoadCredentials reads the credentials of a registry from a Docker
// configuration file. Credential helpers are programs, and are not started.
func LoadCredentials(file, host string) (Credentials, error) {
	f, err := os.Open(file)
	if err != nil {
		return Credentials{}, step.Mark(ErrReference, fmt.Errorf("docker config: %w", err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return Credentials{}, fmt.Errorf("docker config: %w", err)
	}
	c, err := credentialsIn(b, host)
	if err != nil {
		return c, step.Mark(ErrReference, fmt.Errorf("docker config %s: %w", file, err))
	}
	return c, nil
}

type dockerConfig struct {
	Auths map[string]struct {
		Auth          string `json:"auth"`
		Username      string `json:"username"`
		Password      string `json:"password"`
		IdentityToken string `json:"identitytoken"`
	} `json:"auths"`
	Helpers map[string]string `json:"credHelpers"`
	Store   string            `json:"credsStore"`
}

// credentialsIn finds the entry of a host; none is no error.
func credentialsIn(b []byte, host string) (Credentials, error) {
	var c dockerConfig
	if err := json.Unmarshal(b, &c); err != nil {
		return Credentials{}, fmt.Errorf("not readable: %s", withoutContent(err))
	}
	for _, name := range namesOf(host) {
		a, ok := c.Auths[name]
		if !ok {
			continue
		}
		if a.IdentityToken != "" {
			return Credentials{}, step.WithHint(fmt.Errorf("credentials of %s are an identity token, which is not read", name), "log in with a name and a password or access token")
		}
		out := Credentials{a.Username, a.Password}
		if a.Auth != "" {
			plain, err := base64.StdEncoding.DecodeString(strings.TrimRight(a.Auth, "\x00"))
			user, password, ok := strings.Cut(string(plain), ":")
			if err != nil || !ok {
				return Credentials{}, fmt.Errorf("auth of %s is not the base64 of name:password", name)
			}
			out.User, out.Password = user, strings.TrimRight(password, "\x00")
		}
		if out != (Credentials{}) {
			return out, nil
		}
	}
	return Credentials{}, c.helper(host)
}

// helper says that the credentials are where this program does not look.
func (c dockerConfig) helper(host string) error {
	program := c.Store
	for _, name := range namesOf(host) {
		if p := c.Helpers[name]; p != "" {
			program = p
		}
	}
	if program == "" {
		return nil
	}
	return step.WithHint(fmt.Errorf("credentials of %s are kept by docker-credential-%s, which is not started", host, program),
		"leave --docker-config out for a public image, or give a file with an auths entry")
}

// namesOf are the spellings of a host in such files.
func namesOf(host string) []string {
	if host == dockerHost {
		return []string{"https://index.docker.io/v1/", "index.docker.io", dockerHub, host, "https://" + host}
	}
	return []string{host, "https://" + host, "https://" + host + "/", "https://" + host + "/v2/", "https://" + host + "/v1/"}
}

// withoutContent keeps what a JSON error may quote, a password, to itself.
func withoutContent(err error) string {
	s := err.Error()
	if i := strings.Index(s, ` "`); i > 0 {
		s = s[:i]
	}
	return s
}

package image

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"

	"github.com/cupel-dev/cupel/stages/pin/fetch"
)

// registry is a real registry in the test's own process, behind a handler that
// may refuse or change things.
type registry struct {
	t       *testing.T
	handler http.Handler
	host    string
	// Digests of what was pushed.
	single, amd64, arm64, index string
	change                      func(w http.ResponseWriter, r *http.Request) bool // true: answered
	log                         []string
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	reg := ocimem.New()
	g := &registry{t: t, handler: ociserver.New(reg, nil)}
	put := func(tag, mediaType string, doc map[string]any) string {
		t.Helper()
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		d, err := reg.PushManifest(t.Context(), "org/engine", tag, b, mediaType)
		if err != nil {
			t.Fatal(err)
		}
		return string(d.Digest)
	}
	image := func(tag, arch string) string {
		config := []byte(fmt.Sprintf(`{"os":"linux","architecture":%q}`, arch))
		sum := sha256.Sum256(config)
		desc := ociregistry.Descriptor{MediaType: "application/vnd.oci.image.config.v1+json", Digest: ociregistry.Digest("sha256:" + hex.EncodeToString(sum[:])), Size: int64(len(config))}
		if _, err := reg.PushBlob(t.Context(), "org/engine", desc, bytes.NewReader(config)); err != nil {
			t.Fatal(err)
		}
		return put(tag, ociManifest, map[string]any{"schemaVersion": 2, "mediaType": ociManifest, "config": desc, "layers": []any{}})
	}
	g.single, g.amd64, g.arm64 = image("one", "s390x"), image("", "amd64"), image("", "arm64")
	entry := func(digest, os, arch, variant string) map[string]any {
		p := map[string]any{"os": os, "architecture": arch}
		if variant != "" {
			p["variant"] = variant
		}
		return map[string]any{"mediaType": ociManifest, "digest": digest, "size": 1, "platform": p}
	}
	g.index = put("latest", ociIndex, map[string]any{"schemaVersion": 2, "mediaType": ociIndex, "manifests": []any{
		entry(g.amd64, "linux", "amd64", ""), entry(g.arm64, "linux", "arm64", "v8"), entry(g.single, "unknown", "unknown", ""),
	}})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.log = append(g.log, r.Method+" "+r.URL.Path)
		if g.change == nil || !g.change(w, r) {
			g.handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	g.host = strings.TrimPrefix(s.URL, "http://")
	return g
}

func (g *registry) resolve(ref, platform string, c Credentials) (*Resolved, error) {
	g.t.Helper()
	r, err := Parse(g.host + "/" + ref)
	if err != nil {
		g.t.Fatal(err)
	}
	client := fetch.New(fetch.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	return (&Registry{Client: client, Credentials: c}).Resolve(g.t.Context(), r, platform)
}

func TestResolve(t *testing.T) {
	g := newRegistry(t)
	for _, c := range []struct{ ref, platform, want, err string }{
		{"org/engine:one", "", g.single, ""},
		{"org/engine", "", g.index, ""},
		{"org/engine:latest", "linux/amd64", g.amd64, ""},
		{"org/engine", "linux/arm64/v8", g.arm64, ""},
		{"org/engine", "linux/arm64", g.arm64, ""},
		{"org/engine@" + g.arm64, "", g.arm64, ""},
		{"org/engine:gone@" + g.single, "", g.single, ""},
		{"org/engine@" + g.index, "linux/amd64", g.amd64, ""},
		{"org/engine", "linux/riscv64", "", "it has linux/amd64, linux/arm64/v8"},
		{"org/engine:one", "linux/amd64", "", "leave --platform out"},
		{"org/engine:gone", "", "", "has no gone of org/engine"},
		{"org/other", "", "", "has no latest of org/other"},
		{"org/engine@sha256:" + strings.Repeat("0", 64), "", "", "registries may have deleted an old digest"},
	} {
		got, err := g.resolve(c.ref, c.platform, Credentials{})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %s: %v, want %s", c.ref, c.platform, err, c.err)
			}
		case err != nil || got.Digest != c.want || got.Image != g.host+"/org/engine@"+c.want:
			t.Errorf("%s %s: %+v, %v; want %s", c.ref, c.platform, got, err, c.want)
		}
	}
	got, err := g.resolve("org/engine", "linux/amd64", Credentials{})
	if err != nil || got.Index != g.index || len(got.Platforms) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestToken: the registry wants a token, and names who gives it.
func TestToken(t *testing.T) {
	g := newRegistry(t)
	var asked []string
	auth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		if user, password, ok := r.BasicAuth(); ok && (user != "me" || password != "secret") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"access_token":"t0ken","expires_in":60}`)
	}))
	defer auth.Close()
	header := fmt.Sprintf(`Bearer realm="%s/token",service="registry.example.com",scope="repository:org/engine:pull"`, auth.URL)
	g.change = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer t0ken" {
			return false
		}
		w.Header().Set("WWW-Authenticate", header)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	for _, c := range []Credentials{{}, {User: "me", Password: "secret"}} {
		asked = nil
		got, err := g.resolve("org/engine", "", c)
		if err != nil || got.Digest != g.index || len(asked) != 1 || asked[0] != "scope=repository%3Aorg%2Fengine%3Apull&service=registry.example.com" {
			t.Errorf("%+v, %v, %v", got, err, asked)
		}
	}
	if _, err := g.resolve("org/engine", "", Credentials{User: "me", Password: "wrong-password"}); err == nil || !strings.Contains(err.Error(), "these credentials may read it") || strings.Contains(err.Error(), "wrong-password") {
		t.Error(err)
	}
	header = `Bearer realm="http://auth.example.com/token"`
	if _, err := g.resolve("org/engine", "", Credentials{User: "me", Password: "secret"}); err == nil || !strings.Contains(err.Error(), "which is not https") {
		t.Error(err)
	}
	header = `Negotiate`
	if _, err := g.resolve("org/engine", "", Credentials{}); err == nil || !strings.Contains(err.Error(), "needs --docker-config") {
		t.Error(err)
	}
}

func TestBasic(t *testing.T) {
	g := newRegistry(t)
	g.change = func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	if got, err := g.resolve("org/engine", "", Credentials{User: "me", Password: "secret"}); err != nil || got.Digest != g.index {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := g.resolve("org/engine", "", Credentials{User: "me", Password: "wrong"}); err == nil {
		t.Error("wrong credentials")
	}
}

// recorded answers from the registry and lets a test change the answer.
func (g *registry) recorded(w http.ResponseWriter, r *http.Request, change func(*httptest.ResponseRecorder)) {
	rec := httptest.NewRecorder()
	g.handler.ServeHTTP(rec, r)
	change(rec)
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

func TestRegistryFaults(t *testing.T) {
	failing := 0
	for name, c := range map[string]struct {
		change func(g *registry, w http.ResponseWriter, r *http.Request) bool
		want   string // "" = the index all the same
	}{
		"no header": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			g.recorded(w, r, func(rec *httptest.ResponseRecorder) { rec.Header().Del("Docker-Content-Digest") })
			return true
		}, ""},
		"no HEAD": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			return r.Method == http.MethodHead
		}, ""},
		"busy": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			if failing++; failing%3 == 0 {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, ""},
		"changed on the way": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			g.recorded(w, r, func(rec *httptest.ResponseRecorder) { rec.Body.WriteString(" ") })
			return true
		}, "a proxy may change answers; nothing was pinned"},
		"no JSON": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprint(w, "<html>")
			return true
		}, "no manifest"},
		"schema 1": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprint(w, `{"schemaVersion":1,"fsLayers":[]}`)
			return true
		}, "schema 1"},
		"something else": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprint(w, `{"schemaVersion":2}`)
			return true
		}, "no image manifest and no index"},
		"endless": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			for r.Method == http.MethodGet && r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					break
				}
			}
			return true
		}, "answer of more than"},
		"forbidden": {func(g *registry, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, "403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			g.change = func(w http.ResponseWriter, r *http.Request) bool { return c.change(g, w, r) }
			got, err := g.resolve("org/engine", "", Credentials{})
			switch {
			case c.want == "" && (err != nil || got.Digest != g.index):
				t.Errorf("%+v, %v", got, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	for s, want := range map[string]Reference{
		"nginx":                                    {"nginx", dockerHost, "library/nginx", "", ""},
		"vllm/vllm-openai:v0.11.0":                 {"vllm/vllm-openai", dockerHost, "vllm/vllm-openai", "v0.11.0", ""},
		"docker.io/nginx:1":                        {"docker.io/nginx", dockerHost, "library/nginx", "1", ""},
		"ghcr.io/a/b/c:x@sha256:" + hex:            {"ghcr.io/a/b/c", "ghcr.io", "a/b/c", "x", "sha256:" + hex},
		"localhost:5000/a":                         {"localhost:5000/a", "localhost:5000", "a", "", ""},
		"localhost/a__b-c.d":                       {"localhost/a__b-c.d", "localhost", "a__b-c.d", "", ""},
		"[::1]:5000/a:t":                           {"[::1]:5000/a", "[::1]:5000", "a", "t", ""},
		"registry.example.com:443/a@sha256:" + hex: {"registry.example.com:443/a", "registry.example.com:443", "a", "", "sha256:" + hex},
	} {
		if got, err := Parse(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "A", "a:", ":a", "a@", "a@sha256:1", "a@md5:" + hex, "https://ghcr.io/a", "ghcr.io/", "/a", "a//b", "a/../b", "-host.io/a", "a b", "a\n", "a:t:u", "ghcr.io/a?x", "ghcr.io/a#x", "u:p@ghcr.io/a", "a@sha256:" + strings.ToUpper(hex), strings.Repeat("a", 256), "a:" + strings.Repeat("t", 129)} {
		if _, err := Parse(s); !errors.Is(err, ErrReference) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		user   string
		err    string
	}{
		"auth":      {`{"auths":{"ghcr.io":{"auth":"bWU6c2VjcmV0"}}}`, "me", ""},
		"address":   {`{"auths":{"https://ghcr.io/v2/":{"auth":"bWU6c2VjcmV0"}}}`, "me", ""},
		"plain":     {`{"auths":{"ghcr.io":{"username":"me","password":"secret"}}}`, "me", ""},
		"other":     {`{"auths":{"quay.io":{"auth":"bWU6c2VjcmV0"}}}`, "", ""},
		"none":      {`{}`, "", ""},
		"no base64": {`{"auths":{"ghcr.io":{"auth":"???"}}}`, "", "not the base64"},
		"no JSON":   {`{"auths":{"ghcr.io":{"auth":"c2VjcmV0`, "", "not readable"},
		"store":     {`{"credsStore":"desktop","auths":{"ghcr.io":{}}}`, "", "docker-credential-desktop, which is not started"},
		"helper":    {`{"credHelpers":{"ghcr.io":"gh"}}`, "", "docker-credential-gh"},
		"identity":  {`{"auths":{"ghcr.io":{"auth":"bWU6","identitytoken":"x"}}}`, "", "identity token"},
	} {
		got, err := credentialsIn([]byte(c.config), "ghcr.io")
		if got.User != c.user || (err != nil) != (c.err != "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "c2VjcmV0")) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"nginx", "ghcr.io/a/b:t@sha256:" + strings.Repeat("0", 64), "[::1]:5/a", "localhost/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(r.Pinned("sha256:" + strings.Repeat("0", 64)))
		if err != nil || again.Host != r.Host || again.Name != r.Name {
			t.Errorf("%q: %+v, then %+v, %v", s, r, again, err)
		}
	})
}

func FuzzChallenges(f *testing.F) {
	f.Add(`Bearer realm="https://a/b",service="c", scope="d e" , Basic realm=x`)
	f.Add(`Basic`)
	f.Add(`Bearer realm="a\"b`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range parseChallenges([]string{s}) {
			if c.scheme == "" {
				t.Errorf("%q: a scheme without a name", s)
			}
		}
	})
}

func TestChallenges(t *testing.T) {
	got := fmt.Sprint(parseChallenges([]string{`Bearer realm="https://a/b?c=d,e",service=f, scope="g \"h\"", Basic realm="x"`, `Negotiate`}))
	want := `[{bearer map[realm:https://a/b?c=d,e scope:g "h" service:f]} {basic map[realm:x]} {negotiate map[]}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"x"}}`), "application/json")
	f.Fuzz(func(t *testing.T, b []byte, ct string) {
		if m, err := parseManifest(b, ct); err == nil {
			m.platforms()
		}
	})
}

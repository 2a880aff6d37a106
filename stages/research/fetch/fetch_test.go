package fetch

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// served starts a server on loopback and a client that may reach it.
func served(t *testing.T, h http.HandlerFunc) (*httptest.Server, Client) {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	tr := srv.Client().Transport.(*http.Transport).Clone()
	return srv, Client{allow: func(netip.Addr) error { return nil }, transport: tr}
}

func TestGet(t *testing.T) {
	srv, c := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new#top", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		fmt.Fprint(w, "model,tok/s\n")
	})
	p, err := c.Get(context.Background(), srv.URL+"/old")
	if err != nil || p.FinalURL != srv.URL+"/new" || p.ContentType != "text/csv; charset=utf-8" || string(p.Bytes) != "model,tok/s\n" {
		t.Errorf("%+v %v", p, err)
	}
}

func TestGetRefuses(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	srv, c := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/down":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/large":
			fmt.Fprint(w, strings.Repeat("x", 2000))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, strings.Repeat("x", 1<<20))
			z.Close()
		default:
			http.NotFound(w, r)
		}
	})
	c.maxBytes = 1000
	for path, want := range map[string]string{
		srv.URL + "/down":      "only https is fetched",
		srv.URL + "/loop":      "more than 5 redirects",
		srv.URL + "/large":     "more than 1000 bytes",
		srv.URL + "/bomb":      "more than 1000 bytes",
		srv.URL + "/none":      "404",
		"http://example.org/":  "only https is fetched",
		"https:///path":        "no host",
		"https://u:p@host/":    "holds credentials",
		"file:///etc/passwd":   "only https is fetched",
		"https://exa mple.org": "is no URL",
	} {
		if _, err := c.Get(context.Background(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// The address is refused when it is dialled, whatever name stands for it.
func TestPrivateAddressesAreNotDialled(t *testing.T) {
	asked := false
	srv, c := served(t, func(http.ResponseWriter, *http.Request) { asked = true })
	c.allow = nil
	for _, u := range []string{srv.URL, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)} {
		_, err := c.Get(context.Background(), u)
		if !errors.Is(err, step.ErrOutside) || !errors.Is(err, errNotPublic) {
			t.Errorf("%s: %v", u, err)
		}
	}
	if asked {
		t.Error("the server was asked")
	}
}

func TestPublic(t *testing.T) {
	for _, s := range []string{"127.0.0.1", "::1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::", "fe80::1", "fd00::1",
		"224.0.0.1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "255.255.255.255", "198.18.0.1", "::ffff:127.0.0.1"} {
		if public(netip.MustParseAddr(s).Unmap()) == nil {
			t.Errorf("%s is public", s)
		}
	}
	for _, s := range []string{"93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"} {
		if err := public(netip.MustParseAddr(s)); err != nil {
			t.Error(err)
		}
	}
}

package remote

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/go-json-experiment/json"
)

// answer writes one document.
func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written"}`)
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that has gone needs no answer
}

func refuse(w http.ResponseWriter, status int, why string) { answer(w, status, failure{why}) }

// fails answers an error of the sources.
func fails(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, ErrRequest) {
		status = http.StatusBadRequest
	}
	refuse(w, status, strings.ToValidUTF8(err.Error(), "?"))
}

// guard lets only those in who carry the token. Without one, it lets in only who
// asks for this machine by a name of its own: a page in a browser that had its name
// pointed here would have another.
func guard(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token == "" {
			if !isLoopback(hostOf(r.Host)) {
				refuse(w, http.StatusForbidden, "without a token the meter is asked by a loopback address only")
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		scheme, said, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(said))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf cuts the port off.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Listen is where to serve.
type Listen struct {
	Address   string // host:port
	Token     string // "" = none
	Cert, Key string // files in PEM; "" = plain HTTP
	// Plain says that plain HTTP beyond loopback is meant: then the token and all
	// else can be read on the way.
	Plain bool
}

// minToken is the least length of a token: it is all that there is to guess.
const minToken = 16

// Check refuses what would let in anybody, or show the token to anybody.
func (l Listen) Check() error {
	host, _, err := net.SplitHostPort(l.Address)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no address to listen on, want host:port", l.Address)
	case (l.Cert == "") != (l.Key == ""):
		return errors.New("a certificate and its key belong together")
	case l.Token != "" && len(l.Token) < minToken:
		return fmt.Errorf("the token has %d characters, want at least %d", len(l.Token), minToken)
	case isLoopback(host):
		return nil
	case l.Token == "":
		return step.WithHint(fmt.Errorf("%s is not loopback, and there is no token: anybody could ask", l.Address), "set CUPEL_METER_TOKEN, or --token-file; or listen on 127.0.0.1 and use a tunnel")
	case l.Cert == "" && !l.Plain:
		return step.WithHint(fmt.Errorf("%s is not loopback, and without TLS the token can be read on the way", l.Address), "give --tls-cert and --tls-key, or say --insecure-plain-http; or listen on 127.0.0.1 and use a tunnel")
	}
	return nil
}

// Open opens the address after Check.
func (l Listen) Open(ctx context.Context) (net.Listener, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	if l.Cert == "" {
		return lc.Listen(ctx, "tcp", l.Address)
	}
	pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	inner, err := lc.Listen(ctx, "tcp", l.Address)
	if err != nil {
		return nil, err
	}
	// HTTP/1.1 alone: a recording is one long answer, and its cut must be seen.
	return tls.NewListener(inner, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}), nil
}

// Time-outs of the server. What a recording may take is in ServerOptions.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	writeTime  = time.Minute // of a recording: for each write, see flusher
	idleTime   = 2 * time.Minute
	endTime    = 10 * time.Second // for recordings that are ended
)

// Serve answers on a listener until ctx is done. Close ServerOptions.Done then too, so
// that recordings get their end: they have ten seconds for it.
func Serve(ctx context.Context, l net.Listener, h http.Handler, errors *log.Logger) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10, ErrorLog: errors}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := s.Shutdown(late); err != nil {
		return s.Close()
	}
	return nil
}

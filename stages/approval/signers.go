package approval

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signers are the lines of an allowed_signers file of OpenSSH: who may sign,
// with which key, for what, and when.
type Signers []signer

type signer struct {
	principals    []string
	key           ssh.PublicKey
	namespaces    []string // patterns; nil = any
	after, before time.Time
	line          int
}

const maxSigners = 1 << 20 // bytes of the file

// ReadSigners reads an allowed_signers file (see ssh-keygen(1)). Certificate
// authorities are refused: which keys they would allow cannot be seen here.
func ReadSigners(name string, r io.Reader) (Signers, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSigners+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSigners {
		return nil, fmt.Errorf("%s: larger than 1 MiB", name)
	}
	var out Signers
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxSigners)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		s, err := parseSigner(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		s.line = n
		out = append(out, s)
	}
	return out, lines.Err()
}

func parseSigner(text string) (s signer, err error) {
	names, rest, ok := cutField(text)
	if !ok {
		return s, errors.New("want principals, options and a key")
	}
	s.principals = strings.Split(names, ",")
	if slices.Contains(s.principals, "") {
		return s, errors.New("an empty principal")
	}
	key, _, options, tail, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil {
		return s, errors.New("holds no public key that can be read")
	}
	if len(bytes.TrimSpace(tail)) > 0 {
		return s, errors.New("text after the key")
	}
	s.key = key
	for _, o := range options {
		if err := s.option(o); err != nil {
			return s, err
		}
	}
	return s, nil
}

// cutField cuts the first field, which may be in quotes.
func cutField(text string) (field, rest string, ok bool) {
	if quoted, found := strings.CutPrefix(text, `"`); found {
		field, rest, ok = strings.Cut(quoted, `"`)
		return field, strings.TrimSpace(rest), ok
	}
	i := strings.IndexAny(text, " \t")
	if i < 0 {
		return text, "", false
	}
	return text[:i], strings.TrimSpace(text[i:]), true
}

func (s *signer) option(o string) (err error) {
	name, value, _ := strings.Cut(o, "=")
	value = strings.Trim(value, `"`)
	switch strings.ToLower(name) {
	case "namespaces":
		s.namespaces = strings.Split(value, ",")
	case "valid-after":
		s.after, err = parseTime(value)
	case "valid-before":
		s.before, err = parseTime(value)
	case "cert-authority":
		return errors.New("certificate authorities are not supported; list the keys")
	default:
		return fmt.Errorf("unknown option %.40q", name)
	}
	return err
}

// parseTime reads YYYYMMDD or YYYYMMDDHHMM[SS], with Z in UTC and else in the
// local time of the machine, as OpenSSH does.
func parseTime(s string) (time.Time, error) {
	digits, utc := strings.CutSuffix(s, "Z")
	where := time.Local
	if utc {
		where = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) != len(digits) {
			continue
		}
		if t, err := time.ParseInLocation(layout, digits, where); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no time; write YYYYMMDD or YYYYMMDDHHMM[SS], with Z for UTC", s)
}

// Principal returns who a key belongs to, when it may sign in Namespace at that
// time; else why it may not. Of several principals the first is meant.
func (s Signers) Principal(key ssh.PublicKey, at time.Time) (string, error) {
	err := errors.New("the key is not among the signers")
	for _, x := range s {
		if !bytes.Equal(x.key.Marshal(), key.Marshal()) {
			continue
		}
		switch {
		case x.namespaces != nil && !slices.ContainsFunc(x.namespaces, func(p string) bool { ok, _ := path.Match(p, Namespace); return ok }):
			err = fmt.Errorf("the key of %s may not sign for %s", x.principals[0], Namespace)
		case !x.after.IsZero() && at.Before(x.after):
			err = fmt.Errorf("the key of %s is valid only after %s", x.principals[0], x.after.UTC().Format(time.RFC3339))
		case !x.before.IsZero() && !at.Before(x.before):
			err = fmt.Errorf("the key of %s was valid only before %s", x.principals[0], x.before.UTC().Format(time.RFC3339))
		default:
			return x.principals[0], nil
		}
	}
	return "", err
}

// Keys are the keys of all lines, each once.
func (s Signers) Keys() []ssh.PublicKey {
	var out []ssh.PublicKey
	for _, x := range s {
		if !slices.ContainsFunc(out, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), x.key.Marshal()) }) {
			out = append(out, x.key)
		}
	}
	return out
}

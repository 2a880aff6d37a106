package suite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	"github.com/cupel-dev/cupel/engine/step"
)

// Key is what opens a held-out part, and what the access log says about it.
type Key struct {
	Identities []age.Identity
	As         string // who opens, as they say themselves; never taken from the account
	Command    string // such as "cupel items show"
	Why        string // such as "run 01J…"; may be empty
	Now        string // RFC 3339, UTC
}

// ErrLocked says that held-out texts are needed and there is no identity.
var ErrLocked = errors.New("the held-out items are encrypted")

// ReadIdentities reads an age identity file, as age-keygen writes it.
func ReadIdentities(name string) ([]age.Identity, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ids, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil {
		// age quotes the line that it cannot read, which may be a secret key.
		return nil, step.WithHint(fmt.Errorf("%s is not an age identity file", name), "make one with `age-keygen -o FILE`; it holds a line AGE-SECRET-KEY-1…")
	}
	return ids, nil
}

// ParseRecipients reads X25519 public keys, age1…, and drops repeated ones.
func ParseRecipients(keys []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, k := range keys {
		k = strings.TrimSpace(k)
		r, err := age.ParseX25519Recipient(k)
		if strings.HasPrefix(strings.ToUpper(k), "AGE-SECRET-KEY-") {
			return nil, step.WithHint(errors.New("a recipient is a secret key"), "give the public key, age1…, that `age-keygen -y FILE` prints")
		}
		if err != nil {
			return nil, step.WithHint(fmt.Errorf("recipient %q: %w", k, err), "a recipient is a public key, age1…, that `age-keygen -y FILE` prints")
		}
		if s := r.String(); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out, nil
}

// seal returns a writer whose plain text goes encrypted to w.
func seal(w io.Writer, recipients []string) (io.WriteCloser, error) {
	to := make([]age.Recipient, len(recipients))
	for i, r := range recipients {
		x, err := age.ParseX25519Recipient(r)
		if err != nil {
			return nil, fmt.Errorf("recipient %q: %w", r, err)
		}
		to[i] = x
	}
	return age.Encrypt(w, to...)
}

// unseal opens an encrypted file. It fails before any text is read when no
// identity fits.
func unseal(name string, ids []age.Identity) (io.Reader, io.Closer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := age.Decrypt(bufio.NewReaderSize(f, 1<<16), ids...)
	if err != nil {
		f.Close()
		if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
			return nil, nil, step.WithHint(errors.New("the identity does not open the held-out items"), "use one whose public key is among the recipients of the split")
		}
		return nil, nil, fmt.Errorf("%s: %w", SealedFile, err)
	}
	return r, f, nil
}

package approval

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/cupel-dev/cupel/engine/step"
)

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lineOf(principal string, options string, key ssh.PublicKey) string {
	return strings.Join(strings.Fields(principal+" "+options+" "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))), " ") + "\n"
}

func signers(t testing.TB, text string) Signers {
	t.Helper()
	s, err := ReadSigners("signers", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var day = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func statement(says string, at time.Time) Statement {
	return Statement{Schema: Schema, Says: says, Campaign: "c", SpecHash: step.Sum([]byte("spec")), Evidence: step.Sum([]byte("record")), Candidate: "q8", Verdict: "pass", Time: at}
}

func sign(t testing.TB, key ssh.Signer, st Statement) []byte {
	t.Helper()
	text, err := st.Encode()
	if err != nil {
		t.Fatal(err)
	}
	sig, err := Sign(key, text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(Signed{string(text), string(sig)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSignAndVerify(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rsaSigner, err := ssh.NewSignerFromKey(rsaKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]ssh.Signer{"ed25519": newKey(t), "rsa": rsaSigner} {
		sig, err := Sign(key, []byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Verify(sig, []byte("hello"))
		if err != nil || string(got.Marshal()) != string(key.PublicKey().Marshal()) {
			t.Errorf("%s: %v", name, err)
		}
		for what, other := range map[string][]byte{
			"another text": []byte("hello "), "nothing": nil,
		} {
			if _, err := Verify(sig, other); err == nil {
				t.Errorf("%s: a signature of %s", name, what)
			}
		}
		for i := range sig {
			bad := append([]byte{}, sig...)
			bad[i] ^= 0x11
			if _, err := Verify(bad, []byte("hello")); err == nil && strings.TrimSpace(string(bad)) != strings.TrimSpace(string(sig)) && !sameBase64(bad, sig) {
				t.Errorf("%s: byte %d changed and nobody noticed", name, i)
			}
		}
	}
}

// sameBase64 reports whether two armours hold the same bytes: unused bits at the
// end of base64, and the line ends, may differ.
func sameBase64(a, b []byte) bool {
	ka, ea := Verify(a, []byte("hello"))
	kb, eb := Verify(b, []byte("hello"))
	return ea == nil && eb == nil && string(ka.Marshal()) == string(kb.Marshal())
}

// TestVectors: what ssh-keygen signed is taken, by the key that signed it, and a
// signature of anything else is not.
func TestVectors(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	message := read("message")
	for _, kind := range []string{"ed25519", "rsa", "ecdsa"} {
		key, err := Verify(read(kind+".sig"), message)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		s := signers(t, `vector@example.org namespaces="cupel" `+string(read(kind+".pub")))
		if by, err := s.Principal(key, day); err != nil || by != "vector@example.org" {
			t.Errorf("%s: %q, %v", kind, by, err)
		}
		if _, err := Verify(read(kind+".sig"), message[1:]); err == nil {
			t.Errorf("%s: a signature of another message", kind)
		}
	}
	if _, err := Verify(read("git.sig"), message); err == nil || !strings.Contains(err.Error(), `the signature is for "git", want "cupel"`) {
		t.Errorf("a signature of a commit is taken for an approval: %v", err)
	}
}

// TestOpenSSH: ssh-keygen verifies ours, and we verify its own. Where it is not
// installed, TestVectors holds its signatures; CI installs it.
func TestOpenSSH(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("there is no ssh-keygen here")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) error {
		c := exec.Command(keygen, args...)
		c.Dir, c.Stdin = dir, strings.NewReader(stdin)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Logf("%s", out)
		}
		return err
	}
	for _, kind := range []string{"ed25519", "rsa", "ecdsa"} {
		file := filepath.Join(dir, kind)
		if err := run("", "-q", "-t", kind, "-N", "", "-f", file); err != nil {
			t.Fatal(err)
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key, err := ssh.ParsePrivateKey(pem)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := Sign(key, []byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		allowed := lineOf("me@example.org", `namespaces="cupel"`, key.PublicKey())
		for name, b := range map[string][]byte{"allowed": []byte(allowed), "sig": sig, "msg": []byte("hello")} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := run("hello", "-Y", "verify", "-f", "allowed", "-I", "me@example.org", "-n", Namespace, "-s", "sig"); err != nil {
			t.Errorf("%s: ssh-keygen does not take our signature", kind)
		}
		if err := run("", "-Y", "sign", "-f", file, "-n", Namespace, "msg"); err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(dir, "msg.sig"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Verify(theirs, []byte("hello"))
		if err != nil {
			t.Fatalf("%s: we do not take its signature: %v", kind, err)
		}
		if by, err := signers(t, allowed).Principal(got, day); err != nil || by != "me@example.org" {
			t.Errorf("%s: %q, %v", kind, by, err)
		}
		_ = os.Remove(filepath.Join(dir, "msg.sig"))
		if err := run("", "-Y", "sign", "-f", file, "-n", "git", "msg"); err != nil {
			t.Fatal(err)
		}
		git, _ := os.ReadFile(filepath.Join(dir, "msg.sig"))
		_ = os.Remove(filepath.Join(dir, "msg.sig")) // it would ask before it overwrites
		if _, err := Verify(git, []byte("hello")); err == nil || !strings.Contains(err.Error(), `the signature is for "git", want "cupel"`) {
			t.Errorf("%s: a signature of a commit is taken for an approval: %v", kind, err)
		}
	}
}

func TestSigners(t *testing.T) {
	a, b := newKey(t), newKey(t)
	text := "# who may\n\n" +
		lineOf("ann@example.org,ann", `namespaces="git,cupel",valid-after="20260101Z",valid-before="20270101Z"`, a.PublicKey()) +
		lineOf(`"bob"`, `namespaces="file"`, b.PublicKey())
	s := signers(t, text)
	for _, c := range []struct {
		key  ssh.Signer
		at   time.Time
		want string
		err  string
	}{
		{a, day, "ann@example.org", ""},
		{a, day.AddDate(-1, 0, 0), "", "is valid only after 2026-01-01T00:00:00Z"},
		{a, day.AddDate(1, 0, 0), "", "was valid only before 2027-01-01T00:00:00Z"},
		{a, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), "", "was valid only before"},
		{b, day, "", "the key of bob may not sign for cupel"},
		{newKey(t), day, "", "the key is not among the signers"},
	} {
		got, err := s.Principal(c.key.PublicKey(), c.at)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
		}
	}
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(a.PublicKey())))
	for text, want := range map[string]string{
		"ann\n":                                    "signers:1: want principals, options and a key",
		"\n# x\nann nonsense\n":                    "signers:3: holds no public key",
		"ann cert-authority " + key:                "certificate authorities are not supported",
		"ann colour=\"red\" " + key:                `unknown option "colour"`,
		"ann valid-after=\"tomorrow\" " + key:      `"tomorrow" is no time`,
		"ann valid-after=\"20261340Z\" " + key:     `"20261340Z" is no time`,
		"ann,, " + key:                             "an empty principal",
		"ann " + strings.Replace(key, "A", "", 20): "holds no public key",
	} {
		if _, err := ReadSigners("signers", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	key := newKey(t)
	s := signers(t, lineOf("ann", "", key.PublicKey()))
	good := sign(t, key, statement(Approve, day))
	if g, err := s.Check(good); err != nil || g.By != "ann" || g.Says != Approve || !g.Time.Equal(day) {
		t.Errorf("%+v, %v", g, err)
	}
	moved := func(old, new string) []byte {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%q is not in %s", old, good)
		}
		return []byte(strings.Replace(string(good), old, new, 1))
	}
	for name, b := range map[string][]byte{
		"another candidate": moved(`\"candidate\":\"q8\"`, `\"candidate\":\"q4\"`),
		"another time":      moved(`2026-11-30T12`, `2026-11-30T13`),
		"a field more":      moved(`\"campaign\"`, `\"x\":1,\"campaign\"`),
		"one outside":       moved(`{"statement"`, `{"x":1,"statement"`),
		"not JSON":          good[:len(good)-4],
		"nothing":           nil,
		"too large":         append(good, make([]byte, maxSigned)...),
		"another schema":    sign(t, key, Statement{Schema: "cupel/approval/v2"}),
		"says yes":          sign(t, key, statement("yes", day)),
		"no time":           sign(t, key, statement(Approve, time.Time{})),
		"a stranger":        sign(t, newKey(t), statement(Approve, day)),
	} {
		if g, err := s.Check(b); err == nil {
			t.Errorf("%s is taken: %+v", name, g)
		}
	}
}

func TestStanding(t *testing.T) {
	given := func(by, says string, minutes int) Given {
		return Given{statement(says, day.Add(time.Duration(minutes)*time.Minute)), by}
	}
	other := given("eve", Approve, 0)
	other.Evidence = step.Sum([]byte("other"))
	for name, c := range map[string]struct {
		all  []Given
		want string
	}{
		"nobody":             {nil, ""},
		"two":                {[]Given{given("bob", Approve, 1), given("ann", Approve, 0)}, "ann bob"},
		"one, twice":         {[]Given{given("ann", Approve, 0), given("ann", Approve, 5)}, "ann"},
		"taken back":         {[]Given{given("ann", Approve, 0), given("ann", Revoke, 5)}, ""},
		"and given again":    {[]Given{given("ann", Revoke, 5), given("ann", Approve, 6)}, "ann"},
		"both at one time":   {[]Given{given("ann", Revoke, 5), given("ann", Approve, 5)}, ""},
		"of the future":      {[]Given{given("ann", Approve, 61)}, ""},
		"about other things": {[]Given{other}, ""},
	} {
		if got := strings.Join(Standing(c.all, step.Sum([]byte("record")), "q8", day.Add(time.Hour)), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := Standing(c.all, step.Sum([]byte("record")), "q4", day.Add(time.Hour)); got != nil {
			t.Errorf("%s: %q approve another candidate", name, got)
		}
	}
}

// FuzzCheck: nothing but a statement that a signer signed is taken.
func FuzzCheck(f *testing.F) {
	key := newKey(f)
	good := sign(f, key, statement(Approve, day))
	f.Add(good, lineOf("ann", `namespaces="cupel"`, key.PublicKey()))
	f.Add([]byte(`{"statement":"{}","signature":"-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"}`), "ann ssh-ed25519 AAAA\n")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		s, err := ReadSigners("signers", strings.NewReader(text))
		if err != nil {
			s = nil
		}
		g, err := s.Check(b)
		if err != nil {
			return
		}
		// Only this test's key can have signed, and only that statement.
		if want := statement(Approve, day); g.Statement != want && !g.Time.Equal(want.Time) {
			t.Errorf("taken: %+v", g)
		}
	})
}

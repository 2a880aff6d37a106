package attest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/approval"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func statement() Statement {
	return Statement{
		Type: StatementType, PredicateType: PredicateType,
		Subject: []Subject{{Name: "q8 model", Digest: map[string]string{"sha256": strings.Repeat("ab", 32)}}},
		Predicate: Predicate{Campaign: "c", SpecHash: step.Sum([]byte("spec")), Evidence: step.Sum([]byte("record")), Baseline: "f16", Candidate: "q8",
			Verdict: "pass", Require: "pass", Guards: []Guard{{Guard: "no-worse", Rule: "lo > -0.02", Verdict: "pass", Explain: "lo = 0.1"}}, Decided: noon, Attested: noon},
	}
}

func keys(t testing.TB) map[string]ssh.Signer {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]ssh.Signer{}
	for name, k := range map[string]any{"ed25519": ed, "ecdsa": ec} {
		s, err := ssh.NewSignerFromKey(k)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = s
	}
	return out
}

func allow(t testing.TB, options string, ks ...ssh.PublicKey) approval.Signers {
	t.Helper()
	text := ""
	for _, k := range ks {
		text += "ci@example.org " + options + " " + string(ssh.MarshalAuthorizedKey(k))
	}
	s, err := approval.ReadSigners("signers", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sealed(t testing.TB, key ssh.Signer, s Statement) []byte {
	t.Helper()
	payload, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Seal(key, payload)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealAndVerify(t *testing.T) {
	for name, key := range keys(t) {
		b := sealed(t, key, statement())
		got, by, err := Verify(b, allow(t, `namespaces="cupel"`, key.PublicKey()))
		if err != nil || !cmp.Equal(by, []string{"ci@example.org"}) {
			t.Fatalf("%s: %v %v", name, by, err)
		}
		if d := cmp.Diff(statement(), got); d != "" {
			t.Error(name, d)
		}
		if !got.Has("sha256", strings.Repeat("ab", 32)) || got.Has("sha256", "") || got.Has("gitCommit", strings.Repeat("ab", 32)) {
			t.Error(name, "subjects")
		}
	}
}

// The example of protocol.md of secure-systems-lab/dsse, 1.0.0.
func TestDSSEVector(t *testing.T) {
	message := pae("http://example.com/HelloWorld", []byte("hello world"))
	if string(message) != "DSSEv1 29 http://example.com/HelloWorld 11 hello world" {
		t.Fatalf("%s", message)
	}
	number := func(s string) *big.Int { n, _ := new(big.Int).SetString(s, 10); return n }
	key, err := ssh.NewPublicKey(&ecdsa.PublicKey{Curve: elliptic.P256(),
		X: number("46950820868899156662930047687818585632848591499744589407958293238635476079160"),
		Y: number("5640078356564379163099075877009565129882514886557779369047442380624545832820")})
	if err != nil {
		t.Fatal(err)
	}
	sig, err := base64.StdEncoding.DecodeString("A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==")
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(key, message, sig); err != nil {
		t.Error(err)
	}
	sig[5] ^= 1
	if verify(key, message, sig) == nil {
		t.Error("a changed signature holds")
	}
}

func TestVerifyRefuses(t *testing.T) {
	key, other := keys(t)["ed25519"], keys(t)["ed25519"]
	edit := func(change func(*Envelope)) []byte {
		var e Envelope
		if err := json.Unmarshal(sealed(t, key, statement()), &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		b, _ := json.Marshal(e)
		return b
	}
	other64 := func(change func(*Statement)) string {
		s := statement()
		change(&s)
		b, _ := s.Encode()
		return base64.StdEncoding.EncodeToString(b)
	}
	for name, c := range map[string]struct {
		b       []byte
		signers approval.Signers
		want    string
	}{
		"another signer":      {sealed(t, key, statement()), allow(t, "", other.PublicKey()), "no signature is by a key"},
		"nobody":              {sealed(t, key, statement()), nil, "no signature is by a key among the signers"},
		"another namespace":   {sealed(t, key, statement()), allow(t, `namespaces="git"`, key.PublicKey()), "may not sign for cupel"},
		"too late":            {sealed(t, key, statement()), allow(t, `valid-before="20260101Z"`, key.PublicKey()), "was valid only before"},
		"a changed verdict":   {edit(func(e *Envelope) { e.Payload = other64(func(s *Statement) { s.Predicate.Verdict = "passed" }) }), allow(t, "", key.PublicKey()), "does not belong"},
		"another type":        {edit(func(e *Envelope) { e.PayloadType = "application/json" }), allow(t, "", key.PublicKey()), "an envelope of"},
		"unsigned":            {edit(func(e *Envelope) { e.Signatures = nil }), allow(t, "", key.PublicKey()), "not signed"},
		"no base64":           {edit(func(e *Envelope) { e.Payload = "%" }), allow(t, "", key.PublicKey()), "payload"},
		"an empty signature":  {edit(func(e *Envelope) { e.Signatures[0].Sig = "" }), allow(t, "", key.PublicKey()), "does not belong"},
		"many signatures":     {edit(func(e *Envelope) { e.Signatures = make([]Signature, 99) }), allow(t, "", key.PublicKey()), "too many"},
		"not JSON":            {[]byte("x"), nil, "not a DSSE envelope"},
		"a member twice":      {[]byte(`{"payload":"","payload":""}`), nil, "not a DSSE envelope"},
		"huge":                {make([]byte, maxEnvelope+1), nil, "1 MiB"},
		"another predicate":   {sealed(t, key, func() Statement { s := statement(); s.PredicateType = "https://slsa.dev/provenance/v1"; return s }()), allow(t, "", key.PublicKey()), "a predicate of type"},
		"another statement":   {sealed(t, key, func() Statement { s := statement(); s.Type = "x"; return s }()), allow(t, "", key.PublicKey()), "a statement of type"},
		"no subject":          {sealed(t, key, func() Statement { s := statement(); s.Subject = nil; return s }()), allow(t, "", key.PublicKey()), "about nothing"},
		"a nameless digest":   {sealed(t, key, func() Statement { s := statement(); s.Subject[0].Digest = nil; return s }()), allow(t, "", key.PublicKey()), "about nothing"},
		"nothing is decided":  {sealed(t, key, func() Statement { s := statement(); s.Predicate.Candidate = ""; return s }()), allow(t, "", key.PublicKey()), "a predicate without"},
		"no time of its own":  {sealed(t, key, func() Statement { s := statement(); s.Predicate.Attested = time.Time{}; return s }()), allow(t, "", key.PublicKey()), "a predicate without"},
		"a foreign signature": {edit(func(e *Envelope) { e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(make([]byte, 64)) }), allow(t, "", keys(t)["ecdsa"].PublicKey()), "no signature is by a key"},
	} {
		if _, by, err := Verify(c.b, c.signers); err == nil || by != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v", name, by, err)
		}
	}
}

// A signature beside ours, by a key that nobody knows, takes nothing away; ours
// may be in the other alphabet of base64.
func TestForeignSignatureBeside(t *testing.T) {
	ks := keys(t)
	var e Envelope
	if err := json.Unmarshal(sealed(t, ks["ed25519"], statement()), &e); err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	e.Signatures[0] = Signature{KeyID: "something else", Sig: base64.URLEncoding.EncodeToString(raw)}
	e.Signatures = append([]Signature{{Sig: "AAAA"}, {Sig: "%"}}, e.Signatures...)
	b, _ := json.Marshal(e)
	if _, by, err := Verify(b, allow(t, "", ks["ecdsa"].PublicKey(), ks["ed25519"].PublicKey())); err != nil || len(by) != 1 {
		t.Error(by, err)
	}
}

func TestSealRefusesKeys(t *testing.T) {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Seal(s, nil); err == nil || !strings.Contains(err.Error(), "ssh-keygen -t ed25519") {
		t.Error(err)
	}
}

func FuzzVerify(f *testing.F) {
	key := keys(f)["ed25519"]
	signers := allow(f, "", key.PublicKey())
	good := sealed(f, key, statement())
	f.Add(good)
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":""}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, by, err := Verify(b, signers)
		if err == nil && (len(by) == 0 || s.Predicate.Candidate != "q8") {
			t.Errorf("%v %+v", by, s)
		}
	})
}

package attest

import (
	"crypto/rand"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/crypto/ssh"

	"github.com/cupel-dev/cupel/engine/step"
)

// PayloadType of an envelope that holds an in-toto statement.
const PayloadType = "application/vnd.in-toto+json"

// Envelope is a DSSE envelope (secure-systems-lab/dsse, protocol 1.0).
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []Signature `json:"signatures"`
}

// Signature is over the pre-authentication encoding of type and payload: 64
// bytes of an Ed25519 key, or DER of an ECDSA key over SHA-256.
type Signature struct {
	KeyID string `json:"keyid,omitempty"` // fingerprint as ssh-keygen -l prints it
	Sig   string `json:"sig"`             // base64
}

const (
	maxEnvelope   = 1 << 20
	maxSignatures = 32
)

// pae is what is signed: it keeps a signature of one type of payload from being
// one of another.
func pae(payloadType string, payload []byte) []byte {
	b := []byte("DSSEv1 " + strconv.Itoa(len(payloadType)) + " " + payloadType + " " + strconv.Itoa(len(payload)) + " ")
	return append(b, payload...)
}

// Seal signs a payload and returns the envelope as JSON.
func Seal(key ssh.Signer, payload []byte) ([]byte, error) {
	sig, err := sign(key, pae(PayloadType, payload))
	if err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(Envelope{
		PayloadType: PayloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures:  []Signature{{KeyID: ssh.FingerprintSHA256(key.PublicKey()), Sig: base64.StdEncoding.EncodeToString(sig)}},
	}, "", "  ")
	return append(b, '\n'), err
}

// ParseEnvelope reads an envelope and decodes its payload. It verifies nothing.
func ParseEnvelope(b []byte) (e Envelope, payload []byte, err error) {
	if len(b) > maxEnvelope {
		return e, nil, errors.New("larger than 1 MiB, which no statement is")
	}
	if err := jsonv2.Unmarshal(b, &e); err != nil {
		return e, nil, fmt.Errorf("not a DSSE envelope: %w", err)
	}
	switch {
	case e.PayloadType != PayloadType:
		return e, nil, fmt.Errorf("an envelope of %.60q, want %s", e.PayloadType, PayloadType)
	case len(e.Signatures) == 0:
		return e, nil, errors.New("the envelope is not signed")
	case len(e.Signatures) > maxSignatures:
		return e, nil, fmt.Errorf("%d signatures are too many", len(e.Signatures))
	}
	payload, err = decodeBase64(e.Payload)
	if err != nil {
		return e, nil, fmt.Errorf("payload: %w", err)
	}
	return e, payload, nil
}

// decodeBase64 takes both alphabets, as DSSE asks of readers.
func decodeBase64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil {
		return b, nil
	}
	if b, err2 := base64.URLEncoding.DecodeString(s); err2 == nil {
		return b, nil
	}
	return nil, err
}

// ecdsaSignature is how both SSH (as two mpints) and ASN.1 (as a sequence) write
// it.
type ecdsaSignature struct{ R, S *big.Int }

func sign(key ssh.Signer, message []byte) ([]byte, error) {
	kind := key.PublicKey().Type()
	if kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoECDSA256 {
		return nil, step.WithHint(fmt.Errorf("a key of type %s signs no statement", kind), "use an ed25519 key: ssh-keygen -t ed25519")
	}
	sig, err := key.Sign(rand.Reader, message)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	if kind == ssh.KeyAlgoED25519 {
		return sig.Blob, nil
	}
	var rs ecdsaSignature
	if err := ssh.Unmarshal(sig.Blob, &rs); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return asn1.Marshal(rs)
}

// verify checks one signature with one key. ECDSA signatures may also be the 64
// bytes of r and s, which some tools write.
func verify(key ssh.PublicKey, message, sig []byte) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519:
		return key.Verify(message, &ssh.Signature{Format: key.Type(), Blob: sig})
	case ssh.KeyAlgoECDSA256:
		var rs ecdsaSignature
		if len(sig) == 64 {
			rs = ecdsaSignature{new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])}
		} else if rest, err := asn1.Unmarshal(sig, &rs); err != nil || len(rest) > 0 {
			return errors.New("the signature is no ECDSA signature")
		}
		if rs.R.Sign() <= 0 || rs.S.Sign() <= 0 {
			return errors.New("the signature is no ECDSA signature")
		}
		return key.Verify(message, &ssh.Signature{Format: key.Type(), Blob: ssh.Marshal(rs)})
	}
	return fmt.Errorf("keys of type %s sign no statements", key.Type())
}

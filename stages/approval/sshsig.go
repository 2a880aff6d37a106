package approval

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/cupel-dev/cupel/engine/step"
)

// Namespace keeps a signature of an approval from being one of anything else.
const Namespace = "cupel"

// The wire format is PROTOCOL.sshsig of OpenSSH.
const (
	magic   = "SSHSIG"
	version = 1
	armor   = "SSH SIGNATURE"
)

// blob is what stands in the armour, after the magic.
type blob struct {
	Version   uint32
	PublicKey string
	Namespace string
	Reserved  string
	Hash      string
	Signature string
}

// signed is what the key signs, after the magic.
type signed struct {
	Namespace string
	Reserved  string
	Hash      string
	Digest    string
}

// Sign returns an armoured signature of message in Namespace.
func Sign(key ssh.Signer, message []byte) ([]byte, error) {
	sum := sha512.Sum512(message)
	data := append([]byte(magic), ssh.Marshal(signed{Namespace, "", "sha512", string(sum[:])})...)
	sig, err := signData(key, data)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	body := append([]byte(magic), ssh.Marshal(blob{version, string(key.PublicKey().Marshal()), Namespace, "", "sha512", string(ssh.Marshal(*sig))})...)
	return pem.EncodeToMemory(&pem.Block{Type: armor, Bytes: body}), nil
}

// signData keeps RSA keys from SHA-1, which sshsig forbids.
func signData(key ssh.Signer, data []byte) (*ssh.Signature, error) {
	if key.PublicKey().Type() != ssh.KeyAlgoRSA {
		return key.Sign(rand.Reader, data)
	}
	by, ok := key.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("this RSA key cannot sign with SHA-2")
	}
	return by.SignWithAlgorithm(rand.Reader, data, ssh.KeyAlgoRSASHA512)
}

// Verify returns the key that made an armoured signature of message in
// Namespace. Whether that key may sign is for Signers to say.
func Verify(armoured, message []byte) (ssh.PublicKey, error) {
	block, rest := pem.Decode(armoured)
	switch {
	case block == nil:
		return nil, errors.New("the signature is not in the form of OpenSSH")
	case block.Type != armor || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0:
		return nil, fmt.Errorf("found a block %q, want one %q and nothing else", block.Type, armor)
	}
	body, ok := bytes.CutPrefix(block.Bytes, []byte(magic))
	if !ok {
		return nil, errors.New("the signature does not begin with " + magic)
	}
	var b blob
	if err := ssh.Unmarshal(body, &b); err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	if b.Version != version {
		return nil, fmt.Errorf("signature of version %d, want %d", b.Version, version)
	}
	if b.Namespace != Namespace {
		return nil, step.WithHint(fmt.Errorf("the signature is for %.40q, want %q", b.Namespace, Namespace), "sign with ssh-keygen -Y sign -n "+Namespace)
	}
	digest, err := hashOf(b.Hash, message)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParsePublicKey([]byte(b.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("key of the signature: %w", err)
	}
	var sig ssh.Signature
	if err := ssh.Unmarshal([]byte(b.Signature), &sig); err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	if key.Type() == ssh.KeyAlgoRSA && sig.Format == ssh.KeyAlgoRSA {
		return nil, errors.New("an RSA signature with SHA-1 proves nothing")
	}
	data := append([]byte(magic), ssh.Marshal(signed{b.Namespace, b.Reserved, b.Hash, string(digest)})...)
	if err := key.Verify(data, &sig); err != nil {
		return nil, errors.New("the signature does not belong to this statement")
	}
	return key, nil
}

func hashOf(name string, message []byte) ([]byte, error) {
	switch name {
	case "sha512":
		sum := sha512.Sum512(message)
		return sum[:], nil
	case "sha256":
		sum := sha256.Sum256(message)
		return sum[:], nil
	}
	return nil, fmt.Errorf("the signature hashes with %.40q, want sha512 or sha256", name)
}

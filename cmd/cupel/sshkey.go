package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/term"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/approval"
)

// loadKey reads a private key. A locked one is used through the SSH agent that
// holds it, or unlocked with a passphrase from the terminal.
func loadKey(file string) (ssh.Signer, error) {
	pem, err := readSmall(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	key, err := ssh.ParsePrivateKey(pem)
	locked, isLocked := errors.AsType[*ssh.PassphraseMissingError](err)
	if !isLocked {
		if err != nil {
			return nil, step.WithHint(fmt.Errorf("--key %s: holds no private SSH key", file), "name the file without .pub")
		}
		return key, nil
	}
	if key := agentKey(locked.PublicKey); key != nil {
		return key, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil, step.WithHint(fmt.Errorf("--key %s: is locked by a passphrase", file), "add it to the agent with ssh-add, or run this on a terminal")
	}
	fmt.Fprintf(os.Stderr, "passphrase of %s: ", file)
	pass, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return nil, err
	}
	if key, err = ssh.ParsePrivateKeyWithPassphrase(pem, pass); err != nil {
		return nil, fmt.Errorf("--key %s: %w", file, err)
	}
	return key, nil
}

// agentKey finds a key in the agent, nil when it is not there. The connection is
// kept as long as the process, which signs once.
func agentKey(public ssh.PublicKey) ssh.Signer {
	if public == nil || os.Getenv("SSH_AUTH_SOCK") == "" {
		return nil
	}
	conn, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		return nil
	}
	keys, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil
	}
	for _, k := range keys {
		if bytes.Equal(k.PublicKey().Marshal(), public.Marshal()) {
			return k
		}
	}
	return nil
}

// signersFile is where the allowed signers stand, "" when nobody says.
func signersFile(flag string, a *spec.Approvals, dir string) string {
	switch {
	case flag != "":
		return flag
	case a == nil || a.Signers == "":
		return ""
	case filepath.IsAbs(a.Signers):
		return a.Signers
	}
	return filepath.Join(dir, a.Signers)
}

func readSigners(file string) (approval.Signers, error) {
	if file == "" {
		return nil, step.WithHint(errors.New("nobody may sign: the campaign names no allowed_signers file"), "name one as decide.approvals.signers, or give --signers FILE")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("signers: %w", err)
	}
	defer f.Close()
	return approval.ReadSigners(file, f)
}

// Package approval makes and checks signed statements about evidence: who says
// that a candidate may be promoted, on what. Signatures are those of OpenSSH
// (sshsig), so that ssh-keygen makes and verifies them too.
package approval

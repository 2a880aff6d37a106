// Package attest says what a gate said, for a pipeline that has only that: an
// in-toto statement whose subjects are what identifies a candidate by content,
// in a signed DSSE envelope. Signing keys and signers are those of approvals.
package attest

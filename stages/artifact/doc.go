// Package artifact reads what was measured elsewhere, and what cupel itself
// published, into one typed record; says whether two of them may be compared;
// and recomputes their numbers from their rows.
//
// It is pure: bytes in, records out. A field that a file does not tell is
// unknown with a reason, never 0, and an unknown control is never taken for an
// equal one. Files are taken for hostile: size, depth and number of values are
// bounded, names that stand twice are refused, and no text of a prompt, an
// answer, a chain of reasoning or a command line becomes part of a record.
package artifact

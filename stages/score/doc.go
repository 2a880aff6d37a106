// Package score turns stored answers into numbers: every scorer is a pure
// function of an item and an output that gives a value in [0,1] and a reason.
//
// Scoring is apart from generation, so that a scorer that is repaired is
// another version, and rescoring is another run of a pure step over answers
// that are stored already.
//
// What cannot be scored has no value, never 0: an answer that failed carries
// its failure class as the reason, a scorer that could not do its work
// "scorer-error: …". An answer that the token limit cut is scored as it is and
// counted. An item whose scorer is a list must satisfy all of them: its value
// is the smallest.
package score

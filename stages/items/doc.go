// Package items reads item sets: what a candidate is asked, and how its answer
// is to be scored.
//
// An item set is a JSONL file, one [Item] a line. Reading is strict, because a
// line that is silently misread changes a decision: unknown fields, duplicate
// keys, duplicate ids, invalid UTF-8 and items without a scorer or without a
// reference are errors with their line. The package only reads; it opens no
// file and knows no scorer.
package items

// Package scrub replaces personal data and secrets in items by typed
// placeholders, such as <EMAIL_1>.
//
// It is for logs that become test items: what a scorer or a reader of a report
// sees must not identify anybody, and must still read like the request that was
// made. So a value becomes a placeholder of its type, the same value the same
// placeholder within one item, JSON stays JSON, and what only looks like
// personal data (versions, hashes, UUIDs, dates, order numbers, code) is left
// alone. Rules are functions over bytes with check digits where the format has
// them; no list of names, no model. The package is pure.
//
// It finds what has a form, in any script's digits and with invisible characters
// inside. A name, a street, a diagnosis or a password of plain words has none, and
// what is written so that no program reads it ("ada at example dot org") is out of
// scope: whoever publishes items reads them first.
package scrub

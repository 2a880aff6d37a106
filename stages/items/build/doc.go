// Package build makes items from request logs: read, sample across time, scrub,
// de-duplicate, label, add the hand-written slice.
//
// The same logs and options give the same items, byte for byte, however many
// processors there are and however the reader cuts the bytes. Logs are spooled
// to unlinked temporary files, about twice their size; memory holds hashes and
// offsets only (and the expert items), so that a million lines fit into a few
// hundred megabytes. Nothing is lost silently:
// every line that does not become an item is counted in the [Report] under a
// reason, and the report holds counts and ids, never values.
package build

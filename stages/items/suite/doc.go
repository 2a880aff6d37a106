// Package suite keeps item sets over time: it splits them, freezes them as
// versions, compares versions, and guards the part that no one may tune on.
//
// A split folder or a frozen suite holds
//
//	items.jsonl          the development part, or everything where nothing is held out
//	heldout.age          the held-out items, encrypted to the recipients (age, X25519)
//	heldout.index.jsonl  their ids and labels, never a text
//	access.jsonl         one line for every time the held-out part was opened
//	split.json           how it was split; part of suite.json once frozen
//	build-report.json    what was sampled, scrubbed and de-duplicated: counts, never values
//	suite.json           the frozen version: name, version, parent, digests, counts
//
// Everything but access.jsonl is fixed by digests of its content. Folders
// appear under their final name whole or not at all. The package knows no
// scorer: what needs one is handed in.
package suite

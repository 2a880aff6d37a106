// Package prior classifies what was read before measuring: how old a source is,
// what its publisher is an authority for, what bears a claim out, and which
// claimed value a guard may read.
//
// Age is the days from publication to observation: current 0 to 60, aging 61 to
// 120, stale above; without a day of publication it is unknown, and the source
// counts as not current.
//
// Who may say what:
//
//	model-card       primary for its own format and advertised limits
//	engine-cookbook  primary for its engine's recipe
//	vendor-post      primary for both, of what its publisher owns
//	paper, community, import, vendor-post
//	                 a lead, unless the publisher owns the fact and a measurement
//	                 of this campaign bears it out
//	advisory         a lead: a fit estimate, matched to nobody's hardware
//
// What is stale is a historical lead, unless current official material or a
// measurement of this campaign bears it out. A prior selects candidates; it never
// passes a guard.
package prior

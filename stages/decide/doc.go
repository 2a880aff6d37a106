// Package decide lets the guards speak: it evaluates the rules of a campaign
// over its evidence and says, candidate by candidate, promote, measure more, or
// reject, and why.
//
// Verdicts, from best to worst: pass, undetermined, error, fail. A candidate's
// verdict is the worst of its guards', one per stratum or capacity cell, and
// the decision's verdict is the worst of its candidates': a campaign with three
// candidates of which one passes and one fails has the verdict fail, while the
// passing one is labelled challenger and can be promoted by itself. What no
// guard looked at is undetermined: nothing passes on an empty set.
//
// A pass or a fail becomes undetermined where the comparison it rests on is in
// doubt: items are missing on one side, the noise floor drifted, the client was
// the bottleneck, or the statistics warn that the interval is too narrow. Rules
// that name only facts of one side's own answers (truncation, failures, token
// counts) rest on no comparison and are decided regardless.
//
// A guard that reads a prior (prior.candidate["context.advertised"]) warns: it is
// evaluated and listed apart, and no verdict is made of it, whatever it says.
package decide

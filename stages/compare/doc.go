// Package compare sets a candidate's item scores against the baseline's, and
// the baseline's against its own second run (the noise floor).
//
// Items are paired by id, never by position. An item without a score on one
// side is attrition: it is listed, and a policy says what it means. The
// statistics are those of stages/stats.
package compare

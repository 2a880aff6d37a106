// Package stats compares two sets of item scores and says how sure the
// comparison is: paired bootstrap, intervals, tests, power, noise floor.
//
// It is pure: no input or output, no clock, no unseeded randomness. The same
// arguments give the same bits on every machine. For that reason products that
// are added to something are written float64(a*b)+c, which forbids the
// compiler to fuse them, and exp, log and erfc are the package's own: a replay
// on another architecture compares digests of these numbers. To check, no line
// of this package may show a fused instruction (FMADD, FMSUB and the like) in
// GOARCH=arm64 go build -gcflags=-S.
//
// A value that cannot be computed is nil, or an [Interval] that is not
// defined, and carries a reason code of [Reasons]. No NaN and no infinity
// leaves the package.
//
// Signs: A is the baseline, B the candidate, d = B - A. In a paired 0/1 table
// b counts items that only A passes and c items that only B passes, so the
// difference of the means is (c-b)/n.
package stats

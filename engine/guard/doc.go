// Package guard compiles and evaluates guard rules: boolean CEL expressions
// over the fields of a Go struct.
//
// A guard opens a gate, so everything that CEL would let through by its own
// semantics is closed here. In CEL a comparison with NaN is false, so
// `!(lo <= m)` holds when lo is NaN; `true || error` is true; `{}.all(x, p)` is
// true. Therefore
//   - every value that a rule names must be present and finite before CEL runs,
//     otherwise the rule is undetermined;
//   - evaluation is exhaustive: an error, a NaN or an infinity in any operand
//     makes the verdict an error, also where the other operand would hide it;
//   - a rule that names no value, tests the presence of one, loops over
//     nothing or divides whole numbers is refused;
//   - every number is a double, because with integers `b / n` would be 0;
//   - numbers that carry an id are held against numbers of the same id only.
//
// The package is pure, and it knows nothing of language models: which values
// exist, and which of them are the two ends of an interval, is said by the
// struct type that [New] is given.
package guard

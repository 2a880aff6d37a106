// Package arrival plans when the requests of an open-loop cell are to be sent,
// reads the traces that such a cell can replay, and searches for the largest
// load that holds. It is pure: no clock, and no randomness but a seeded one.
//
// A plan is a list of offsets from the cell's start. The window is the window:
// whatever was drawn before its end is planned, and the gaps are never
// stretched so that a wanted number of requests fits, which would make a
// Poisson process something else.
//
// # How a plan is drawn
//
// Anyone can draw the same plan again from the seed, on any machine:
//
//  1. h = SHA-256 of "cupel/arrivals/v1\n", the seed, "\n", the trial, "\n",
//     both in decimal. The first two big-endian 64-bit words of h are the state
//     of a PCG-DXSM generator (math/rand/v2.NewPCG). A trial therefore has its
//     own plan, and all candidates share it.
//  2. A uniform number is a word of the generator shifted right by 11 bits and
//     divided by 2^53: it lies in [0, 1).
//  3. Operational time s counts mean gaps. poisson adds -ln(1-u) per arrival;
//     gamma adds G/k, with G drawn from the gamma distribution of shape k by
//     Marsaglia and Tsang's method (2000); constant and ramp take 0, 1, 2, ...
//  4. Arrival i is at s/rate, and for a ramp at the time by which the rate,
//     integrated from the start, has reached s; rounded to nanoseconds. Those
//     before the window's end are the plan.
//
// The rate enters in the last step only, so plans of one seed at two rates are
// scaled copies of each other: a search compares rates, not draws.
//
// Logarithm and exponential are written out here with every product converted
// to float64, which forbids the compiler to fuse it with a sum: a plan has the
// same digest on every architecture. GOARCH=arm64 go build -gcflags=-S lists no
// FMADD, FMSUB, FNMADD or FNMSUB in this package.
package arrival

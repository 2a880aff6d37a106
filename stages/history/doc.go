// Package history follows one metric through findings. Rows are put together
// only where everything that is not the thing measured was the same: workload,
// items, scorers, sampling, hardware. It is pure: who calls it reads the files.
package history

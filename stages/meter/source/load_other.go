//go:build !darwin

package source

// sysctlLoad is of macOS only.
var sysctlLoad func() (int64, string)

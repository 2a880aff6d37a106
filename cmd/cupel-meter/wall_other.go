//go:build !unix

package main

import "os"

// openNow opens a file.
func openNow(name string) (*os.File, error) { return os.Open(name) }

//go:build !unix

package main

import "errors"

func fifo(string) error { return errors.ErrUnsupported }

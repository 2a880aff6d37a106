package main

import (
	"errors"
	"fmt"
	"strings"
)

// exitCode is the process's answer to a pipeline.
type exitCode int

// The exit codes, one table: help texts and documentation print it.
const (
	exitOK           exitCode = 0
	exitFailed       exitCode = 1
	exitUsage        exitCode = 2
	exitUndetermined exitCode = 3
	exitOutside      exitCode = 4
	exitInterrupted  exitCode = 130
)

var exitCodes = []struct {
	code exitCode
	mean string
}{
	{exitOK, "done and, where asked, passed"},
	{exitFailed, "a guard or a check failed"},
	{exitUsage, "wrong usage or invalid spec"},
	{exitUndetermined, "undetermined, or an approval is missing"},
	{exitOutside, "the outside failed (endpoint, store, meter)"},
	{exitInterrupted, "interrupted; run again to continue"},
}

func exitCodeTable() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, row := range exitCodes {
		fmt.Fprintf(&b, "  %-4d %s\n", row.code, row.mean)
	}
	return b.String()
}

// exitError carries the code that an error ends the process with.
type exitError struct {
	code exitCode
	err  error // nil = the result was printed already; only the code remains
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// fail gives err a code. A nil err stays nil.
func fail(code exitCode, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// exit ends the command with a code after its result has been printed.
func exit(code exitCode) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// codeOf finds the code of an error; one that nobody classified is usage.
func codeOf(err error) exitCode {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitUsage
}

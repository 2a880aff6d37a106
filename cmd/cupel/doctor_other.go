//go:build !linux

package main

import (
	"errors"
	"time"

	"github.com/cupel-dev/cupel/engine/store"
)

var errOtherSystem = errors.New("this system is not asked")

// thisSystem asks nothing: what is not known is said to be so.
var thisSystem = system{
	resolution: func() (time.Duration, error) { return 0, errOtherSystem },
	synced:     func() (bool, time.Duration, error) { return false, 0, errOtherSystem },
	files:      func() (uint64, uint64, error) { return 0, 0, errOtherSystem },
	free:       func(string) (uint64, error) { return 0, errOtherSystem },
	networkFS:  store.NetworkFS,
}

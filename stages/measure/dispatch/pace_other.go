//go:build !linux

package dispatch

func precise() pacer { return portable }

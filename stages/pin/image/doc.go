// Package image finds the digest that a container image's name stands for, from
// a registry that speaks the OCI distribution protocol. Nothing but manifests is
// read.
package image

// Package schemas is the contract of a campaign file: CUE definitions, embedded
// in the program and usable as the CUE module cupel.dev/schemas@v0.
package schemas

import (
	"bytes"
	"embed"
)

// Module is the CUE module path, and Version the version that is served to a
// campaign that imports it.
const (
	Module  = "cupel.dev/schemas@v0"
	Version = "v0.1.0"
)

// Files holds the module: *.cue and cue.mod/module.cue.
//
//go:embed *.cue cue.mod/module.cue
var Files embed.FS

// Text returns the definitions as one printable CUE text, file after file.
func Text() ([]byte, error) {
	entries, err := Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		src, err := Files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		out.WriteString("// " + e.Name() + "\n\n")
		out.Write(src)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

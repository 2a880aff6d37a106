package tinyengine

import (
	"embed"
	"fmt"
)

//go:embed models/*.gguf
var modelFiles embed.FS

// Names lists the embedded models: the builds of one model from the baseline to
// the smallest, and a longer trained model of the same shape.
func Names() []string {
	return []string{"tiny-f16", "tiny-q8_0", "tiny-q4_0", "tiny-q2mix", "tiny-q2_k", "tiny2-f16"}
}

// Embedded returns the GGUF files of the embedded models by name. The caller
// gets copies.
func Embedded() map[string][]byte {
	files := map[string][]byte{}
	for _, name := range Names() {
		b, err := modelFiles.ReadFile("models/" + name + ".gguf")
		if err != nil {
			panic(fmt.Sprintf("tinyengine: embedded model %q: %v", name, err)) // a build without its files
		}
		files[name] = b
	}
	return files
}

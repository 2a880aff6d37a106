package artifact

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkRead reads artifacts as list does: 10,000 of them are to take less
// than 2 s on two cores.
func BenchmarkRead(b *testing.B) {
	files, _ := filepath.Glob("testdata/anvil/*.json")
	var contents [][]byte
	size := 0
	for _, f := range files {
		c, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		contents, size = append(contents, c), size+len(c)
	}
	b.SetBytes(int64(size / len(contents)))
	for i := 0; b.Loop(); i++ {
		if _, err := Read(contents[i%len(contents)], Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

package store

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// BenchmarkLatest10000 reads and verifies 10,000 records: a plan that is all
// hits. The aim is 0.2 s of CPU.
func BenchmarkLatest10000(b *testing.B) {
	s := open(b, newDir(b), Options{Mode: ReadWrite, Hooks: Hooks{Sync: func(*os.File) error { return nil }}})
	keys := make([]step.Key, 10_000)
	d := must[step.Digest](b)(s.PutBytes([]byte("content")))
	out := Output{Name: "responses", Digest: d, Size: 7, MediaType: "application/jsonl"}
	for i := range keys {
		p := must[step.Preimage](b)(step.NewPreimage(step.Step{Kind: "score", Params: json.RawMessage(fmt.Sprint(i))}, nil))
		keys[i] = must[step.Key](b)(p.Key())
		check(b, s.PutRecord(keys[i], must[[]byte](b)(p.Canonical()), recordOf("score/a", noon, out)))
	}
	for b.Loop() {
		for _, k := range keys {
			if _, ok, reason := s.Latest(k); !ok {
				b.Fatal(reason)
			}
		}
	}
}

// BenchmarkVerify reads 64 MiB of JSON lines back.
func BenchmarkVerify(b *testing.B) {
	s := writable(b)
	var content []byte
	for i := 0; len(content) < 64<<20; i++ {
		content = fmt.Appendf(content, `{"item":%d,"text":"%x"}`+"\n", i, step.Sum([]byte{byte(i), byte(i >> 8)}))
	}
	d := must[step.Digest](b)(s.PutBytes(content))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		check(b, s.Verify(d))
	}
}

// BenchmarkPutRecord is one finished step with one output, with its fsyncs.
func BenchmarkPutRecord(b *testing.B) {
	s := writable(b)
	i := 0
	for b.Loop() {
		i++
		putOne(b, s, i, fmt.Sprint(i))
	}
}

// BenchmarkAppend is 16 requests in flight, each finishing durably.
func BenchmarkAppend(b *testing.B) {
	s := writable(b)
	k, _ := preimage(b, 1)
	j := must[*Journal](b)(s.Journal(k))
	line := randomBytes(2000)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			check(b, j.Append(line))
		}
	})
}

// Package tinyengine is a demonstration engine, not a product: it serves the
// 3.2 M parameter model embedded in cupel on a loopback port, so that `cupel
// demo` can run a real campaign with nothing but the binary. It exists to be
// measured. It computes one request per thread, has no prefix cache, no
// batching across requests, no accelerator, and knows one chat format.
//
// The arithmetic follows llama.cpp's portable CPU path as Ollama ships it,
// rounding step by rounding step: activations quantised to the partner type of
// the weights, integer dot products per block, a half precision key/value
// cache and a half precision attention accumulator. Its greedy text is
// therefore that of a real Ollama on the same file, which a test asserts
// against recorded answers. Where pure Go allows it the same numbers are
// computed by other means; the matrix files say how.
//
// The flow is Load -> Start -> one Generate per HTTP request:
//
//	gguf*.go      file -> metadata and tensors, every length checked
//	block.go      block formats -> numbers
//	matrix*.go    weights in the layout the dot products want
//	tile.go       up to four positions, in the form the weights want
//	forward.go    the Llama forward pass
//	tokenizer.go  text -> ids -> bytes
//	generate.go   prompt -> tokens, one sequence
//	server.go     the OpenAI compatible surface
package tinyengine

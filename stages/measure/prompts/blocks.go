package prompts

import "strings"

// blockTokens is the length of the blocks of a Mooncake trace.
const blockTokens = 512

// Blocks are the ids of the blocks that the prompts of a trace begin with, by
// index: each a list separated by spaces, "" = none. Prompts whose lists begin
// alike begin with the same text, and so find it in a prefix cache where the
// recorded ones did.
type Blocks []string

// blocks appends the text of a timed request's blocks to head, up to room bytes
// in all. Warm-up requests, which come after the timed ones, have none: they
// would bring in what a recorded request brought in itself. Blocks belong to
// the cell and trial, so that each begins as the trace did.
func (b *wordsBuilder) blocks(head []byte, index, room int) []byte {
	if index >= min(len(b.cell.Blocks), b.cell.Requests) || b.fixed != "" {
		return head
	}
	size := b.chars(blockTokens)
	for id := range strings.FieldsSeq(b.cell.Blocks[index]) {
		left := room - len(head)
		if left <= 0 {
			break
		}
		rng := random(key(b.key, "block", id))
		block := append([]byte(nonce(rng)), appendFiller(nil, rng, size-nonceSize)...)
		head = append(head, block[:min(left, len(block))]...)
	}
	return head
}

// Replays reports whether the builder of the prompt begins prompts with the
// blocks of a trace.
func (c Cell) Replays() bool {
	return (c.Prompt.Builder == "" || c.Prompt.Builder == WordsV1) && c.Prompt.Cache != "shared"
}

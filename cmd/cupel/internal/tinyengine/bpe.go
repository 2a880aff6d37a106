package tinyengine

import "container/heap"

// mergeBytes applies the merges to one piece: always the one of lowest rank,
// the leftmost first among equals. A heap over a linked list keeps it at
// n log n; a piece may be as long as the prompt.
func (t *tokenizer) mergeBytes(ids []int32, piece string) []int32 {
	b := &bpe{t: t, nodes: make([]bpeNode, len(piece))}
	for i := range b.nodes {
		b.nodes[i] = bpeNode{id: t.single[piece[i]], prev: i - 1, next: i + 1}
	}
	for i := range b.nodes {
		b.offer(i)
	}
	for b.queue.Len() > 0 {
		b.join(heap.Pop(&b.queue).(candidate))
	}
	for i := 0; i < len(b.nodes); i = b.nodes[i].next {
		ids = append(ids, b.nodes[i].id)
	}
	return ids
}

type bpe struct {
	t     *tokenizer
	nodes []bpeNode
	queue candidates
}

// bpeNode is a token in progress; id is -1 once it is merged away.
type bpeNode struct {
	id         int32
	prev, next int
}

// candidate is a merge of the node at and its successor as they were when it
// was offered.
type candidate struct {
	merge
	pair
	at int
}

func (b *bpe) offer(at int) {
	if at < 0 || b.nodes[at].next >= len(b.nodes) {
		return
	}
	p := pair{b.nodes[at].id, b.nodes[b.nodes[at].next].id}
	if m, ok := b.t.merges[p]; ok {
		heap.Push(&b.queue, candidate{m, p, at})
	}
}

// join performs c unless one of its halves has changed since.
func (b *bpe) join(c candidate) {
	left := &b.nodes[c.at]
	if left.id != c.left || left.next >= len(b.nodes) || b.nodes[left.next].id != c.right {
		return
	}
	right := &b.nodes[left.next]
	right.id = -1
	left.id, left.next = c.id, right.next
	if left.next < len(b.nodes) {
		b.nodes[left.next].prev = c.at
	}
	b.offer(left.prev)
	b.offer(c.at)
}

type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	if c[i].rank != c[j].rank {
		return c[i].rank < c[j].rank
	}
	return c[i].at < c[j].at
}
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	old := *c
	last := old[len(old)-1]
	*c = old[:len(old)-1]
	return last
}

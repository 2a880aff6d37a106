package evidence

import "fmt"

// OtherTokens says that two pinned endpoints make different numbers of tokens
// of one text, "" when they do not or when that is not known. Counts that were
// taken in different ways are not compared. By usage a count has the chat
// template's share in it: when only that share differs, it is the tokenizer's
// doing only if both are known to have one template.
func OtherTokens(a, b *PinDoc) string {
	if a == nil || b == nil {
		return ""
	}
	p, q := a.Probe, b.Probe
	template := a.Observed.TemplateSHA256
	switch {
	case p.Tokens == 0 || q.Tokens == 0 || p.By != q.By:
		return ""
	case p.Text() != q.Text() && p.Tokens == q.Tokens:
		return tokensOf(p.Twice, q.Twice)
	case p.Text() != q.Text():
		return tokensOf(p.Tokens, q.Tokens)
	case p.Tokens != q.Tokens && (p.By != "usage" || template != "" && template == b.Observed.TemplateSHA256):
		return tokensOf(p.Tokens, q.Tokens)
	}
	return ""
}

func tokensOf(a, b int) string { return fmt.Sprintf("%d and %d tokens", a, b) }

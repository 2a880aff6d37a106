package pin

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
)

// The declared pins as text; "" = not declared.

func tokenizer(c spec.Candidate) spec.Tokenizer {
	if c.Tokenizer == nil {
		return spec.Tokenizer{}
	}
	return *c.Tokenizer
}

func template(c spec.Candidate) string {
	if c.ChatTemplate == nil {
		return ""
	}
	return c.ChatTemplate.SHA256
}

func quantization(c spec.Candidate) spec.Quantization {
	if c.Quantization == nil {
		return spec.Quantization{}
	}
	return *c.Quantization
}

func contextLimit(c spec.Candidate) spec.Context {
	if c.Context == nil {
		return spec.Context{}
	}
	return *c.Context
}

func parallelism(c spec.Candidate) string {
	if c.Parallelism == nil {
		return ""
	}
	return fmt.Sprintf("tensor=%d pipeline=%d data=%d", c.Parallelism.Tensor, c.Parallelism.Pipeline, c.Parallelism.Data)
}

func speculative(c spec.Candidate) string {
	if c.Speculative == nil {
		return ""
	}
	parts := []string{c.Speculative.Method}
	if c.Speculative.Tokens != 0 {
		parts = append(parts, fmt.Sprintf("tokens=%d", c.Speculative.Tokens))
	}
	if d := c.Speculative.Draft; d != nil {
		parts = append(parts, "draft="+strings.Trim(d.Repo+"@"+d.Revision+d.SHA256, "@"))
	}
	return strings.Join(parts, " ")
}

func prefixCache(c spec.Candidate) string {
	if c.Cache == nil || c.Cache.Prefix == "unknown" {
		return ""
	}
	return c.Cache.Prefix
}

func maxSeqs(c spec.Candidate) string {
	if c.Admission == nil {
		return ""
	}
	return tokens(c.Admission.MaxSeqs)
}

func reasoning(c spec.Candidate) string {
	if c.Reasoning == nil {
		return ""
	}
	return c.Reasoning.Control
}

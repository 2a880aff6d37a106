package spec

// pinTable lists the pins that matter for a comparison. What is always
// recorded by observation (chat template) or has a default that is sent with
// every request (sampling) is not in it; the tokenizer is the model's unless
// declared.
var pinTable = []struct {
	name     string
	declared func(*Candidate) bool
}{
	{"model", func(c *Candidate) bool { return c.Model.Revision != "" || c.Model.SHA256 != "" }},
	{"engine.name", func(c *Candidate) bool { return c.Engine.Name != "" || c.Engine.Image != "" }},
	{"engine.version", func(c *Candidate) bool { return c.Engine.Version != "" || c.Engine.Image != "" }},
	{"quantization.weights", func(c *Candidate) bool { return c.Quantization != nil && c.Quantization.Weights != "" }},
	{"quantization.kv", func(c *Candidate) bool { return c.Quantization != nil && c.Quantization.KV != "" }},
	{"parallelism", func(c *Candidate) bool { return c.Parallelism != nil }},
	{"context.served", func(c *Candidate) bool { return c.Context != nil && c.Context.Served > 0 }},
	{"speculative", func(c *Candidate) bool { return c.Speculative != nil }},
	{"cache.prefix", func(c *Candidate) bool { return c.Cache != nil && c.Cache.Prefix != "unknown" }},
	{"admission.maxSeqs", func(c *Candidate) bool { return c.Admission != nil }},
	{"reasoning.control", func(c *Candidate) bool { return c.Reasoning != nil }},
}

func unknownPins(c *Campaign) map[string][]string {
	out := map[string][]string{}
	for name, cand := range c.Candidates {
		for _, p := range pinTable {
			if !p.declared(&cand) {
				out[name] = append(out[name], p.name)
			}
		}
	}
	return out
}

// MatteringPins are the names of the pins that matter for a comparison.
func MatteringPins() (out []string) {
	for _, p := range pinTable {
		out = append(out, p.name)
	}
	return out
}

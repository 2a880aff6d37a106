package spec

import (
	"fmt"
	"time"
)

// maxClaims bounds what one source claims: it is written by hand.
const maxClaims = 1000

func (r *rules) research() {
	res := r.root.get("research")
	r.date(res.get("observedOn"), path{"research", "observedOn"})
	for i, n := range res.get("shortlist").items() {
		p := path{"research", "shortlist", index(i)}
		if r.reference(n, p, "candidate", r.declared) {
			r.once(res.get("shortlist").items()[:i], n, p)
		}
	}
	ids := map[string]bool{}
	sources := res.get("sources").items()
	for i, src := range sources {
		p := path{"research", "sources", index(i)}
		r.date(src.get("publishedOn"), p.with("publishedOn"))
		r.publishedBefore(src.get("publishedOn"), res.get("observedOn"), p.with("publishedOn"))
		if id, ok := src.get("id").str(); ok {
			if ids[id] {
				r.errs.add(src.get("id").at, p.with("id"), fmt.Sprintf("a second source %q", show(id)), "ids are unique")
			}
			ids[id] = true
		}
		r.claims(src, p)
		r.corroboration(src, sources, p)
	}
}

// publishedBefore refuses a source that was read before it was published.
func (r *rules) publishedBefore(published, observed *node, p path) {
	from, ok := day(published)
	to, known := day(observed)
	if ok && known && from.After(to) {
		r.errs.add(published.at, p, fmt.Sprintf("%s lies after research.observedOn, %s", from.Format(time.DateOnly), to.Format(time.DateOnly)),
			"nobody read it before it was published: correct one of the two days")
	}
}

func day(n *node) (time.Time, bool) {
	s, _ := n.str()
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}

// claims checks what a source states: each (candidate, metric, place) once.
func (r *rules) claims(src *node, p path) {
	claims := src.get("claims").items()
	if len(claims) > maxClaims {
		r.errs.add(src.at, p.with("claims"), fmt.Sprintf("%d claims, allowed %d", len(claims), maxClaims), "claim what the decision looks at; cupel research import keeps whole tables")
		return
	}
	seen := map[[4]string]bool{}
	for j, claim := range claims {
		q := p.with("claims").with(index(j))
		r.reference(claim.get("candidate"), q.with("candidate"), "candidate", r.declared)
		r.reference(claim.get("workload"), q.with("workload"), "workload", r.root.get("measure"))
		if cell := claim.get("cell"); cell != nil && claim.get("workload") == nil {
			r.errs.add(cell.at, q.with("cell"), "names a cell and no workload", "add workload: the cell is one of its cells")
		}
		key := [4]string{}
		for i, name := range []string{"candidate", "metric", "workload", "cell"} {
			key[i], _ = claim.get(name).str()
		}
		if seen[key] {
			r.errs.add(claim.at, q, fmt.Sprintf("a second claim of %s for %s", show(key[1]), show(key[0])), "one source states one value; name the workload and the cell where it states several")
		}
		seen[key] = true
	}
	if len(claims) > 0 && src.get("snapshot") == nil {
		r.warnings.add(src.at, p, "claims without a snapshot cannot be used", "save what the source said to a file and name it as snapshot")
	}
}

// corroboration wants other sources, workloads that exist, and at least one.
func (r *rules) corroboration(src *node, sources []*node, p path) {
	c := src.get("corroboratedBy")
	if c == nil {
		return
	}
	p = p.with("corroboratedBy")
	if c.get("sources") == nil && c.get("workloads") == nil {
		r.errs.add(c.at, p, "names nothing, allowed sources or workloads", "")
	}
	own, _ := src.get("id").str()
	for i, n := range c.get("sources").items() {
		q := p.with("sources").with(index(i))
		switch id, ok := n.str(); {
		case !ok:
		case id == own:
			r.errs.add(n.at, q, "a source cannot corroborate itself", "name another one")
		case !hasSource(sources, id):
			r.errs.add(n.at, q, fmt.Sprintf("there is no source %q", show(id)), didYouMean(id, sourceIDs(sources)))
		default:
			r.once(c.get("sources").items()[:i], n, q)
		}
	}
	for i, n := range c.get("workloads").items() {
		q := p.with("workloads").with(index(i))
		if r.reference(n, q, "workload", r.root.get("measure")) {
			r.once(c.get("workloads").items()[:i], n, q)
		}
	}
}

// once refuses a name that stands among the earlier ones.
func (r *rules) once(earlier []*node, n *node, p path) {
	s, _ := n.str()
	for _, e := range earlier {
		if t, ok := e.str(); ok && t == s {
			r.errs.add(n.at, p, fmt.Sprintf("a second %q", show(s)), "name it once")
			return
		}
	}
}

func hasSource(sources []*node, id string) bool {
	for _, have := range sourceIDs(sources) {
		if have == id {
			return true
		}
	}
	return false
}

func sourceIDs(sources []*node) (out []string) {
	for _, s := range sources {
		if id, ok := s.get("id").str(); ok {
			out = append(out, id)
		}
	}
	return out
}

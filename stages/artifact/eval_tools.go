package artifact

import (
	"strings"
)

// readLMEval reads a results file: a part for each task, its first metric that
// is no standard error as the score.
func readLMEval(f *file) (out []*Record) {
	tasks := f.doc.get("results")
	for _, task := range tasks.names() {
		r := new(Record)
		d := node{f.doc.v, "", &r.Invalid}
		t := d.get("results", task)
		r.Part = plain(task)
		r.Labels.Evidence = is([]string{"quality"})
		r.Identity.Model = d.get("model_name").text()
		r.Identity.ServedName = r.Identity.Model
		r.Identity.ChatTemplate = d.get("chat_template_sha").text()
		r.Provenance.ToolVersion = d.get("lm_eval_version").text().or(d.get("git_hash").text())
		r.Provenance.StartedAt = is(asText(d.get("date")))
		r.Engine.Name = d.get("model_source").text().or(d.get("config", "model").text())
		r.Generation.Seed = d.get("config", "random_seed").number()
		r.Generation.Temperature = d.get("configs", task, "generation_kwargs", "temperature").number()
		suite := Suite{Name: plain(task)}
		if h := d.get("task_hashes", task).str(); h != "" {
			suite.SHA256 = plain(h)
		}
		r.Workload.Suites = is([]Suite{suite})
		r.Workload.ProtocolVersion = d.get("versions", task).number()
		r.Workload.Repetitions = d.get("configs", task, "repeats").count(1)
		r.Workload.Requests = d.get("n-samples", task, "effective").count(0)
		r.Results.Items = r.Workload.Requests.or(t.get("sample_len").count(0))
		r.lmEvalScore(t)
		out = append(out, r)
	}
	return out
}

// lmEvalScore takes the preferred metric of a task, and names it.
func (r *Record) lmEvalScore(t node) {
	for _, want := range []string{"exact_match", "acc_norm", "acc", "pass@1", "f1", ""} {
		for _, name := range t.names() {
			v, ok := t.get(name).num()
			metric, _, _ := strings.Cut(name, ",")
			if !ok || strings.Contains(metric, "stderr") || name == "sample_len" || name == "alias" || want != "" && metric != want {
				continue
			}
			r.Results.Score = is(v)
			r.Workload.Grader = said(name)
			return
		}
	}
	r.Results.Score = unknown[float64]("no metric of the task is a number")
}

// readInspect reads a log's header: a part for each scorer.
func readInspect(f *file) []*Record {
	return inspectRecords(f.doc)
}

func inspectRecords(doc node) (out []*Record) {
	scores := doc.get("results", "scores").list()
	if len(scores) == 0 {
		scores = []node{{}}
	}
	for _, s := range scores {
		r := new(Record)
		d := node{doc.v, "", &r.Invalid}
		s.bad = &r.Invalid
		if len(scores) > 1 {
			r.Part = plain(s.get("name").str())
		}
		r.inspectRun(d, d.get("eval"))
		r.Workload.Grader = s.get("scorer").text()
		r.Results.Score = s.get("metrics", "accuracy", "value").number().or(s.get("metrics", "mean", "value").number())
		r.inspectCounts(d)
		out = append(out, r)
	}
	return out
}

// inspectRun is what was asked of which model.
func (r *Record) inspectRun(d, e node) {
	r.Labels.Evidence = is([]string{"quality"})
	r.Identity.Model = e.get("model").text()
	r.Identity.ServedName = r.Identity.Model
	r.Provenance.RunID, r.Provenance.StartedAt = e.get("run_id").text(), e.get("created").text()
	r.Provenance.ToolVersion = e.get("packages", "inspect_ai").text()
	r.Provenance.FinishedAt = d.get("stats", "completed_at").text()
	config := d.get("plan", "config")
	r.Generation.Temperature, r.Generation.MaxTokens, r.Generation.Seed = config.get("temperature").number(), config.get("max_tokens").count(1), config.get("seed").number()
	r.Workload.Suites = is([]Suite{{Name: plain(e.get("task").str())}})
	r.Workload.Repetitions = e.get("config", "epochs").count(1).or(is(1.0))
	r.Workload.ProtocolVersion = e.get("task_version").number()
}

// inspectCounts is how many samples there are, and what makes the log none.
func (r *Record) inspectCounts(d node) {
	r.Results.Items = d.get("results", "total_samples").count(0)
	r.Results.Completed = d.get("results", "completed_samples").count(0)
	if a, b := r.Results.Items.Value, r.Results.Completed.Value; a != nil && b != nil {
		r.Results.Failed = is(*a - *b)
	}
	u := d.get("stats", "model_usage")
	if names := u.names(); len(names) == 1 {
		r.Results.PromptTokensSum = u.get(names[0], "input_tokens").number()
		r.Results.OutputTokensSum = u.get(names[0], "output_tokens").number()
	}
	if st := d.get("status").str(); st != "success" {
		d.invalid("the log's status is %s: samples may be missing", plain(st))
	}
	if v, _ := d.get("invalidated").v.(bool); v {
		d.invalid("the log was invalidated")
	}
}

func readPromptfoo(f *file) (out []*Record) {
	prompts := f.doc.get("results", "prompts").list()
	if len(prompts) == 0 {
		prompts = []node{{}}
	}
	for i, p := range prompts {
		r := new(Record)
		d := node{f.doc.v, "", &r.Invalid}
		p.bad = &r.Invalid
		m := p.get("metrics")
		if !m.isObject() {
			m = d.get("results", "stats")
		}
		if len(prompts) > 1 {
			r.Part = number(float64(i + 1))
		}
		r.Labels.Evidence = is([]string{"quality"})
		r.Identity.Model = p.get("provider").text()
		r.Identity.ServedName = r.Identity.Model
		r.Workload.Suites = is([]Suite{{Name: "promptfoo", SHA256: *hashOf(node{v: []any{d.get("config", "tests").v, p.get("raw").v}}).Value}})
		pass, failed, errors := m.get("testPassCount").count(0), m.get("testFailCount").count(0), m.get("testErrorCount").count(0)
		if !pass.has() {
			pass, failed, errors = m.get("successes").count(0), m.get("failures").count(0), m.get("errors").count(0)
		}
		if pass.has() && failed.has() {
			n := *pass.Value + *failed.Value + zero(errors)
			r.Results.Items, r.Results.Passed, r.Results.Failed = is(n), pass, errors
			if n > 0 {
				r.Results.Score = is(*pass.Value / n)
			}
		}
		r.Results.PromptTokensSum, r.Results.OutputTokensSum = ofUsage(m.get("tokenUsage", "prompt")), ofUsage(m.get("tokenUsage", "completion"))
		r.Provenance.ToolVersion, r.Provenance.StartedAt = d.get("metadata", "promptfooVersion").text(), d.get("metadata", "evaluationCreatedAt").text()
		r.Provenance.RunID = d.get("evalId").text()
		r.Workload.Repetitions = d.get("runtimeOptions", "repeat").count(1).or(is(1.0))
		out = append(out, r)
	}
	return out
}

// ofUsage reads a token count where 0 stands for what was not told.
func ofUsage(n node) Number {
	v := n.count(0)
	if v.has() && *v.Value == 0 {
		return unknown[float64]("it writes 0 for what it was not told")
	}
	return v
}

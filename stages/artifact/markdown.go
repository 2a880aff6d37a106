package artifact

import (
	"fmt"
	"strings"
)

const intro = `# Evidence

Printed from the code; do not edit. ` + "`cupel evidence`" + ` reads what was measured here or
by another tool into one record, in which every field has a value or the reason
why it has none (` + "`cupel schema --type evidence`" + `).

    cupel evidence list DIR              what is there, one line each
    cupel evidence show FILE             every field, and why the others are unknown
    cupel evidence compare FILE FILE...  whether they may stand side by side
    cupel evidence verify FILE           which numbers do not follow from the rows
    cupel evidence import FILE           records, or another tool's form

A file may hold several parts: FILE#PART names one. A folder stands for the
finding in it. Files are recognised by content, never by name; at most 32 MiB of a
file, 64 levels, 4,000,000 values and 50,000 entries of folders are read, symbolic
links are not followed out of a folder, a name that stands twice in an object is an
error, and of an archive only the one entry that is needed is unpacked. Prompts,
answers, reasoning, command lines and addresses are not part of a record.

## Energy

A record holds one energy: of the base that it names, made of the rails that it
lists, over the window that it says. power_watts and tok_per_sec_per_watt are of the
GPUs alone; what begins with cell_ or decode_ is of that window. Energies of two
bases, of two sets of rails or of two windows are differences: they are never held
against each other, and never pooled. Exports of asiai before 0.5.0 name neither
base nor rails, and a rail that could not be read is 0 in them: their window is
` + "`run`" + `, and they compare with their like alone. A calibration of a wall meter is
declared beside the numbers and is in none of them.

` + "`import --as asiai`" + ` writes for each engine avg_power_watts and
avg_tok_per_sec_per_watt (GPU) and ` + "`energy`" + `: base, rails, window, soc_watts,
energy_per_token_j, idle_soc_watts, energy_per_token_active_j; and wall_calibration
where one is declared. What is not known is null, and a block of nothing is null as
a whole.

## What a comparison says

It fails closed.

| list | means |
|---|---|
| differences | fields that make it another experiment; null = not known on one side |
| unknown fields | controls that must be known, and are not |
| invalid artifacts | malformed values, contradictions, incomplete runs, and claims |
| provenance differences | what an A/B is about: told, and blocks nothing |
| cautions | comparable, and a reader should know |

Exit codes: 0 comparable, 1 not comparable, 2 a file that cannot be read.
` + "`--allow-mismatch`" + ` exits with 0, and comparable is still false. A file is equal to
itself, unknown controls included, unless it is invalid or no measurement.

Where the recorded generator's inputs tell the prompts of an artifact, they are
built again and hashed, so that two runs of one generator are known to have sent
the same bytes. A length of the shared prefix that is not recorded is taken to be
the tool's usual one, and noted.

`

const tail = `
## What verify recomputes

| shape | from | what |
|---|---|---|
| anvil/capacity | request_timings | every percentile (nearest rank), sums, counts, throughput = tokens / wall |
| anvil/quality | attempts | attempt_count, pass_count, pass_rate of each check |
| anvil/campaign | samples of each bucket | counts, pass and completion rates, mean latency |
| anvil/preflight | results, policy errors | passed |
| anvil/comparison | the artifacts beside it that it names by digest | means over runs, totals, deltas, the decision |
| vllm-bench | totals; per-request lists of --save-detailed | rates; mean, median and p99 of TTFT |
| asiai/export | raw_runs | mean and median; not the energy, whose readings are not in it |
| promptfoo | rows | successes, failures, errors |
| swe-bench/report | lists of ids | counts |
| a finding folder | all files; raw cells | SHA256SUMS, digests of raw outputs, the decision's binding, load metrics derived again |

What cannot be recomputed is listed as not checked: it is not said to be right.

## Imported workloads

` + "`kind: imported`" + ` in a campaign takes its rows from such files (capacity artifacts
with rows), a file a trial, and derives every metric anew; nothing is sent. Files
that may not stand side by side are refused by ` + "`cupel check`" + `. With
` + "`statistic: mean-of-runs`" + ` percentiles and rates are means over the trials of each
trial's own, as repeated runs are often reported; ` + "`pooled`" + ` takes the requests of all
trials together. [pipelines/kernel-ab](../pipelines/kernel-ab) decides a published
A/B that way, with the published numbers.
`

// Markdown returns the whole of docs/evidence.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("## Fields that are compared\n\nRequired: not known on a side blocks, for these kinds. Once: known on one side only is a caution, no difference.\n\n")
	b.WriteString("| field | a difference | required | once | tolerance | note |\n|---|---|---|---|---|---|\n")
	for _, r := range Rules {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Field, r.class(), kinds(r.Required), yes(r.Soft), r.tolerance(), r.Doc)
	}
	b.WriteString("\nQuality needs more: each suite has a content hash. Of anvil-serving, whose suites say so, each is also for ranking and has a strong validator, and there are protocol 3, 3 repetitions or more, and a verified control with its proof's hash.\n")
	b.WriteString("\n## Shapes that are read\n\n| shape | kind | known by | what it is | what it cannot tell |\n|---|---|---|---|---|\n")
	for _, f := range Formats {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.Name, f.Kind, f.Schema, f.Doc, strings.Join(f.Unknown, "; "))
	}
	b.WriteString(tail)
	return b.String()
}

func (r *Rule) class() string {
	if r.Only != nil {
		return string(r.Class) + " (" + kinds(r.Only) + "), else provenance"
	}
	return string(r.Class)
}

func (r *Rule) tolerance() string {
	if r.Apart == 0 {
		return ""
	}
	out := fmt.Sprintf("%g %%", 100*r.Apart)
	if r.Absolute {
		out = fmt.Sprintf("%g", r.Apart)
	}
	if r.Caution > 0 {
		out += fmt.Sprintf(", told from %g %%", 100*r.Caution)
	}
	return out
}

func kinds(list []Kind) string {
	var out []string
	for _, k := range list {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return ""
}

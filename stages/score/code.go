package score

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

var code = runsPrograms(define("code", 1,
	`1 when the code of the answer passes "tests" in a sandbox: source that runs after it, or cases of stdin and stdout`,
	codeDefaults, buildCode))

func buildCode(p codeParams, it *items.Item, env *env) (Func, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	limits, err := p.limits()
	if err != nil {
		return nil, err
	}
	tests, err := testsOf(it)
	if err != nil {
		return nil, err
	}
	if p.Partial && len(tests.Cases) == 0 {
		return nil, step.WithHint(errors.New(`partial is set, and "tests" is no list of cases`), "leave partial out, or write cases")
	}
	if p.Module == "" {
		env.use("code", p.Language)
	}
	program := Program{Language: p.Language, Path: p.Module, SHA256: p.SHA256, Limits: limits}
	if p.Module != "" {
		program.Language = ""
	}
	return func(out Output) (float64, string, error) {
		source := extract(out.Text, p.Language, p.Blocks)
		if strings.TrimSpace(source) == "" {
			return 0, "no " + p.Language + " code in the answer", nil
		}
		if env.programs == nil {
			return 0, "", noRunner
		}
		program, token := program, ""
		program.Files, token = harness(tests, source, p.Language)
		program.Args = []string{WorkDir + "/" + program.Files[0].Name}
		if len(tests.Cases) > 0 {
			return runCodeCases(env.programs, program, tests.Cases, p.Partial)
		}
		o, err := env.programs.run(program, nil)
		if err != nil {
			return 0, "", err
		}
		return judgeCode(o, token)
	}, nil
}

var noRunner = &Undetermined{ReasonNoSandbox, step.WithHint(errors.New("nothing here runs programs"), "score with a cupel that has a sandbox")}

// judgeCode turns the outcome of a run into a value. CPU time is a property of
// the code, and too much of it is a failed test; the wall clock also counts
// what else the machine did, so it gives no value.
func judgeCode(o Outcome, token string) (float64, string, error) {
	switch o.Limit {
	case LimitWall:
		return 0, "", &Undetermined{ReasonTimeout, errors.New("the wall clock ran out before the CPU time did")}
	case LimitCPU:
		return 0, ReasonTimeout + ": the CPU time ran out", nil
	case LimitMemory:
		return 0, ReasonMemory + ": more memory than allowed", nil
	case LimitProcesses:
		return 0, ReasonProcesses + ": more processes and threads than allowed", nil
	case LimitOutput:
		return 0, ReasonOutput + ": more output than allowed", nil
	}
	if o.Exit == 0 && finished(o.Stdout, token) {
		return 1, "passed", nil
	}
	if o.Exit == 0 {
		return 0, "the program ended before its tests did", nil
	}
	why := fmt.Sprintf("exit status %d", o.Exit)
	if last := lastLine(o.Stderr); last != "" {
		why += ": " + clip(last)
	}
	if refused := refusal(string(o.Stderr)); refused != "" {
		why = refused + ": " + why
	}
	return 0, why, nil
}

func runCodeCases(run *programs, p Program, cases []codeCase, partial bool) (float64, string, error) {
	passed, first := 0, ""
	for i, c := range cases {
		o, err := run.run(p, []byte(c.Stdin))
		if err != nil {
			return 0, "", err
		}
		value, why, err := judgeCode(o, "")
		if err != nil {
			return 0, "", err
		}
		if got := tidy(string(o.Stdout)); value == 1 && got != tidy(c.Stdout) {
			value, why = 0, fmt.Sprintf("printed %q, want %q", clip(got), clip(tidy(c.Stdout)))
		}
		if value == 1 {
			passed++
		} else if first == "" {
			first = fmt.Sprintf("; case %d: %s", i+1, why)
		}
		if first != "" && !partial {
			break
		}
	}
	reason := fmt.Sprintf("%d of %d cases", passed, len(cases)) + first
	if !partial {
		return boolean(passed == len(cases)), reason, nil
	}
	return float64(passed) / float64(len(cases)), reason, nil
}

// lastLine is the last line that speaks of an error, or the last with
// something in it: where interpreters say what went wrong.
func lastLine(b []byte) string {
	last, isError := "", false
	for line := range strings.Lines(strings.ToValidUTF8(string(b), "\uFFFD")) {
		line = strings.TrimSpace(line)
		speaks := strings.Contains(line, "Error")
		if line != "" && (speaks || !isError) {
			last, isError = line, isError || speaks
		}
	}
	return last
}

// refusals are words of a failed program that say what it ran into. They name
// the reason of a 0 and never change a value. A sandbox answers a socket with
// "Network is unreachable", which nothing else in it says.
var refusals = []struct{ words, code string }{
	{"Network is unreachable", ReasonNet}, {"ENETUNREACH", ReasonNet}, {"Temporary failure in name resolution", ReasonNet}, {"EAI_AGAIN", ReasonNet},
	{"MemoryError", ReasonMemory}, {"Cannot allocate memory", ReasonMemory}, {"out of memory", ReasonMemory}, {"Array buffer allocation failed", ReasonMemory},
	{"Resource temporarily unavailable", ReasonProcesses}, {"Cannot fork", ReasonProcesses}, {"can't start new thread", ReasonProcesses},
	{"Read-only file system", ReasonFile}, {"EROFS", ReasonFile}, {"Permission denied", ReasonFile}, {"EACCES", ReasonFile},
	{"Operation not permitted", ReasonFile}, {"EPERM", ReasonFile}, {"File too large", ReasonFile}, {"EFBIG", ReasonFile}, {"No space left on device", ReasonFile}, {"ENOSPC", ReasonFile},
}

func refusal(stderr string) string {
	for _, r := range refusals {
		if strings.Contains(stderr, r.words) {
			return r.code
		}
	}
	return ""
}

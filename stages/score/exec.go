package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

type execParams struct {
	Program   string   `json:"program" doc:"path of the program: an executable, a WebAssembly module (WASI) or, with language, a script"`
	SHA256    string   `json:"sha256" doc:"digest of the program's file; another file is not run"`
	Language  string   `json:"language" doc:"interpreter of a script: python, node or sh; default: the file itself is started"`
	Trust     bool     `json:"trust" doc:"run it in place with the rights of the user, without a sandbox: for a program that needs its libraries or the network"`
	Wall      quantity `json:"wall" doc:"seconds for one answer"`
	Memory    quantity `json:"memory" doc:"MiB"`
	Output    quantity `json:"output" doc:"KiB of one answer"`
	Processes quantity `json:"processes" doc:"processes and threads at once"`
}

var execScorer = runsPrograms(define("exec", 1,
	`what a program of the user says, which reads one JSON line for an answer and writes one: {"id","value","reason"}`,
	execParams{Wall: "60", Memory: "1024", Output: "256", Processes: "64"}, buildExec))

func (p execParams) check() error {
	if p.Program == "" {
		return step.WithHint(errors.New("parameter program is missing"), "name the file, and its digest as sha256")
	}
	if err := pinned("program", p.Program, p.SHA256); err != nil {
		return err
	}
	if p.Language == "" {
		return nil
	}
	return oneOf("language", p.Language, "python", "node", "sh")
}

func (p execParams) limits() (l Limits, err error) {
	if l.Wall, err = seconds("wall", p.Wall); err != nil {
		return l, err
	}
	if l.Memory, err = scaled("memory", p.Memory, 1<<20, 1<<40); err != nil {
		return l, err
	}
	if l.Output, err = scaled("output", p.Output, 1<<10, 1<<30); err != nil {
		return l, err
	}
	n, err := scaled("processes", p.Processes, 1, 1<<16)
	l.Processes = int(n)
	return l, err
}

// buildExec does not look at the item's references: what they mean is the
// program's affair.
func buildExec(p execParams, it *items.Item, env *env) (Func, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	limits, err := p.limits()
	if err != nil {
		return nil, err
	}
	if p.Language != "" {
		env.use("exec", p.Language)
	}
	program := env.askable(Program{Language: p.Language, Path: p.Program, SHA256: p.SHA256, Trust: p.Trust, Limits: limits})
	question := questionOf(it)
	return func(out Output) (float64, string, error) {
		if env.programs == nil {
			return 0, "", noRunner
		}
		question := question
		question.Text, question.ToolCalls = strings.ToValidUTF8(out.Text, "\uFFFD"), out.ToolCalls
		line, err := json.Marshal(question)
		if err != nil {
			return 0, "", err
		}
		answer, err := program.ask(env.programs, line)
		if err != nil {
			return 0, "", fmt.Errorf("%s: %w", path.Base(p.Program), err)
		}
		return readVerdict(answer, question.ID)
	}, nil
}

// askable returns the one process for all items with the same program.
func (e *env) askable(p Program) *asked {
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%t\x00%v", p.Path, p.SHA256, p.Language, p.Trust, p.Limits)
	if e.asked[key] == nil {
		e.asked[key] = &asked{program: p}
	}
	return e.asked[key]
}

// execQuestion is the line that a program reads: the item, and the answer.
type execQuestion struct {
	ID         string            `json:"id"`
	Strata     map[string]string `json:"strata,omitempty"`
	System     string            `json:"system,omitempty"`
	Input      []items.Message   `json:"input"`
	Answer     json.RawMessage   `json:"answer,omitempty"`
	Facts      []string          `json:"facts,omitempty"`
	Schema     json.RawMessage   `json:"schema,omitempty"`
	ExpectTool items.Calls       `json:"expect_tool,omitempty"`
	Tests      json.RawMessage   `json:"tests,omitempty"`
	Text       string            `json:"text"`
	ToolCalls  []llm.ToolCall    `json:"tool_calls,omitempty"`
}

func questionOf(it *items.Item) execQuestion {
	return execQuestion{
		ID: it.ID, Strata: it.Strata, System: it.System, Input: it.Input, Answer: it.Answer,
		Facts: it.Facts, Schema: it.Schema, ExpectTool: it.ExpectTool, Tests: it.Tests,
	}
}

// execVerdict is the line that a program writes.
type execVerdict struct {
	ID     string          `json:"id"`
	Value  json.RawMessage `json:"value"` // a number in [0,1], or null: undetermined
	Reason string          `json:"reason"`
}

// readVerdict is strict: a line that belongs to another answer, or that holds
// something else than a value, would be somebody else's score.
func readVerdict(line []byte, id string) (float64, string, error) {
	var v execVerdict
	if err := jsonv2.Unmarshal(line, &v, jsonv2.RejectUnknownMembers(true)); err != nil {
		return 0, "", fmt.Errorf("the program wrote %q, which is no {\"id\",\"value\",\"reason\"}", clip(string(line)))
	}
	switch {
	case v.ID != id:
		return 0, "", step.WithHint(fmt.Errorf("the program answered for item %q, want %q", clip(v.ID), clip(id)), "write one line for each line that is read, and flush it")
	case v.Value == nil:
		return 0, "", errors.New("the program's line has no value; null says that there is none")
	case bytes.Equal(v.Value, []byte("null")):
		if v.Reason == "" {
			return 0, "", errors.New("the program gave no value and no reason")
		}
		return 0, "", &Undetermined{"exec", errors.New(v.Reason)}
	}
	var value float64
	if err := json.Unmarshal(v.Value, &value); err != nil || value < 0 || value > 1 {
		return 0, "", fmt.Errorf("the program's value %s is no number in [0,1]", clip(string(v.Value)))
	}
	if v.Reason == "" {
		v.Reason = "the program gave no reason"
	}
	return value + 0, v.Reason, nil // -0 is 0
}

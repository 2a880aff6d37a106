package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// bindSyntax is the one description of the syntax, for hints and help texts.
const bindSyntax = "write NAME=[API+]URL[,model=SERVED][,key-env=VARIABLE][,gpu=INDEX]…[,hardware=FILE][,meter=URL][,replica=URL]…, for example bf16=http://127.0.0.1:8000/v1 or f16=ollama+http://127.0.0.1:11434,model=tiny-f16; API is openai, openai-completions, openai-responses, ollama or ollama-generate; embedded:MODEL is a model inside the program"

var (
	bindName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	envName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	gpuName  = regexp.MustCompile(`^([0-9]{1,3}|(GPU|MIG)-[0-9a-f-]{8,64})$`)
)

// ParseBindFlag reads the value of --bind: a candidate's name, = and its
// address, with options after commas:
//
//	bf16=http://127.0.0.1:8000/v1
//	bf16=ollama+http://127.0.0.1:11434,model=tiny-f16
//	bf16=https://127.0.0.1/v1,key-env=SERVING_KEY,gpu=0,gpu=1
//	bf16=http://127.0.0.1:8000/v1,hardware=host.json
//	bf16=http://gpu-host:8000/v1,meter=https://gpu-host:9151,meter-token-env=METER_TOKEN
//	bf16=http://127.0.0.1:8000/v1,replica=http://127.0.0.1:8001/v1
//
// The address may begin with an API and + (ollama+, openai-responses+) to name
// it instead of having it detected. Errors are of type *Error.
func ParseBindFlag(s string) (candidate string, b Binding, err error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok || !bindName.MatchString(name) {
		return "", Binding{}, bindError("--bind", fmt.Sprintf("%q does not begin with a candidate's name and =", show(name)))
	}
	b, err = parseBind("--bind "+name, rest)
	return name, b, err
}

func bindError(where, msg string) error {
	return &Error{Path: where, Msg: msg, Hint: bindSyntax}
}

// parseBind reads what follows the name; also the value of CUPEL_BIND_<NAME>.
func parseBind(where, s string) (Binding, error) {
	if what := secretIn(s); what != "" {
		return Binding{}, &Error{Path: where, Msg: what + " in plain text", Hint: "put it in an environment variable and name that: key-env=VARIABLE"}
	}
	address, options, _ := strings.Cut(s, ",")
	b := Binding{URL: address}
	for _, api := range []string{"ollama", "ollama-generate", "openai", "openai-completions", "openai-responses"} {
		if rest, ok := strings.CutPrefix(address, api+"+"); ok {
			b.API, b.URL = api, rest
		}
	}
	if msg := checkBaseURL(b.URL); msg != "" {
		return Binding{}, bindError(where, msg)
	}
	if options == "" {
		return b, nil
	}
	for _, o := range strings.Split(options, ",") {
		key, value, _ := strings.Cut(o, "=")
		if err := bindOption(&b, where, key, value); err != nil {
			return Binding{}, err
		}
	}
	if b.MeterTokenEnv != "" && (b.Meter == "" || b.Meter == NoMeter) {
		return Binding{}, bindError(where, "there is no meter that meter-token-env is for")
	}
	return b, nil
}

var bindKeys = []string{"model", "key-env", "gpu", "hardware", "meter", "meter-token-env", "replica"}

func bindOption(b *Binding, where, key, value string) error {
	switch {
	case key == "model" && value != "" && b.ServedName == "":
		b.ServedName = value
	case key == "key-env" && envName.MatchString(value) && b.APIKeyEnv == "":
		b.APIKeyEnv = value
	case key == "gpu" && gpuName.MatchString(value):
		b.GPUs = append(b.GPUs, value)
	case key == "hardware" && value != "" && b.Hardware == "":
		b.Hardware = value
	case key == "meter" && value != "" && checkMeter(value) == "" && b.Meter == "":
		b.Meter = value
	case key == "meter-token-env" && envName.MatchString(value) && b.MeterTokenEnv == "":
		b.MeterTokenEnv = value
	case key == "replica" && checkBaseURL(value) == "":
		b.Replicas = append(b.Replicas, value)
	case slices.Contains(bindKeys, key):
		return bindError(where, fmt.Sprintf("option %s cannot be %q, or is there twice", key, show(value)))
	default:
		e := &Error{Path: where, Msg: fmt.Sprintf("unknown option %q", show(key)), Hint: bindSyntax}
		if near := nearest(key, bindKeys); near != "" {
			e.Hint = fmt.Sprintf("did you mean %q? %s", near, bindSyntax)
		}
		return e
	}
	return nil
}

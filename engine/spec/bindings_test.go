package spec

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBindFlag(t *testing.T) {
	for in, want := range map[string]Binding{
		"bf16=http://127.0.0.1:8000/v1":                              {URL: "http://127.0.0.1:8000/v1"},
		"bf16=ollama+http://127.0.0.1:11434,model=tiny-f16":          {URL: "http://127.0.0.1:11434", API: "ollama", ServedName: "tiny-f16"},
		"bf16=openai+https://[::1]:8000/v1,key-env=SERVING_KEY":      {URL: "https://[::1]:8000/v1", API: "openai", APIKeyEnv: "SERVING_KEY"},
		"bf16=http://127.0.0.1,gpu=0,gpu=GPU-0123abcd,model=a/b:7=q": {URL: "http://127.0.0.1", GPUs: []string{"0", "GPU-0123abcd"}, ServedName: "a/b:7=q"},
		"bf16=http://127.0.0.1,hardware=a b/host.json,gpu=1":         {URL: "http://127.0.0.1", Hardware: "a b/host.json", GPUs: []string{"1"}},
		"bf16=http://127.0.0.1,meter=none":                           {URL: "http://127.0.0.1", Meter: "none"},
		"bf16=http://h:1,meter=https://h:9151,meter-token-env=TOKEN": {URL: "http://h:1", Meter: "https://h:9151", MeterTokenEnv: "TOKEN"},
		"bf16=embedded:tiny-f16":                                     {URL: "embedded:tiny-f16"},
	} {
		name, got, err := ParseBindFlag(in)
		if diff := cmp.Diff(want, got); err != nil || name != "bf16" || diff != "" {
			t.Errorf("%s: %s, %v\n%s", in, name, err, diff)
		}
	}
	for in, want := range map[string]string{
		"":                                "does not begin with a candidate's name",
		"bf16":                            "does not begin with a candidate's name",
		"=http://127.0.0.1":               "does not begin with a candidate's name",
		"bf16=":                           "does not begin with http:// or https://",
		"bf16=127.0.0.1:8000":             "is not a URL",
		"bf16=ftp://127.0.0.1":            "does not begin with http:// or https://",
		"bf16=http://":                    "names no host",
		"bf16=http://127.0.0.1/v1?a=b":    "no ? or # part",
		"bf16=http://me:secret@127.0.0.1": "a URL with credentials in plain text",
		"bf16=http://127.0.0.1,key-env=sk-abcdef0123": "an API key in plain text",
		"bf16=http://127.0.0.1,key-env=a-b":           `option key-env cannot be "a-b"`,
		"bf16=http://127.0.0.1,modle=x":               `did you mean "model"?`,
		"bf16=http://127.0.0.1,hardware=a,hardware=b": "option hardware cannot be",
		"bf16=http://127.0.0.1,hardwre=a":             `did you mean "hardware"?`,
		"bf16=http://127.0.0.1,model=a,model=b":       "option model cannot be",
		"bf16=http://127.0.0.1,meter=h:9151":          `option meter cannot be "h:9151"`,
		"bf16=http://127.0.0.1,meter=embedded:x":      "option meter cannot be",
		"bf16=http://h,meter=http://u:secret@h":       "in plain text",
		"bf16=http://h,meter=none,meter=none":         "or is there twice",
		"bf16=http://h,meter=none,meter-token-env=T":  "there is no meter that meter-token-env is for",
		"bf16=http://h,meter-token-env=T":             "there is no meter that meter-token-env is for",
		"bf16=http://127.0.0.1,":                      "",
	} {
		_, _, err := ParseBindFlag(in)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "abcdef0123") {
			t.Errorf("%s: %v\nwant %s", in, err, want)
		}
	}
}

func TestLoadBindings(t *testing.T) {
	dir := t.TempDir()
	got, err := LoadBindings(write(t, dir, "bindings.yaml", `
bf16: {url: "http://127.0.0.1:8000/v1", api: openai, servedName: m, apiKeyEnv: KEY, gpus: [0, "GPU-0123abcd"], headers: {X-Team: TEAM}}
fp8: {url: "embedded:tiny-q8_0"}
a: {url: "http://127.0.0.1:1", hardware: hosts/a.json}
b: {url: "http://127.0.0.1:2", hardware: none}
c: {url: "http://127.0.0.1:3", hardware: /etc/c.json}
d: {url: "http://127.0.0.1:4", meter: "https://h:9151", meterTokenEnv: TOKEN}
e: {url: "http://127.0.0.1:5", meter: none}
`))
	want := map[string]Binding{
		"bf16": {URL: "http://127.0.0.1:8000/v1", API: "openai", ServedName: "m", APIKeyEnv: "KEY", GPUs: []string{"0", "GPU-0123abcd"}, Headers: map[string]string{"X-Team": "TEAM"}},
		"fp8":  {URL: "embedded:tiny-q8_0"},
		"a":    {URL: "http://127.0.0.1:1", Hardware: filepath.Join(dir, "hosts/a.json")},
		"b":    {URL: "http://127.0.0.1:2", Hardware: NoHardware},
		"c":    {URL: "http://127.0.0.1:3", Hardware: "/etc/c.json"},
		"d":    {URL: "http://127.0.0.1:4", Meter: "https://h:9151", MeterTokenEnv: "TOKEN"},
		"e":    {URL: "http://127.0.0.1:5", Meter: NoMeter},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"a: {ulr: \"http://127.0.0.1\"}":                             `a.ulr: unknown field; did you mean "url"?`,
		"a: {api: openai}":                                           "a.url: required field is missing",
		"a: http://127.0.0.1":                                        "a: found \"http://127.0.0.1\", allowed a map",
		"a: {url: \"http://u:p@127.0.0.1\"}":                         "a URL with credentials",
		"a: {url: \"http://127.0.0.1\", apiKeyEnv: sk-abcdef012345}": "an API key in plain text",
		"a: {url: \"http://127.0.0.1\", headers: {Authorization: Bearer abcdef012345}}": "a bearer token in plain text",
		"a: {url: \"http://127.0.0.1\", headers: {Authorization: a b}}":                 "allowed the name of an environment variable",
		"a: {url: \"http://127.0.0.1\", api: olama}":                                    `did you mean "ollama"?`,
		"a: {url: \"http://127.0.0.1/#x\"}":                                             "no ? or # part",
		"a: {url: \"http://127.0.0.1\"}\na: {url: \"http://127.0.0.2\"}":                `key "a" is already on line 1`,
		"A: {url: \"http://127.0.0.1\"}":                                                `found the name "A"`,
		"a: {url: \"http://127.0.0.1\", hardware: \"\"}":                                "allowed a path without commas, or none",
		"a: {url: \"http://127.0.0.1\", hardware: {gpu: H200}}":                         "a.hardware: found a map",
		"a: {url: \"http://127.0.0.1\", meter: \"h:9151\"}":                             "a.meter: found \"h:9151\", allowed an http or https URL, or none",
		"a: {url: \"http://127.0.0.1\", meter: \"http://\"}":                            "allowed an http or https URL, or none",
		"a: {url: \"http://127.0.0.1\", meter: \"http://h/?a\"}":                        "a.meter: a base address has no ? or # part; write the address of a cupel-meter serve",
		"a: {url: \"http://127.0.0.1\", meterTokenEnv: T}":                              "a.meterTokenEnv: there is no meter that it is for",
		"[]": "found an empty list, allowed a map",
	} {
		_, err := LoadBindings(write(t, dir, "bindings.yaml", text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "abcdef") {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	if _, err := LoadBindings(filepath.Join(dir, "gone.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestResolveBindings(t *testing.T) {
	c := &Campaign{Candidates: map[string]Candidate{"bf16": {}, "fp8": {}, "int4-awq": {}}}
	file := map[string]Binding{
		"bf16": {URL: "http://127.0.0.1:1", APIKeyEnv: "FILE_KEY"}, "fp8": {URL: "http://127.0.0.1:1"}, "int4-awq": {URL: "http://127.0.0.1:1"},
	}
	environ := []string{"PATH=/bin", "CUPEL_BIND_FP8=http://127.0.0.1:2", "CUPEL_BIND_INT4_AWQ=http://127.0.0.1:2,model=m", "CUPEL_BIND_BF16="}
	got, err := ResolveBindings(c, file, environ, []string{"fp8=http://127.0.0.1:3"})
	want := map[string]Binding{
		"bf16":     {URL: "http://127.0.0.1:1", APIKeyEnv: "FILE_KEY"},
		"fp8":      {URL: "http://127.0.0.1:3"},
		"int4-awq": {URL: "http://127.0.0.1:2", ServedName: "m"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	// A binding is taken whole: the file's key does not go to the flag's address.
	got, err = ResolveBindings(c, file, nil, []string{"bf16=http://127.0.0.1:3"})
	if err != nil || got["bf16"].APIKeyEnv != "" {
		t.Errorf("%v %+v", err, got["bf16"])
	}
	_, err = ResolveBindings(c, map[string]Binding{"bf17": {}}, []string{"CUPEL_BIND_FP9=http://127.0.0.1"},
		[]string{"fp7=http://127.0.0.1", "fp8=x", "fp8=http://127.0.0.1", "fp8=http://127.0.0.1"})
	for _, want := range []string{`there is no candidate "bf17"; did you mean "bf16"?`,
		`--bind: there is no candidate "fp7"; did you mean "fp8"?`, "--bind fp8: ", "fp8 is bound twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
)

// LoadBindings reads a bindings file: candidate names with url, api,
// servedName, apiKeyEnv, gpus, hardware, meter, headers and replicas. The path of a
// hardware file is made to start where the program runs. Mistakes are returned as Errors; an
// error for which errors.Is(err, fs.ErrNotExist) holds means there is no file.
func LoadBindings(file string) (map[string]Binding, error) {
	src, err := readRegular(file, maxFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &os.PathError{Op: "bindings", Path: file, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, Errors{{File: file, Msg: err.Error()}}
	}
	return parseBindings(file, src)
}

func parseBindings(file string, src []byte) (map[string]Binding, error) {
	root, errs := parseYAML(file, src)
	errs = append(errs, findSecrets(file, src, root)...)
	if root == nil {
		return nil, errs.err()
	}
	gpuTexts(root)
	sch := compiled()
	if sch.check(sch.def("Bindings"), root, &errs) {
		return nil, errs.err()
	}
	for _, f := range root.pairs() {
		if u := f.val.get("url"); u != nil && u.kind == cue.StringKind {
			if msg := checkBaseURL(u.text); msg != "" {
				errs.add(u.at, path{f.name, "url"}, msg, "write the base address, for example http://127.0.0.1:8000/v1")
			}
		}
		if u := f.val.get("meter"); u != nil && u.kind == cue.StringKind {
			if msg := checkMeter(u.text); msg != "" {
				errs.add(u.at, path{f.name, "meter"}, msg, meterSyntax)
			}
		}
		if n := f.val.get("meterTokenEnv"); n != nil && (f.val.get("meter") == nil || f.val.get("meter").text == NoMeter) {
			errs.add(n.at, path{f.name, "meterTokenEnv"}, "there is no meter that it is for", meterSyntax)
		}
		for i, u := range f.val.get("replicas").items() {
			if msg := checkBaseURL(u.text); msg != "" {
				errs.add(u.at, path{f.name, "replicas", index(i)}, msg, "write the base address, for example http://127.0.0.1:8001/v1")
			}
		}
	}
	if len(errs) > 0 {
		return nil, errs.err()
	}
	out := map[string]Binding{}
	for _, f := range root.pairs() {
		b := Binding{}
		for _, g := range f.val.fields {
			if err := bindingField(&b, g); err != nil {
				return nil, err
			}
		}
		b.Hardware = beside(file, b.Hardware)
		out[f.name] = b
	}
	return out, nil
}

// NoHardware as the value of hardware says that the endpoint is elsewhere.
const NoHardware = "none"

// NoMeter as the value of meter says that no energy is measured there.
const NoMeter = "none"

const meterSyntax = "write the address of a cupel-meter serve, for example http://127.0.0.1:9151, or none"

// checkMeter says what is wrong with the address of a meter, "" for nothing.
func checkMeter(s string) string {
	if s == NoMeter {
		return ""
	}
	if embedded.MatchString(s) {
		return fmt.Sprintf("%q does not begin with http:// or https://", show(s))
	}
	return checkBaseURL(s)
}

// beside makes a path that starts from a file's folder one from here.
func beside(file, name string) string {
	if name == "" || name == NoHardware || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// gpuTexts makes texts of GPU indices written as numbers.
func gpuTexts(root *node) {
	for _, f := range root.pairs() {
		for _, g := range f.val.get("gpus").items() {
			if g.kind == cue.NumberKind {
				g.kind = cue.StringKind
			}
		}
	}
}

func bindingField(b *Binding, f field) error {
	switch f.name {
	case "url":
		b.URL = f.val.text
	case "api":
		b.API = f.val.text
	case "servedName":
		b.ServedName = f.val.text
	case "apiKeyEnv":
		b.APIKeyEnv = f.val.text
	case "gpus":
		for _, g := range f.val.elems {
			b.GPUs = append(b.GPUs, g.text)
		}
	case "hardware":
		b.Hardware = f.val.text
	case "meter":
		b.Meter = f.val.text
	case "meterTokenEnv":
		b.MeterTokenEnv = f.val.text
	case "replicas":
		for _, u := range f.val.elems {
			b.Replicas = append(b.Replicas, u.text)
		}
	case "headers":
		b.Headers = map[string]string{}
		for _, h := range f.val.fields {
			b.Headers[h.name] = h.val.text
		}
	default:
		return fmt.Errorf("binding field %q is in the schema and not in the program", f.name)
	}
	return nil
}

// embedded names a model inside the program instead of an address.
var embedded = regexp.MustCompile(`^embedded:[A-Za-z0-9._-]+$`)

// checkBaseURL says what is wrong with an endpoint's address, "" for nothing.
func checkBaseURL(s string) string {
	if embedded.MatchString(s) {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Sprintf("%q is not a URL", show(s))
	case u.User != nil:
		return "a URL with credentials"
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("%q does not begin with http:// or https://", show(s))
	case u.Host == "" || u.Hostname() == "":
		return fmt.Sprintf("%q names no host", show(s))
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "a base address has no ? or # part"
	}
	return ""
}

// bindVariable is the environment variable that binds a candidate.
func bindVariable(candidate string) string {
	return bindPrefix + strings.ToUpper(strings.ReplaceAll(candidate, "-", "_"))
}

const bindPrefix = "CUPEL_BIND_"

// ResolveBindings merges the three sources of bindings for the candidates and
// judges of c.
// A flag goes before an environment variable (CUPEL_BIND_<NAME>, dashes as
// underscores), which goes before the bindings file. A binding is taken whole
// from one source: a key that the file names for one address is never sent to
// another. A name that is no candidate is an error in a flag and in the file,
// and left alone in the environment, which serves all campaigns; a
// candidate without a binding is simply absent from the result.
//
// environ is in the form of os.Environ, flags are the values of --bind.
func ResolveBindings(c *Campaign, file map[string]Binding, environ, flags []string) (map[string]Binding, error) {
	var errs Errors
	out := map[string]Binding{}
	all := c.Endpoints()
	for _, name := range sortedKeys(file) {
		if isCandidate(&errs, "bindings", name, all) {
			out[name] = file[name]
		}
	}
	overlayEnviron(out, all, environ, &errs)
	seen := map[string]bool{}
	for _, f := range flags {
		name, b, err := ParseBindFlag(f)
		if err != nil {
			errs = append(errs, asErrors(err)...)
			continue
		}
		if seen[name] {
			errs = append(errs, &Error{Path: "--bind", Msg: fmt.Sprintf("%s is bound twice", name), Hint: "keep one"})
		}
		seen[name] = true
		if isCandidate(&errs, "--bind", name, all) {
			out[name] = b
		}
	}
	return out, errs.err()
}

func overlayEnviron(out map[string]Binding, all, environ []string, errs *Errors) {
	byVar := map[string]string{}
	for _, name := range all {
		byVar[bindVariable(name)] = name
	}
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		variable, value, ok := strings.Cut(kv, "=")
		if !ok || !strings.HasPrefix(variable, bindPrefix) || value == "" {
			continue
		}
		name, ok := byVar[variable]
		if !ok {
			continue // a machine may bind the candidates of other campaigns
		}
		b, err := parseBind(variable, value)
		if err != nil {
			*errs = append(*errs, asErrors(err)...)
			continue
		}
		out[name] = b
	}
}

func isCandidate(errs *Errors, where, name string, all []string) bool {
	if slices.Contains(all, name) {
		return true
	}
	*errs = append(*errs, &Error{Path: where, Msg: fmt.Sprintf("there is no candidate %q", show(name)), Hint: didYouMean(name, all)})
	return false
}

func asErrors(err error) Errors {
	if e, ok := errors.AsType[*Error](err); ok {
		return Errors{e}
	}
	return Errors{{Msg: err.Error()}}
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// usualPorts are where engines listen unless told otherwise: Ollama, vLLM,
// llama.cpp, SGLang, TGI, LM Studio.
var usualPorts = []int{11434, 8000, 8080, 30000, 3000, 1234}

// enginePatience is for one address. An engine that is busy may need longer than
// that, and is then not found.
const enginePatience = 300 * time.Millisecond

// lookAt is an address to look at.
type lookAt struct {
	of  string // candidate, "" for a usual port
	url string
}

// lookEngines asks every address at the same time.
func lookEngines(ctx context.Context, d *doctor) []diagnosis {
	places := d.places()
	found := make([]*diagnosis, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() { found[i] = lookEngine(ctx, p) })
	}
	all.Wait()
	var out []diagnosis
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	if out == nil {
		return diagnose(doctorMissing, "no engine answers on the usual ports of this machine", "start one, or try cupel demo, which brings its own")
	}
	return out
}

// places are the usual ports and what a bindings file names, once each.
func (d *doctor) places() []lookAt {
	var out []lookAt
	for _, name := range slices.Sorted(maps.Keys(d.bindings)) {
		b := d.bindings[name]
		for _, u := range append([]string{b.URL}, b.Replicas...) {
			if !strings.HasPrefix(u, embeddedScheme) {
				out = append(out, lookAt{name, u})
			}
		}
	}
	for _, port := range d.ports {
		u := fmt.Sprintf("http://127.0.0.1:%d", port)
		if !slices.ContainsFunc(out, func(p lookAt) bool { return strings.HasPrefix(p.url+"/", u+"/") }) {
			out = append(out, lookAt{"", u})
		}
	}
	return out
}

// lookEngine says what is at an address. Nothing at a usual port is worth no line.
func lookEngine(ctx context.Context, p lookAt) *diagnosis {
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	found, err := llm.Look(ctx, p.url)
	switch {
	case err != nil && p.of == "":
		return nil
	case err != nil:
		return &diagnosis{State: doctorMissing, Says: fmt.Sprintf("%s of %s: %v", p.url, p.of, err), Fix: "start it, or bind the candidate to where it is"}
	}
	says := p.url
	if p.of != "" {
		says += " of " + p.of
	}
	says += ": " + engineText(found)
	if len(found.Models) == 0 {
		return &diagnosis{State: doctorWarn, Says: says, Fix: "load a model"}
	}
	return &diagnosis{State: doctorOK, Says: says}
}

func engineText(f llm.Found) string {
	name := f.Engine
	if name == "" {
		name = "an engine of the " + string(f.API) + " kind"
	}
	if f.Version != "" {
		name += " " + f.Version
	}
	switch n := len(f.Models); {
	case n == 0:
		return name + ", without a model"
	case n > 4:
		return fmt.Sprintf("%s, %s and %d more", name, strings.Join(f.Models[:4], ", "), n-4)
	}
	return name + ", " + strings.Join(f.Models, ", ")
}

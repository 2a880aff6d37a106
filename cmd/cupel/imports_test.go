package main

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/cupel-dev/cupel/"

// layers lists the packages from top to bottom, as ARCHITECTURE.md does: a
// package imports only what stands below it. Packages in one row do not import
// one another, except where alsoBelow says so.
var layers = [][]string{
	{"cmd/cupel", "cmd/cupel-meter"},
	{"cmd/cupel/internal/tinyengine"},
	{"suites/gen"}, // makes items, and is no part of what runs
	{"engine/exec"},
	{"engine/plan"},
	{"engine/store"},
	{"stages/imported"}, // derives from artifacts
	{"stages/artifact"}, // reads what all stages write
	{"stages/sandbox", "stages/foreign", "stages/items/suite"}, // know scorers
	{"stages/research", "stages/preflight", "stages/measure", "stages/score", "stages/compare", "stages/publish", "stages/decide", "stages/serve"},
	{"stages/pin", "stages/measure/prompts", "stages/prior"}, // measuring looks at a pin again, preflight asks for lengths too, record and guards look at claims
	{"engine/guard"},
	{"stages/history"},
	{"stages/attest"}, // signers are those of approvals
	{"stages/evidence", "stages/approval"},
	{"stages/judge"},
	{"stages/llm", "stages/scrape", "stages/pin/hub", "stages/pin/image", "stages/meter"},
	{"stages/metric", "stages/items", "stages/hardware", "stages/pin/fetch", "stages/pin/inventory"},
	{"stages/stats", "stages/trace", "stages/promtext"},
	{"engine/spec"},
	{"engine/step"},
	{"engine/diskfile"},
	{"schemas", "suites", "pipelines"},
}

// pure packages do no I/O and take no clock.
var pure = []string{"engine/plan", "engine/guard", "stages/metric", "stages/metric/energy", "stages/trace", "stages/promtext", "stages/stats", "stages/score", "stages/decide", "stages/foreign", "stages/judge", "stages/history", "stages/artifact",
	"stages/prior", "stages/prior/table", "stages/prior/match", "stages/scrape", "stages/measure/prompts", "stages/measure/arrival", "stages/items/scrub", "stages/items/dedupe", "stages/meter/parse", "stages/meter/convert", "suites/gen"}

// seeded packages draw from generators that their caller seeds.
var seeded = []string{"stages/measure/prompts", "stages/measure/arrival", "suites/gen"}

// impure are imports that a pure package must not have.
var impure = []string{"os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "os/exec", "syscall", module + "engine/diskfile"}

func TestImportRules(t *testing.T) {
	for file, imports := range goImports(t, "../..") {
		pkg := filepath.ToSlash(filepath.Dir(file))
		for _, imp := range imports {
			if own, ok := strings.CutPrefix(imp, module); ok {
				checkOwn(t, file, pkg, own)
			}
			if imp == "math/rand/v2" && slices.Contains(seeded, pkg) {
				continue
			}
			if slices.Contains(pure, pkg) && slices.Contains(impure, imp) {
				t.Errorf("%s: %s is pure and imports %s", file, pkg, imp)
			}
			checkSpecial(t, file, pkg, imp)
		}
	}
}

func checkOwn(t *testing.T, file, pkg, own string) {
	from, to := layer(pkg), layer(own)
	switch {
	case from < 0 || to < 0:
		t.Errorf("%s: %s imports %s, and one of them is not in the list of layers", file, pkg, own)
	case base(pkg) == base(own):
	case to <= from:
		t.Errorf("%s: %s imports %s, which does not stand below it", file, pkg, own)
	}
	if strings.HasPrefix(pkg, "engine/") && strings.HasPrefix(own, "stages/") {
		t.Errorf("%s: the engine knows nothing of stages, and imports %s", file, own)
	}
	if strings.HasPrefix(pkg, "stages/") && strings.HasPrefix(own, "engine/") && !allowedEngine(pkg, own) {
		t.Errorf("%s: stages know of the engine only step, spec and diskfile, and %s imports %s", file, pkg, own)
	}
	if own == "cmd/cupel/internal/tinyengine" && pkg != "cmd/cupel" {
		t.Errorf("%s: only cmd/cupel knows the embedded engine", file)
	}
}

// allowedEngine: decide evaluates guards, so it alone also imports guard. Reading a
// file within bounds is nobody's own business.
func allowedEngine(pkg, own string) bool {
	return own == "engine/step" || own == "engine/spec" || own == "engine/diskfile" || own == "engine/guard" && pkg == "stages/decide"
}

// checkSpecial keeps what one package is for out of all others.
func checkSpecial(t *testing.T, file, pkg, imp string) {
	switch {
	case imp == "net/http" && pkg != "stages/research/fetch" && !slices.Contains([]string{"stages/llm", "stages/pin/fetch", "stages/pin/hub", "stages/pin/image", "stages/meter", "cmd/cupel/internal/tinyengine"}, base(pkg)):
		t.Errorf("%s: only stages/llm talks to endpoints, only stages/pin/fetch to hubs and registries, only stages/research/fetch gets pages, only stages/meter reads meters elsewhere, and %s imports net/http", file, pkg)
	case strings.HasPrefix(imp, "github.com/google/cel-go") && pkg != "engine/guard":
		t.Errorf("%s: CEL stays behind engine/guard", file)
	case strings.HasPrefix(imp, "github.com/ebitengine/purego") && !strings.HasSuffix(file, "_darwin_arm64.go"):
		t.Errorf("%s: purego makes binaries for Linux dynamic: it stays in files for darwin/arm64", file)
	case imp == "C":
		t.Errorf("%s: no cgo", file)
	}
}

// base cuts a package's own test helpers and internals back to it: to the
// longest name of the list that it lies below.
func base(pkg string) string {
	if layerExact(pkg) >= 0 {
		return pkg
	}
	best := ""
	for _, p := range slices.Concat(layers...) {
		if strings.HasPrefix(pkg, p+"/") && len(p) > len(best) {
			best = p
		}
	}
	return cmp.Or(best, pkg)
}

func layer(pkg string) int { return layerExact(base(pkg)) }

func layerExact(pkg string) int {
	return slices.IndexFunc(layers, func(row []string) bool { return slices.Contains(row, pkg) })
}

// goImports reads the imports of every non-test Go file below root.
func goImports(t *testing.T, root string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "e2e") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			out[rel] = append(out[rel], imp)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d files found below %s: the test looks in the wrong place", len(out), root)
	}
	return out
}

package spec

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"

	"github.com/cupel-dev/cupel/schemas"
)

// schema is the compiled package of schemas/*.cue. A cue.Context is not safe
// for concurrent use: whoever evaluates holds mu.
type schema struct {
	mu       sync.Mutex
	ctx      *cue.Context
	root     cue.Value
	campaign cue.Value         // #Campaign, for the walk
	resolved cue.Value         // #Resolved, for the last word and the defaults
	allowed  map[string]string // pattern -> wording for people
	limits   limits
}

// limits are the numbers of #Limits.
type limits struct {
	Candidates int `json:"candidates"`
	Measure    int `json:"measure"`
	Guards     int `json:"guards"`
	List       int `json:"list"`
}

// compiled is the schema, compiled once; the files are embedded, so that a
// failure is a defect of the program.
var compiled = sync.OnceValue(func() *schema {
	s, err := compileSchema()
	if err != nil {
		panic("cupel: embedded schemas: " + err.Error())
	}
	return s
})

func schemaLimits() limits { return compiled().limits }

func compileSchema() (*schema, error) {
	file, err := schemaFile()
	if err != nil {
		return nil, err
	}
	s := &schema{ctx: cuecontext.New(), allowed: map[string]string{}}
	s.root = s.ctx.BuildFile(file)
	if err := s.root.Validate(); err != nil {
		return nil, err
	}
	s.campaign, s.resolved = s.def("Campaign"), s.def("Resolved")
	it, err := s.root.Fields(cue.Definitions(true))
	if err != nil {
		return nil, err
	}
	for it.Next() {
		v := it.Value()
		if attr := v.Attribute("allowed"); attr.Err() == nil {
			words, err := attr.String(0)
			if err != nil {
				return nil, err
			}
			_, args := v.Expr()
			pattern, err := args[0].String()
			if err != nil {
				return nil, fmt.Errorf("%s: @allowed is for patterns: %w", it.Selector(), err)
			}
			s.allowed[pattern] = words
		}
	}
	return s, s.def("Limits").Decode(&s.limits)
}

func (s *schema) def(name string) cue.Value {
	return s.root.LookupPath(cue.MakePath(cue.Def(name)))
}

// schemaFile joins the embedded files into one, in the order of their names.
func schemaFile() (*ast.File, error) {
	entries, err := schemas.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	out := &ast.File{Filename: "schemas"}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".cue") {
			continue
		}
		src, err := schemas.Files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile("schemas/"+e.Name(), src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if f.PackageName() != "cupel" {
			continue
		}
		for _, d := range f.Decls {
			if _, ok := d.(*ast.Package); !ok {
				out.Decls = append(out.Decls, d)
			}
		}
	}
	return out, nil
}

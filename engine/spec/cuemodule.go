package spec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/schemas"
)

// moduleOverlay gives a campaign outside of any module one, and a module that
// does not require the schema that requirement, so that importing the schema
// needs no preparation. Nothing is written.
func moduleOverlay(dir string) (map[string]load.Source, error) {
	root := dir
	for {
		name := filepath.Join(root, "cue.mod", "module.cue")
		src, err := os.ReadFile(name)
		if err == nil {
			return withSchema(name, src)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cue.mod/module.cue: %w", diskfile.Cause(err))
		}
		up := filepath.Dir(root)
		if up == root {
			return withSchema(filepath.Join(dir, "cue.mod", "module.cue"), []byte(campaignModule))
		}
		root = up
	}
}

const campaignModule = `module: "cupel.dev/campaign@v0"
language: version: "v0.15.0"
`

func withSchema(name string, src []byte) (map[string]load.Source, error) {
	f, err := modfile.ParseNonStrict(src, name)
	if err != nil {
		return nil, err
	}
	if f.QualifiedModule() == schemas.Module {
		return map[string]load.Source{}, nil // the schema's own folder
	}
	if _, ok := f.Deps[schemas.Module]; !ok {
		if f.Deps == nil {
			f.Deps = map[string]*modfile.Dep{}
		}
		f.Deps[schemas.Module] = &modfile.Dep{Version: schemas.Version}
	}
	out, err := modfile.Format(f)
	if err != nil {
		return nil, err
	}
	return map[string]load.Source{name: load.FromBytes(out)}, nil
}

// schemaFiles returns the files of a schema module by name.
type schemaFiles func() (map[string][]byte, error)

func embeddedSchema() (map[string][]byte, error) {
	out := map[string][]byte{}
	return out, fs.WalkDir(schemas.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[name], err = schemas.Files.ReadFile(name)
		}
		return err
	})
}

// openSchema is the schema with every definition open to everything.
func openSchema() (map[string][]byte, error) {
	out, err := embeddedSchema()
	if err != nil {
		return nil, err
	}
	for name, src := range out {
		if strings.Contains(name, "/") {
			continue
		}
		f, err := parser.ParseFile(name, src)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "package %s\n", f.PackageName())
		for _, d := range f.Decls {
			if def, ok := d.(*ast.Field); ok {
				label, _, _ := ast.LabelName(def.Label)
				fmt.Fprintf(&b, "%s: _\n", label)
			}
		}
		out[name] = []byte(b.String())
	}
	return out, nil
}

// addSchemaFiles puts a schema module into the overlay, in a folder that does
// not exist: the loader wants every module to have a place on the disk.
func addSchemaFiles(overlay map[string]load.Source, dir string, module schemaFiles) (root string, err error) {
	root = filepath.Join(filepath.VolumeName(dir)+string(filepath.Separator), filepath.FromSlash(schemaFolder))
	files, err := module()
	for name, src := range files {
		overlay[filepath.Join(root, filepath.FromSlash(name))] = load.FromBytes(src)
	}
	return root, err
}

// schemaFolder is where errors say the schema's files are.
const schemaFolder = "cupel.dev/schemas@" + schemas.Version

// schemaFS is the embedded schema with the place that the loader wants.
type schemaFS struct {
	fs.FS
	root string
}

// OSRoot returns the folder of addSchemaFiles.
func (s schemaFS) OSRoot() string { return s.root }

// embeddedRegistry serves the schema module from the program and nothing else.
type embeddedRegistry struct{ root string }

func (embeddedRegistry) only(mod string) error {
	if mod == schemas.Module {
		return nil
	}
	return fmt.Errorf("module %s is not served here: a campaign imports only %s and packages of its own module", mod, schemas.Module)
}

// ModFile returns the schema's module file.
func (r embeddedRegistry) ModFile(_ context.Context, m module.Version) (*modfile.File, error) {
	if err := r.only(m.Path()); err != nil {
		return nil, err
	}
	src, err := schemas.Files.ReadFile("cue.mod/module.cue")
	if err != nil {
		return nil, err
	}
	return modfile.Parse(src, "cue.mod/module.cue")
}

// Fetch returns the embedded files.
func (r embeddedRegistry) Fetch(_ context.Context, m module.Version) (module.SourceLoc, error) {
	if err := r.only(m.Path()); err != nil {
		return module.SourceLoc{}, err
	}
	return module.SourceLoc{FS: schemaFS{schemas.Files, r.root}, Dir: "."}, nil
}

// ModuleVersions returns the one version there is.
func (r embeddedRegistry) ModuleVersions(_ context.Context, path string) ([]string, error) {
	if !strings.HasPrefix(schemas.Module, path) {
		return nil, nil
	}
	return []string{schemas.Version}, nil
}

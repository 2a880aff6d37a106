package spec

import (
	"fmt"
	"path/filepath"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
)

// parseCUEFile reads one .cue file; it may import the schema module and the
// packages of its own module.
func parseCUEFile(file string, src []byte) (*node, Errors) {
	if errs := checkText(file, src); errs != nil {
		return nil, errs
	}
	r := &cueReader{shown: file}
	return r.read(filepath.Dir(file), filepath.Base(file))
}

// parseCUEPackage reads the CUE package in a folder.
func parseCUEPackage(dir string) (*node, Errors) {
	r := &cueReader{shown: dir, pkg: true}
	return r.read(dir, ".")
}

// cueReader evaluates the user's CUE and turns the value into a tree. Its
// context is its own: the value of a foreign file must not stay in memory.
type cueReader struct {
	shown string // file or folder, as the user named it
	pkg   bool
	abs   string // absolute folder
	errs  Errors
	count int
}

func (r *cueReader) read(dir, arg string) (root *node, errs Errors) {
	// The evaluator runs on a file that anybody may have written; a defect of it
	// is an error of the file, not the end of the program.
	defer func() {
		if p := recover(); p != nil {
			root, errs = nil, Errors{{File: r.shown, Msg: "CUE cannot evaluate this: " + clip(fmt.Sprint(p))}}
		}
	}()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, Errors{{File: r.shown, Msg: err.Error()}}
	}
	r.abs = abs
	v, err := r.evaluate(arg, embeddedSchema)
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	if err != nil {
		// Perhaps only the imported schema refuses something. Then the values as
		// written tell more than CUE's own errors do.
		bare, again := r.evaluate(arg, openSchema)
		if again != nil {
			r.addCUE(err)
			return nil, r.errs
		}
		v = bare
	}
	root = r.value(v, nil, pos{file: r.shown})
	if r.pkg {
		nodeSecrets(root, nil, &r.errs)
	}
	return root, r.errs
}

// evaluate loads and builds with the given files as the schema module.
func (r *cueReader) evaluate(arg string, module schemaFiles) (cue.Value, error) {
	inst, err := r.instance(arg, module)
	if err != nil {
		return cue.Value{}, err
	}
	if r.errs = r.sources(inst); len(r.errs) > 0 {
		return cue.Value{}, nil
	}
	v := cuecontext.New().BuildInstance(inst)
	return v, v.Validate()
}

// instance loads without network: the only module that is served is the
// embedded schema.
func (r *cueReader) instance(arg string, module schemaFiles) (*build.Instance, error) {
	overlay, err := moduleOverlay(r.abs)
	if err != nil {
		return nil, err
	}
	root, err := addSchemaFiles(overlay, r.abs, module)
	if err != nil {
		return nil, err
	}
	insts := load.Instances([]string{arg}, &load.Config{
		Dir: r.abs, Registry: embeddedRegistry{root}, Overlay: overlay, Env: []string{},
	})
	if len(insts) != 1 {
		return nil, fmt.Errorf("%d CUE packages, allowed one", len(insts))
	}
	return insts[0], insts[0].Err
}

// sources checks the size of the package's files and looks for secrets in them.
func (r *cueReader) sources(inst *build.Instance) Errors {
	var errs Errors
	total := 0
	for _, f := range inst.BuildFiles {
		src, err := readRegular(f.Filename, maxFileBytes)
		if err != nil {
			errs = append(errs, &Error{File: r.show(f.Filename), Msg: err.Error()})
			continue
		}
		total += len(src)
		if r.pkg {
			errs = append(errs, scanSecrets(r.show(f.Filename), src)...)
		}
	}
	if total > maxFileBytes {
		errs = append(errs, &Error{File: r.shown, Msg: fmt.Sprintf("%d bytes of CUE, allowed %d (1 MiB)", total, maxFileBytes)})
	}
	return errs
}

// show names a file as the user would.
func (r *cueReader) show(file string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.abs, file)
	}
	rel, err := filepath.Rel(r.abs, file)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.Base(file)
	}
	if r.pkg {
		return filepath.Join(r.shown, rel)
	}
	return filepath.Join(filepath.Dir(r.shown), rel)
}

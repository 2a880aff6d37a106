package library

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/prior/table"
)

// validID is #Name of the campaign's schema, so that an id can be used in both.
var validID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// ValidID reports whether a text can be the id of a source.
func ValidID(id string) bool { return validID.MatchString(id) }

// Add reads what is imported and keeps it below dir. The same import again
// changes nothing; anything else is another version, beside the ones before.
func Add(dir string, in Import) (Result, error) {
	if !ValidID(in.ID) {
		return Result{}, step.WithHint(fmt.Errorf("%q is no id of a source", in.ID), "1 to 63 of a-z, 0-9, - and _, beginning with a letter or digit: --id NAME")
	}
	rows, problems, err := read(in)
	if err != nil {
		return Result{}, err
	}
	if len(rows) == 0 {
		return Result{}, nothing(problems)
	}
	for i := range rows {
		rows[i].ID = fmt.Sprintf("%s#%d", in.ID, i+1)
	}
	k := keeper{dir: filepath.Join(dir, in.ID)}
	if err := os.MkdirAll(k.dir, 0o777); err != nil {
		return Result{}, fmt.Errorf("folder of source %s: %w", in.ID, err)
	}
	unlock, err := lock(k.dir)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	return k.add(dir, in, rows, problems)
}

func read(in Import) ([]table.Row, []table.Problem, error) {
	tables, problems, err := table.Read(in.Format, in.Bytes)
	if err != nil {
		return nil, nil, err
	}
	rows, more, err := table.Rows(tables, in.Options)
	return rows, append(problems, more...), err
}

// nothing says why there is no row.
func nothing(problems []table.Problem) error {
	why := "there is no table in it"
	if len(problems) > 0 {
		why = fmt.Sprintf("line %d: %s", problems[0].Line, problems[0].Reason)
	}
	if more := len(problems) - 1; more > 0 {
		why += fmt.Sprintf(" (and %d more)", more)
	}
	return step.WithHint(fmt.Errorf("no row could be read: %s", why), "nothing was kept; --map COLUMN=FIELD and --set FIELD=VALUE say what the headers do not")
}

// keeper writes the folder of one source.
type keeper struct{ dir string }

func (k keeper) add(dir string, in Import, rows []table.Row, problems []table.Problem) (Result, error) {
	src, err := Open(dir, in.ID)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return Result{}, err
	}
	if fresh {
		src = Source{Schema: Schema, ID: in.ID, Kind: in.Kind, URL: in.URL, Publisher: in.Publisher, OwnsFact: in.OwnsFact}
	}
	if err := sameSource(src, in); err != nil {
		return Result{}, err
	}
	v, err := k.version(in, rows, problems)
	if err != nil {
		return Result{}, err
	}
	out := Result{Source: src, Rows: rows, Problems: problems, State: Another}
	switch {
	case !fresh && reflect.DeepEqual(src.Latest(), v):
		out.State = Unchanged
		return out, nil
	case fresh:
		out.State = New
	}
	out.Source.Versions = append(src.Versions, v)
	b, err := json.MarshalIndent(out.Source, "", "  ")
	if err != nil {
		return Result{}, err
	}
	return out, k.replace("source.json", append(b, '\n'))
}

// sameSource refuses to mix two sources under one id.
func sameSource(src Source, in Import) error {
	for _, f := range []struct{ what, have, now string }{
		{"URL", src.URL, in.URL}, {"kind", src.Kind, in.Kind}, {"publisher", src.Publisher, in.Publisher},
		{"ownsFact", fmt.Sprint(src.OwnsFact), fmt.Sprint(in.OwnsFact)},
	} {
		if f.have != f.now {
			return step.WithHint(fmt.Errorf("source %s is kept with the %s %q, and this import says %q", in.ID, f.what, f.have, f.now), "import it under another --id, or say the same")
		}
	}
	return nil
}

func (k keeper) version(in Import, rows []table.Row, problems []table.Problem) (v Version, err error) {
	v = Version{ObservedOn: in.ObservedOn, PublishedOn: in.PublishedOn, Format: in.Format, FinalURL: in.FinalURL, ContentType: in.ContentType}
	if len(in.Map) > 0 {
		v.Map = in.Map
	}
	if len(in.Set) > 0 {
		v.Set = in.Set
	}
	if v.Snapshot, err = k.keep("snapshot", in.Ext, in.Bytes, 0); err != nil {
		return v, err
	}
	b, err := lines(rows)
	if err != nil {
		return v, err
	}
	if v.Rows, err = k.keep("rows", ".jsonl", b, len(rows)); err != nil || len(problems) == 0 {
		return v, err
	}
	if b, err = lines(problems); err != nil {
		return v, err
	}
	skipped, err := k.keep("skipped", ".jsonl", b, len(problems))
	v.Skipped = &skipped
	return v, err
}

func lines[T any](list []T) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, x := range list {
		if err := enc.Encode(x); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// keep writes a file under the name of its content.
func (k keeper) keep(what, ext string, b []byte, count int) (File, error) {
	d := step.Sum(b)
	f := File{Name: fmt.Sprintf("%s-%s%s", what, d.String()[:16], ext), Digest: d, Size: int64(len(b)), Lines: count}
	if old, err := os.ReadFile(filepath.Join(k.dir, f.Name)); err == nil && step.Sum(old) == d {
		return f, nil
	}
	return f, k.replace(f.Name, b)
}

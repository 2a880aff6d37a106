package store

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

// Each case breaks one thing in a sound store with one of everything.
func TestCheckFinds(t *testing.T) {
	k, _ := preimage(t, 1)
	d := step.Sum([]byte("content"))
	hexK, hexD := k.String(), d.String()
	object, record := "objects/"+hexD[:2]+"/"+hexD, "steps/"+hexK[:2]+"/"+hexK+"/1.json"
	entry := "families/" + hexD + "/" + hexK + ".json"
	key, observation := "keys/"+hexK[:2]+"/"+hexK+".json", "observations/"+hexD+".json"
	flip := func(path string, i int) func(dir string) error {
		return func(dir string) error {
			b, err := os.ReadFile(dir + "/" + path)
			if err != nil {
				return err
			}
			b[(i+len(b))%len(b)] ^= 1
			os.Remove(dir + "/" + path)
			return os.WriteFile(dir+"/"+path, b, 0o444)
		}
	}
	rename := func(from, to string) func(dir string) error {
		return func(dir string) error { return os.Rename(dir+"/"+from, dir+"/"+to) }
	}
	put := func(path, content string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(dir+"/"+path, []byte(content), 0o444) }
	}
	chmod := func(path string) func(dir string) error {
		return func(dir string) error { return os.Chmod(dir+"/"+path, 0o644) }
	}
	remove := func(path string) func(dir string) error {
		return func(dir string) error { return os.Remove(dir + "/" + path) }
	}
	empty := func(path string) func(dir string) error {
		return func(dir string) error { os.Chmod(dir+"/"+path, 0o644); return os.Truncate(dir+"/"+path, 0) }
	}
	for name, c := range map[string]struct {
		breakIt func(dir string) error
		want    []string // kind and path
	}{
		"flipped object":       {flip(object, -1), []string{"damaged " + object}},
		"empty object":         {empty(object), []string{"damaged " + object, "mode " + object, "missing " + observation, "missing refs/campaigns/a.json", "missing " + record}},
		"writable object":      {chmod(object), []string{"mode " + object}},
		"missing object":       {remove(object), []string{"missing " + observation, "missing refs/campaigns/a.json", "missing " + record}},
		"misplaced object":     {rename(object, "objects/"+hexD[:2]+"/"+strings.ToUpper(hexD)), []string{"misnamed objects/" + hexD[:2] + "/" + strings.ToUpper(hexD), "missing " + observation, "missing refs/campaigns/a.json", "missing " + record}},
		"link as object":       {func(dir string) error { os.Remove(dir + "/" + object); return os.Symlink("/dev/null", dir+"/"+object) }, []string{"damaged " + object, "missing " + observation, "missing refs/campaigns/a.json", "missing " + record}},
		"flipped record":       {flip(record, 100), []string{"damaged " + record}},
		"torn record":          {empty(record), []string{"damaged " + record, "mode " + record}},
		"renumbered record":    {rename(record, strings.Replace(record, "1.json", "2.json", 1)), []string{"damaged " + strings.Replace(record, "1.json", "2.json", 1)}},
		"misnamed record":      {rename(record, strings.Replace(record, "1.json", "01.json", 1)), []string{"missing refs/campaigns/a.json", "note " + entry, "misnamed " + strings.Replace(record, "1.json", "01.json", 1)}},
		"writable record":      {chmod(record), []string{"mode " + record}},
		"flipped preimage":     {flip(key, 5), []string{"damaged " + key}},
		"missing preimage":     {remove(key), []string{"missing " + record}},
		"misnamed preimage":    {rename(key, "keys/"+hexK[:2]+"/x.json"), []string{"misnamed keys/" + hexK[:2] + "/x.json", "missing " + record}},
		"flipped observation":  {flip(observation, 200), []string{"damaged " + observation}},
		"misnamed observation": {rename(observation, "observations/x.json"), []string{"misnamed observations/x.json"}},
		"flipped ref":          {flip("refs/campaigns/a.json", -10), []string{"damaged refs/campaigns/a.json"}},
		"moved ref":            {rename("refs/campaigns/a.json", "refs/campaigns/b.json"), []string{"damaged refs/campaigns/b.json"}},
		"misnamed ref":         {put("refs/a b.json", "x"), []string{"misnamed refs/a b.json"}},
		"misnamed run":         {put("runs/x", "x"), []string{"misnamed runs/x"}},
		"misnamed journal":     {func(dir string) error { os.Mkdir(dir+"/journals/x", 0o755); return put("journals/x/1.log", "")(dir) }, []string{"misnamed journals/x/1.log"}},
		"torn journal": {func(dir string) error {
			os.Mkdir(dir+"/journals/"+hexK, 0o755)
			return put("journals/"+hexK+"/1.log", "torn")(dir)
		}, []string{"note journals/" + hexK + "/1.log"}},
		"moved family":       {rename(entry, strings.Replace(entry, hexK, hexD, 1)), []string{"damaged " + strings.Replace(entry, hexK, hexD, 1)}},
		"misnamed family":    {rename(entry, "families/"+hexD+"/x"), []string{"misnamed families/" + hexD + "/x"}},
		"flipped family":     {flip(entry, 100), []string{"damaged " + entry}},
		"writable family":    {chmod(entry), []string{"mode " + entry}},
		"family of nothing":  {func(dir string) error { return os.RemoveAll(dir + "/steps/" + hexK[:2]) }, []string{"missing refs/campaigns/a.json", "note " + entry}},
		"leftover":           {put("tmp/.tmp-1", "x"), []string{"note tmp/.tmp-1"}},
		"leftover elsewhere": {put("keys/"+hexK[:2]+"/.tmp-1", "x"), []string{"note keys/" + hexK[:2] + "/.tmp-1"}},
		"unknown file":       {put("notes.txt", "x"), []string{"note notes.txt"}},
	} {
		dir := newDir(t)
		check(t, scenario(t, dir, Hooks{}))
		wantSound(t, open(t, dir, Options{}))
		check(t, c.breakIt(dir))
		var got []string
		_, err := open(t, dir, Options{}).Check(true, func(p Problem) {
			if p.Why == "" {
				t.Errorf("%s: no reason: %+v", name, p)
			}
			got = append(got, p.Kind+" "+p.Path)
		})
		check(t, err)
		slices.Sort(c.want)
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// The quick check does not read: it finds what names and sizes show.
func TestCheckWithoutReading(t *testing.T) {
	s := writable(t)
	_, d := putOne(t, s, 1, "content")
	overwrite(t, s.objectPath(d), []byte("garbage"))
	report := func(p Problem) { t.Errorf("found %+v", p) }
	must[Stats](t)(s.Check(false, report))
	found, _ := problems(t, s)
	if len(found) != 1 || found[0].Digest != d || found[0].Kind != ProblemDamaged {
		t.Errorf("full check found %+v", found)
	}
}

func TestStatsCount(t *testing.T) {
	dir := newDir(t)
	check(t, scenario(t, dir, Hooks{}))
	s := open(t, dir, Options{Mode: ReadWrite})
	k, d := putOne(t, s, 2, "other content")
	attempt(t, s, k, "line")
	overwrite(t, s.objectPath(d), []byte("garbage"))
	check(t, s.Quarantine(d))
	check(t, os.WriteFile(s.path("tmp", ".tmp-1"), []byte("left"), 0o600))
	got := must[Stats](t)(s.Stats())
	want := Stats{Objects: 1, Keys: 2, Records: 2, Observations: 1, Refs: 1, Runs: 1, Journals: 1, Quarantined: 1, Leftovers: 1, LeftoverBytes: 4, JournalBytes: frameRoom + 4}
	for _, size := range []*int64{&got.ObjectBytes, &got.RecordBytes, &got.RunBytes} {
		if *size <= 0 {
			t.Errorf("a size is not positive: %+v", got)
		}
		*size = 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Many damaged objects are reported once each, in order.
func TestCheckOfManyIsSorted(t *testing.T) {
	s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: Hooks{Sync: func(*os.File) error { return nil }}})
	for i := range 200 {
		d := must[step.Digest](t)(s.PutBytes(fmt.Appendf(nil, "content %d", i)))
		if i%2 == 0 {
			overwrite(t, s.objectPath(d), []byte("garbage"))
		}
	}
	found, _ := problems(t, s)
	if len(found) != 100 || !slices.IsSortedFunc(found, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("%d problems", len(found))
	}
}

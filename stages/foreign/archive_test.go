package foreign

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// entry is a file of an archive that a test makes.
type entry struct {
	name, text string
	method     uint16
}

func sample(id string, epoch int, more string) string {
	return fmt.Sprintf(`{"id":%q,"epoch":%d,"output":{"choices":[{"message":{"content":"x"},"stop_reason":"stop"}]}%s}`, id, epoch, more)
}

const goodHeader = `{"status":"success","eval":{"packages":{"inspect_ai":"0.3.1"}}}`

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = io.WriteString(f, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// readLimited is read with other limits of the archive.
func readLimited(content []byte, lim limits) error {
	c := newCollector("file", named("inspect"), Options{Workers: 2}, func(*Row) error { return nil })
	c.limits = lim
	return c.archive(bytes.NewReader(content), int64(len(content)))
}

func TestArchive(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate, zstd.ZipMethodWinZip} {
		log := pack(t, entry{"header.json", goodHeader, method}, entry{"samples/1_epoch_1.json", sample("1", 1, ""), method}, entry{"samples/1_epoch_2.json", sample("1", 2, ""), method})
		rows, rep, err := read(t, log, Options{})
		if err != nil || len(rows) != 2 || rows[1].Repeat != 1 || rep.Version != "0.3.1" || len(rep.Notes) > 0 {
			t.Errorf("method %d: %d rows, report %+v, error %v", method, len(rows), rep, err)
		}
	}
}

// A run that did not end well is told: its samples may be missing.
func TestArchiveIncomplete(t *testing.T) {
	one := entry{"samples/1_epoch_1.json", sample("1", 1, ""), zip.Deflate}
	for want, log := range map[string][]byte{
		"no header":    pack(t, one),
		`is "started"`: pack(t, one, entry{"header.json", `{"status":"started"}`, zip.Deflate}),
	} {
		_, rep, err := read(t, log, Options{})
		if err != nil || !strings.Contains(strings.Join(rep.Notes, " "), want) {
			t.Errorf("notes %q, error %v; want %q", rep.Notes, err, want)
		}
	}
}

func TestArchiveRefused(t *testing.T) {
	head := entry{"header.json", goodHeader, zip.Deflate}
	good := entry{"samples/1_epoch_1.json", sample("1", 1, ""), zip.Deflate}
	bomb := entry{"samples/2_epoch_1.json", sample("2", 1, `,"events":"`+strings.Repeat("0", 1<<20)+`"`), zip.Deflate}
	small := limits{entries: 3, entry: 1 << 19, ratio: 1000, spare: 1 << 30}
	cases := []struct {
		name string
		log  []byte
		lim  limits
		want string
	}{
		{"leaves upwards", pack(t, head, entry{"../samples/x.json", "{}", zip.Store}), archiveLimits, `"../samples/x.json" leaves`},
		{"leaves in the middle", pack(t, head, entry{"samples/../../x.json", "{}", zip.Store}), archiveLimits, "leaves the archive"},
		{"an absolute name", pack(t, head, entry{"/samples/x.json", "{}", zip.Store}), archiveLimits, "leaves the archive"},
		{"a backslash", pack(t, head, entry{`samples\x.json`, "{}", zip.Store}), archiveLimits, "leaves the archive"},
		{"a name twice", pack(t, head, good, good), archiveLimits, "stands twice"},
		{"too many entries", pack(t, head, good, entry{"a", "", 0}, entry{"b", "", 0}), small, "has 4 entries, at most 3"},
		{"an entry too large", pack(t, head, good, bomb), small, "unpacks to more than 524288 bytes"},
		{"all too large", pack(t, head, good, bomb), limits{3, 1 << 30, 10, 1 << 10}, "more than 10 times its size"},
		{"another compression", pack(t, head, good)[:0], archiveLimits, "damaged"},
		{"cut short", pack(t, head, good)[:200], archiveLimits, "damaged"},
		{"a sample that is none", pack(t, head, entry{"samples/1.json", `[]`, zip.Deflate}), archiveLimits, `"samples/1.json"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := readLimited(c.log, c.lim); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// An entry whose checksum is wrong is an error, whatever its JSON says.
func TestArchiveChecksum(t *testing.T) {
	log := pack(t, entry{"header.json", goodHeader, zip.Store}, entry{"samples/1_epoch_1.json", sample("one", 1, ""), zip.Store})
	i := bytes.Index(log, []byte(`"one"`))
	log[i+1] = 'O'
	if _, _, err := read(t, log, Options{}); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("error %v, want one about the checksum", err)
	}
}

func TestEmptyLog(t *testing.T) {
	if _, _, err := read(t, pack(t, entry{"header.json", goodHeader, zip.Deflate}), Options{}); err == nil || !strings.Contains(err.Error(), "samples/") {
		t.Errorf("error %v", err)
	}
}

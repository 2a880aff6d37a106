package source

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// meterAt is a wall meter whose clock stands at a moment after its lines were read.
func meterAt(t *testing.T, text string, now time.Time) *wall {
	t.Helper()
	w := &wall{o: WallOptions{Stale: 5 * time.Second, Now: func() time.Time { return now }}, r: strings.NewReader(text), closed: make(chan struct{})}
	w.run()
	return w
}

func TestWallLines(t *testing.T) {
	now := time.Unix(1_790_000_010, 0)
	for what, c := range map[string]struct {
		text string
		want one
	}{
		"protocol":                {"1790000008 100\n1790000009.5 512.25\n", one{V: 512250}},
		"arrival":                 {"- 75\n", one{V: 75000}},
		"without a last newline":  {"1790000009 100", one{V: 100000}},
		"CSV":                     {"time,volts,power_w\n1790000009,230,99.5\n", one{V: 99500}},
		"decimal comma":           {"Datum;x;Leistung (kW)\n", one{E: Stale}},
		"semicolons":              {"time;Power (kW)\n2026-09-21T14:13:29Z;1,25\n", one{V: 1250000}},
		"quoted":                  {"\ufeff\"timestamp\",\"watts\"\r\n\"1790000009\",\"7\"\r\n", one{V: 7000}},
		"comments":                {"# my meter\n\n1790000009 1\n", one{V: 1000}},
		"nothing":                 {"", one{E: Stale}},
		"old":                     {"1790000004 100\n", one{E: Stale}},
		"from the future":         {"1790000016 100\n", one{E: Stale}},
		"garbage keeps the value": {"1790000009 100\nnothing\n1790000009 -5\n1790000009 1e99\n1 2 3\n1790000009 NaN\n", one{V: 100000}},
		"a local time":            {"time,watts\n2026-09-21 14:13:29,100\n", one{E: Stale}},
		"a long line":             {"- 1\n" + strings.Repeat("x", 3*maxWallLine) + "\n- 2\n", one{V: 2000}},
		"0 W is a value":          {"- 0\n", one{V: 0}},
	} {
		if got := look(meterAt(t, c.text, now))[0]; got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

func TestWallStates(t *testing.T) {
	w := meterAt(t, "nothing\n- 5\n", time.Unix(1_790_000_010, 0))
	s := w.States()
	if len(s) != 1 || len(s[0].Unknown) != 2 || s[0].Unknown[0].Reason != "implausible" || s[0].Unknown[1].Reason != "input-ended" {
		t.Errorf("%+v", s)
	}
}

func TestNoWall(t *testing.T) {
	if s, missing := Wall(nil, WallOptions{}); s != nil || len(missing) != 1 {
		t.Error(s, missing)
	}
}

// A pipe: each value stands until it is too old.
func TestWallPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, pipe := io.Pipe()
		s, missing := Wall(r, WallOptions{})
		if s == nil {
			t.Fatal(missing)
		}
		if got := look(s)[0]; got != (one{E: Stale}) {
			t.Errorf("before the first line: %v", got)
		}
		_, _ = io.WriteString(pipe, "- 100\n")
		synctest.Wait()
		for _, step := range []struct {
			after time.Duration
			want  one
		}{{0, one{V: 100000}}, {5 * time.Second, one{V: 100000}}, {time.Second, one{E: Stale}}} {
			time.Sleep(step.after) // of the bubble's clock
			if got := look(s)[0]; got != step.want {
				t.Errorf("after %v: %v, want %v", step.after, got, step.want)
			}
		}
		_, _ = io.WriteString(pipe, "- 20")
		synctest.Wait()
		if got := look(s)[0]; got != (one{E: Stale}) {
			t.Errorf("half a line: %v", got)
		}
		_, _ = io.WriteString(pipe, "0\n")
		synctest.Wait()
		if got := look(s)[0]; got != (one{V: 200000}) {
			t.Error(got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error("closed twice:", err)
		}
	})
}

// growing is a file that is appended to.
type growing struct {
	mu   sync.Mutex
	text string
}

func (g *growing) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.text == "" {
		return 0, io.EOF
	}
	n := copy(p, g.text)
	g.text = g.text[n:]
	return n, nil
}

func (g *growing) append(s string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.text += s
}

// What stood in a file before says when it was, or it is passed over.
func TestWallFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &growing{text: "- 100\n"}
		s, _ := Wall(g, WallOptions{Follow: true})
		defer s.Close()
		synctest.Wait()
		if got := look(s)[0]; got != (one{E: Stale}) {
			t.Errorf("a line of unknown age: %v", got)
		}
		g.append("- 300\n")
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if got := look(s)[0]; got != (one{V: 300000}) {
			t.Error(got)
		}
		if s.States() != nil {
			t.Error("a file that is followed has not ended")
		}
	})
}

func FuzzWallLines(f *testing.F) {
	f.Add("1790000009 100\n- 5\n")
	f.Add("time,watts\n1790000009,5\n")
	f.Add("time;power (kW)\n\"1790000009\";1,5\n")
	f.Fuzz(func(t *testing.T, text string) {
		var w wallLines
		for line := range strings.Lines(text) {
			mw, at, ok, err := w.read(line)
			if ok && err != nil || mw < 0 && ok || mw > maxWatts*1000 && ok || at < 0 {
				t.Fatalf("%q: %d %d %v %v", line, mw, at, ok, err)
			}
		}
	})
}

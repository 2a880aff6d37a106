package meter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// playVariable makes the test binary a cupel-meter that behaves as it says.
const playVariable = "CUPEL_TEST_METER"

func TestMain(m *testing.M) {
	if how := os.Getenv(playVariable); how != "" {
		os.Exit(play(how))
	}
	os.Exit(m.Run())
}

// play is a program that is started as a meter. It never waits for a clock.
func play(how string) int {
	w, _ := trace.NewWriter(os.Stdout, header())
	_ = w.Sample(0, 1, 5, "")
	_ = w.Flush()
	switch how {
	case "proper":
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = w.Sample(0, 2, 7, "")
		_ = w.End(3, trace.End{Why: "input-ended"})
	case "arguments":
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, "cupel-meter: "+strings.Join(os.Args[1:], " "))
		return 3
	case "dies":
		fmt.Fprintln(os.Stderr, "first words\ncupel-meter: the driver is gone")
		return 4
	case "silent death":
		return 4
	case "torn":
		fmt.Print(`{"t":9,"c":0,"v`)
	case "lies":
		fmt.Println("this is no trace")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "deaf":
		select {}
	}
	return 0
}

func header() trace.Header {
	return trace.Header{Meter: "test", Made: "sample", Hz: 20, WallNS: 1, Devices: []trace.Device{{ID: "GPU-1", Kind: trace.GPU}},
		Channels: []trace.Channel{{Device: "GPU-1", Domain: trace.NVGPU, Quantity: trace.Energy, Unit: "mJ", Source: "a"}}}
}

// record runs the test binary as a meter that behaves as how says, and stops it once
// it has begun.
func record(t *testing.T, how string, want Want, grace time.Duration) (string, error) {
	t.Helper()
	t.Setenv(playVariable, how)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := Start(t.Context(), func(ctx context.Context, want Want, stop <-chan struct{}, w io.Writer) error {
		return local(ctx, self, arguments(want), stop, w, grace)
	}, want, &out)
	if !r.Begun(t.Context(), time.Minute) {
		t.Fatal("no header came")
	}
	if how == "dies" || how == "silent death" || how == "torn" || how == "lies" {
		<-r.Ended() // by itself
	}
	err = r.Stop(time.Minute)
	if again := r.Stop(time.Minute); fmt.Sprint(again) != fmt.Sprint(err) {
		t.Errorf("stopped twice: %v, then %v", err, again)
	}
	return out.String(), err
}

func TestLocal(t *testing.T) {
	text, err := record(t, "proper", Want{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	got, err := trace.Read(strings.NewReader(text))
	if err != nil || got.End == nil || len(got.Samples[0]) != 2 {
		t.Errorf("%v, %+v", err, got)
	}
}

// What a meter recorded before it went wrong stays, and can be read.
func TestLocalFails(t *testing.T) {
	for how, want := range map[string]string{
		"dies":         "cupel-meter: exit status 4: the driver is gone",
		"silent death": "cupel-meter: exit status 4",
		"torn":         "it ended before it was asked to",
		"lies":         "line 3: not JSON of the form that is expected",
		"deaf":         "cupel-meter did not end within 1ms",
		"arguments":    "cupel-meter: exit status 3: sample --until-eof --hz 50 --gpu GPU-1 --gpu GPU-2",
	} {
		text, err := record(t, how, Want{GPUs: []string{"GPU-1", "GPU-2"}, Hz: 50}, time.Millisecond)
		if how == "arguments" {
			text, err = record(t, how, Want{GPUs: []string{"GPU-1", "GPU-2"}, Hz: 50}, time.Minute)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
		got, err := trace.Read(strings.NewReader(text))
		if err != nil || got.End != nil || len(got.Samples[0]) != 1 {
			t.Errorf("%s: %v, %+v", how, err, got)
		}
	}
}

func TestNotThere(t *testing.T) {
	r := Start(t.Context(), Local(t.TempDir()+"/nowhere"), Want{}, io.Discard)
	if r.Begun(t.Context(), time.Minute) {
		t.Error("it has begun")
	}
	if err := r.Stop(time.Minute); err == nil || err.Error() != "cupel-meter cannot be started: no such file or directory" {
		t.Error(err)
	}
}

// A meter that hangs is given up, and one that never begins is not waited for longer
// than was said.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ Want, _ <-chan struct{}, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		r := Start(t.Context(), hang, Want{}, io.Discard)
		if r.Begun(t.Context(), 10*time.Second) || time.Since(began) != 10*time.Second {
			t.Errorf("after %s", time.Since(began))
		}
		if err := r.Stop(4 * time.Second); err == nil || err.Error() != "it did not end within 4s" || time.Since(began) != 14*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// A writer that fails ends the recording, and its error is told.
func TestWriterFails(t *testing.T) {
	full := errors.New("no space left on device")
	r := Start(t.Context(), func(_ context.Context, _ Want, _ <-chan struct{}, w io.Writer) error {
		out, err := trace.NewWriter(w, header())
		if err == nil {
			err = out.Flush()
		}
		return err
	}, Want{}, failing{full})
	<-r.Ended()
	if err := r.Stop(time.Minute); !errors.Is(err, full) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestNone(t *testing.T) {
	var out bytes.Buffer
	if err := None(&out, "no-meter", "CUPEL_METER is off"); err != nil {
		t.Fatal(err)
	}
	got, err := trace.Read(&out)
	if err != nil || got.None == nil || *got.None != (trace.Missing{Reason: "no-meter", Detail: "CUPEL_METER is off"}) {
		t.Errorf("%v, %+v", err, got)
	}
}

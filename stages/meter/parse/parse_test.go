package parse

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		text  string
		scale int
		want  int64
	}{
		{"0", 0, 0}, {"-0", 3, 0}, {"12", 0, 12}, {"+12", 1, 120}, {"3.5", 0, 4}, {"-3.5", 0, -4}, {"3.4999", 0, 3},
		{"0.52", 3, 520}, {".5", 1, 5}, {"5.", 1, 50}, {"0.0004", 3, 0}, {"0.0005", 3, 1}, {"0.00049", 3, 0},
		{"126272101025", 0, 126272101025}, {"1.26272101025e+11", 0, 126272101025}, {"1e3", -1, 100}, {"1E-3", 6, 1000},
		{"9007199254740993", 0, 9007199254740993}, // 2^53 + 1
		{"9223372036854775807", 0, math.MaxInt64},
		{"00000000000000000000000000000007", 0, 7}, {"6", -1, 1}, {"4", -1, 0}, {"6", -2, 0}, {"0e999", 0, 0}, {"1e-999", 0, 0},
	} {
		if got, err := Decimal(c.text, c.scale); err != nil || got != c.want {
			t.Errorf("%q * 10^%d: %d, %v, want %d", c.text, c.scale, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "-", ".", "e5", "1e", "1e+", "1.2.3", "NaN", "Inf", "0x10", "1 ", "1,5", "1e1000", "--1", "٣"} {
		if got, err := Decimal(bad, 0); err == nil {
			t.Errorf("%q was read as %d", bad, got)
		}
	}
	for _, large := range []string{"9223372036854775808", "1e19", "99999999999999999999", "1e999"} {
		if got, err := Decimal(large, 0); !errors.Is(err, errTooLarge) {
			t.Errorf("%q: %d, %v", large, got, err)
		}
	}
}

func TestStamp(t *testing.T) {
	berlin, err := Zone("+02:00")
	if err != nil {
		t.Fatal(err)
	}
	const at = int64(1_790_000_000_500_000_000) // 2026-09-21T14:13:20.5Z
	for text, zone := range map[string]*time.Location{
		"1790000000.5": nil, "1790000000500": nil, "1790000000500000": nil, "1790000000500000000": nil,
		"2026-09-21T14:13:20.5Z": nil, "2026-09-21T16:13:20.500+02:00": nil, " 2026-09-21 16:13:20.5 +0200": nil,
		"2026/09/21 16:13:20.500": berlin, "2026-09-21T16:13:20.5": berlin, "2026-09-21 16:13:20,5": berlin,
	} {
		if got, err := Stamp(text, zone); err != nil || got != at {
			t.Errorf("%q: %d, %v, want %d", text, got, err, at)
		}
	}
	if _, err := Stamp("2026/09/21 16:13:20.500", nil); !errors.Is(err, ErrNoZone) {
		t.Errorf("a local time without a zone: %v", err)
	}
	for _, bad := range []string{"", "now", "12", "-1790000000", "2026-13-01T00:00:00Z", "2026-09-21", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "1e30"} {
		if got, err := Stamp(bad, berlin); err == nil {
			t.Errorf("%q was read as %d", bad, got)
		}
	}
}

func TestZone(t *testing.T) {
	for text, want := range map[string]int{"+02:00": 7200, "-0530": -19800, "Z": 0, "+01": 3600} {
		z, err := Zone(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, off := time.Unix(0, 0).In(z).Zone(); off != want {
			t.Errorf("%s: %d s, want %d", text, off, want)
		}
	}
	for _, bad := range []string{"", "CET", "2", "+2", "+99:99", "Europe/Berlin"} {
		if _, err := Zone(bad); err == nil {
			t.Errorf("%q is an offset", bad)
		}
	}
}

func TestReadColumn(t *testing.T) {
	for cell, want := range map[string]Column{
		"time": {Kind: Time}, "\ufeffTimestamp": {Kind: Time}, `"Date"`: {Kind: Time},
		"watts": {Power, 0}, "W": {Power, 0}, "power_w": {Power, 0}, "Power (kW)": {Power, 3}, "Active Power [W]": {Power, 0},
		"P/mW": {Power, -3}, "power MW": {Power, 6}, "power_mW": {Power, -3},
		"Energy [Wh]": {Energy, 0}, "kWh": {Energy, 3}, "energy_kwh": {Energy, 3}, "watt-hours": {Energy, 0},
		"volts": {}, "": {}, "power": {}, "current (A)": {}, "window": {}, "runtime": {},
	} {
		if got := ReadColumn(cell); got != want {
			t.Errorf("%q: %+v, want %+v", cell, got, want)
		}
	}
}

func TestDelimiter(t *testing.T) {
	for header, want := range map[string]rune{"time,watts": ',', "time;watts": ';', "a\tb": '\t', "time": ',', "Zeit;Leistung (W), Mittel;x": ';'} {
		if got := Delimiter(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// What fits into a float64 without loss is read as strconv reads it.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"1", "-2.5e3", "0.1", "1e400", "9223372036854775808", "..", "1e-300"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Decimal(s, 0)
		x, ferr := strconv.ParseFloat(s, 64)
		if err == nil && ferr != nil && !errors.Is(ferr, strconv.ErrRange) {
			t.Fatalf("%q was read as %d and is no number: %v", s, n, ferr)
		}
		if err == nil && ferr == nil && math.Abs(float64(n)-x) > 1+1e-12*math.Abs(x) {
			t.Fatalf("%q was read as %d, and is %v", s, n, x)
		}
	})
}

func FuzzStamp(f *testing.F) {
	for _, s := range []string{"1790000000.5", "2026-09-21T14:13:20.5Z", "2026/09/21 16:13:20.500", "20260921T141320Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := Stamp(s, time.UTC); err == nil && (n < earliest || n > latest) {
			t.Fatalf("%q is %d", s, n)
		}
		_, _ = Zone(s)
		_ = ReadColumn(s)
	})
}

func TestCells(t *testing.T) {
	for line, want := range map[string]string{`a, b ,c`: "a|b|c", `"a,1", b`: "a,1|b", ``: "", `"x""y"`: `x"y`} {
		cells, ok := Cells(line, ',')
		if got := strings.Join(cells, "|"); !ok || got != want {
			t.Errorf("%q: %q %v", line, got, ok)
		}
	}
	for _, bad := range []string{`"a`, `a"b`, `"a"b,c`} {
		if cells, ok := Cells(bad, ','); ok {
			t.Errorf("%q: %q", bad, cells)
		}
	}
	if Point("1,5", ';') != "1.5" || Point("1,5", ',') != "1,5" {
		t.Error("the decimal comma")
	}
}

package publish

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	printing "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/cupel-dev/cupel/stages/metric"
)

// browser starts Chromium; a test that needs one is skipped where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	name := ""
	for _, try := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(try); err == nil {
			name = at
			break
		}
	}
	if name == "" {
		t.Skip("no Chromium here: the page is not looked at in a browser")
	}
	deadline, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	alloc, cancel := chromedp.NewExecAllocator(deadline, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(name), chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	return ctx
}

// look is what a script in the browser finds on the page.
type look struct {
	Overflow   float64  `json:"overflow"` // pixels that the page is wider than the window
	Wide       []string `json:"wide"`     // what sticks out
	Background string   `json:"background"`
	Charts     int      `json:"charts"`
	Outside    []string `json:"outside"` // texts of charts outside their box
	Headings   int      `json:"headings"`
}

const looking = `(() => {
  document.querySelectorAll('details').forEach(d => d.open = true);
  const w = document.documentElement.clientWidth, out = {wide: [], outside: []};
  out.overflow = document.documentElement.scrollWidth - w;
  for (const e of document.querySelectorAll('main *')) {
    if (e.closest('.scroll') || e.closest('svg') || e.closest('pre')) continue;
    const r = e.getBoundingClientRect();
    if (r.width > 0 && r.right > w + 1) out.wide.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right));
  }
  for (const e of document.querySelectorAll('.chart text, .b text')) {
    const r = e.getBoundingClientRect(), b = e.closest('.box').getBoundingClientRect();
    if (r.right > b.right + 1 || r.left < b.left - 1) out.outside.push(e.textContent);
  }
  out.background = getComputedStyle(document.body).backgroundColor;
  out.charts = document.querySelectorAll('.chart svg, .f svg, .b svg').length;
  out.headings = document.querySelectorAll('h1, h2').length;
  return out;
})()`

// TestInBrowser opens the report as a phone, a desktop, in the dark and on
// paper: nothing sticks out, nothing is fetched, both schemes differ.
func TestInBrowser(t *testing.T) {
	_, usual := rendered(t)
	t.Run("usual", func(t *testing.T) { inBrowser(t, usual, 20) })
	_, ofEnergy := energyRendered(t)
	t.Run("energy", func(t *testing.T) { inBrowser(t, ofEnergy, 10) })
}

func inBrowser(t *testing.T, f []byte, charts int) {
	ctx := browser(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, f, 0o644); err != nil {
		t.Fatal(err)
	}
	address := (&url.URL{Scheme: "file", Path: file}).String()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	background := map[string]string{}
	for _, width := range []int64{360, 768, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				t.Fatal(err)
			}
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)); err != nil {
				t.Fatal(err)
			}
			got, err := chromedp.Run(ctx, chromedp.Evaluate[look](looking))
			if err != nil {
				t.Fatal(err)
			}
			if got.Overflow > 0 || len(got.Wide) > 0 || len(got.Outside) > 0 {
				t.Errorf("%d px, %s: %.0f px too wide: %v; texts outside their box: %q", width, scheme, got.Overflow, got.Wide, got.Outside)
			}
			if got.Charts < charts || got.Headings < 6 {
				t.Errorf("%d px, %s: %d charts, %d headings", width, scheme, got.Charts, got.Headings)
			}
			background[scheme] = got.Background
		}
	}
	if background["light"] == background["dark"] {
		t.Errorf("light and dark look alike: %v", background)
	}
	pdf, err := chromedp.Call(ctx, printing.PrintToPDF, printing.PrintToPDFParams{})
	if err != nil || len(pdf.Data) < 10_000 {
		t.Errorf("printing: %v, %d bytes", err, len(pdf.Data))
	}
	fetched, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`performance.getEntriesByType("resource").map(e => e.name)`))
	if err != nil || len(fetched) > 0 {
		t.Errorf("the page fetches %v, %v", fetched, err)
	}
}

// TestEnergyFits: on a desktop nothing of the energy tables is scrolled out of sight, with
// the longest base, the longest reasons and all notes.
func TestEnergyFits(t *testing.T) {
	rec, dec := energyFixture(t)
	for name, c := range rec.Candidates {
		for i := range c.Load["power"].Energy {
			e := &c.Load["power"].Energy[i]
			e.PowerCapShare, e.ThermalShare = value(0.31, "share"), value(0.02, "share")
			if name != "fp8" {
				e.Bases[1] = withoutEnergy("nv.gpu+rapl.package+rapl.dram", metric.PublicationCoarse)
				continue
			}
			e.Bases[1].Base = "nv.gpu+rapl.package+rapl.dram"
		}
	}
	_, report, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, report, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String())); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1200, 1280} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)); err != nil {
			t.Fatal(err)
		}
		tables, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('section')].filter(s => s.querySelector('h2')?.textContent == 'Energy')
  .flatMap(s => [...s.querySelectorAll('.scroll')]).map(e => e.scrollWidth > e.clientWidth ? e.ariaLabel + ': ' + e.scrollWidth + ' in ' + e.clientWidth : '')`))
		if err != nil || len(tables) != 2 {
			t.Fatalf("%q, %v", tables, err)
		}
		for _, table := range tables {
			if table != "" {
				t.Errorf("%d px: %s", width, table)
			}
		}
	}
}

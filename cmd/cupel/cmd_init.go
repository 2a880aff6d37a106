package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/cmd/cupel/internal/tinyengine"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/pipelines"
)

func (a *app) initCmd() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "a campaign, bindings, a small suite and .gitignore to start from",
		Long: `Write a campaign that runs as it is against the engine inside this binary, with a
suite of 40 items, bindings.yaml and a .gitignore. Files that exist are left as
they are. --from starts from one of the pipelines instead: ` + strings.Join(pipelines.Names(), ", ") + `.

` + exitCodeTable(),
		Example: `  cupel init my-decision && cupel run my-decision/campaign.yaml
  cupel init . --from engine-upgrade`,
		Args: atMostOne("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			written, err := writeTemplate(dir, from)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"dir": dir, "written": written})
			}
			for _, name := range written {
				a.printf("%s\n", filepath.Join(dir, name))
			}
			if _, err := os.Stat(filepath.Join(dir, "bindings.yaml")); err != nil {
				a.notef("the engine inside this program does not serve its candidates: the head of campaign.yaml says what to start, and --bind where it is\n")
			}
			a.notef("next: cupel check %s\n", filepath.Join(dir, "campaign.yaml"))
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "start from this `pipeline`")
	return c
}

func writeTemplate(dir, from string) ([]string, error) {
	sub, err := fs.Sub(templateFiles, "template")
	if err != nil {
		return nil, err
	}
	if from == "" {
		written, err := copyTree(sub, dir, dotted)
		return written, fail(exitOutside, err)
	}
	b, err := pipelines.Read(from)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("--from %s: no such pipeline; there are %s", from, strings.Join(pipelines.Names(), ", ")))
	}
	// Pipelines live beside suites/ in the repository; here the suite is below.
	b = []byte(strings.ReplaceAll(string(b), "../suites/", "suites/"))
	var written []string
	for name, content := range map[string][]byte{"campaign.yaml": b, ".gitignore": mustRead(sub, "gitignore")} {
		ok, err := writeNew(filepath.Join(dir, name), content)
		if err != nil {
			return written, fail(exitOutside, err)
		}
		if ok {
			written = append(written, name)
		}
	}
	if strings.Contains(string(b), "suites/tiny") {
		more, err := copySuite("tiny", dir)
		if written = append(written, more...); err != nil {
			return written, fail(exitOutside, err)
		}
	}
	bindings := embeddedBindings(filepath.Join(dir, "campaign.yaml"))
	if bindings == "" {
		return written, nil
	}
	ok, err := writeNew(filepath.Join(dir, "bindings.yaml"), []byte(bindings))
	if ok {
		written = append(written, "bindings.yaml")
	}
	return written, fail(exitOutside, err)
}

// embeddedBindings binds every candidate to the model of its name inside the
// program; "" when one of them has none.
func embeddedBindings(campaign string) string {
	l, err := spec.Load(campaign)
	if err != nil {
		return "" // an edited file of the user's own
	}
	text := "# Where the candidates are now. Not part of the spec hash, not for git.\n" +
		"# An endpoint of your own: {url: http://127.0.0.1:8000/v1, servedName: my-model}\n"
	for _, name := range l.Campaign.Endpoints() {
		pins, _ := l.Campaign.Pinned(name)
		served := pins.ServedName
		if !slices.Contains(tinyengine.Names(), served) {
			return ""
		}
		text += fmt.Sprintf("%s: {url: %q}\n", name, embeddedScheme+served)
	}
	return text
}

// dotted gives .gitignore its dot back: embedded files cannot begin with one.
func dotted(name string) string {
	if name == "gitignore" {
		return ".gitignore"
	}
	return name
}

func mustRead(f fs.FS, name string) []byte {
	b, err := fs.ReadFile(f, name)
	if err != nil {
		panic("embedded file " + name + ": " + err.Error())
	}
	return b
}

package publish

import (
	"embed"
	htmltemplate "html/template"
	"text/template"
)

//go:embed templates
var templateFiles embed.FS

var readmeTemplate = template.Must(template.New("README.md.tmpl").
	Funcs(template.FuncMap{"text": mdText, "cell": mdCell, "code": mdCode, "codecell": mdCodeCell, "title": title}).
	ParseFS(templateFiles, "templates/README.md.tmpl"))

// reportTemplate escapes by context. Only the style sheet, which is a file of
// this package, is put in as it is.
var reportTemplate = htmltemplate.Must(htmltemplate.New("report.html.tmpl").
	Funcs(htmltemplate.FuncMap{"css": css, "energycss": energyCSS, "title": title, "parts": parts, "forest": forestOf, "shape": shapeOf}).
	ParseFS(templateFiles, "templates/*.html.tmpl"))

func css() (htmltemplate.CSS, error) { return styleSheet("report.css") }

// energyCSS styles the power plots, in the pages that have some.
func energyCSS() (htmltemplate.CSS, error) { return styleSheet("energy.css") }

func styleSheet(file string) (htmltemplate.CSS, error) {
	b, err := templateFiles.ReadFile("templates/" + file)
	return htmltemplate.CSS(b), err
}

// forestArgs is what the plot of a forest needs beside its rows.
type forestArgs struct {
	Rows            []scoreRow
	Axis            axis
	Unit, ScoreUnit string
}

func forestOf(q qualityView, c comparisonView) forestArgs {
	return forestArgs{Rows: c.Rows, Axis: c.Axis, Unit: q.Unit, ScoreUnit: q.Scale.scoreUnit()}
}

// shapes tell series apart without colour; each is drawn around 0,0.
var shapes = [styles]string{
	"M0-4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0-4.5Z",
	"M-4-4H4V4H-4Z",
	"M0-5.2L5 4H-5Z",
	"M0-5.5L5.5 0L0 5.5L-5.5 0Z",
	"M0 5.2L5-4H-5Z",
	"M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
}

func shapeOf(style int) string { return shapes[style%styles] }

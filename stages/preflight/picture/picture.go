// Package picture draws what the image and ocr checks show: coloured shapes and
// large text, the same bytes each time, as PNG. It reads and writes nothing.
package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// The size of every picture, in pixels.
const (
	Width  = 448
	Height = 448
)

// The colours that shapes have: far apart, with names that everybody uses.
var (
	Red   = color.RGBA{220, 20, 20, 255}
	Green = color.RGBA{20, 150, 40, 255}
	Blue  = color.RGBA{20, 60, 220, 255}
	Black = color.RGBA{0, 0, 0, 255}
)

// Shape tells which points belong to it; x and y are from its centre, in units
// of half its size.
type Shape func(x, y float64) bool

// The shapes.
var (
	Circle   Shape = func(x, y float64) bool { return x*x+y*y <= 1 }
	Square   Shape = func(x, y float64) bool { return max(x, -x) <= 1 && max(y, -y) <= 1 }
	Triangle Shape = func(x, y float64) bool { return y >= -1 && y <= 1 && max(x, -x) <= (y+1)/2 }
)

// Thing is a shape of a colour.
type Thing struct {
	Shape Shape
	Color color.RGBA
}

// Shapes draws the things side by side on white.
func Shapes(things ...Thing) []byte {
	img := blank()
	cell := Width / len(things)
	half := float64(cell) * 0.36
	for i, t := range things {
		cx, cy := float64(i*cell)+float64(cell)/2, float64(Height)/2
		for y := range Height {
			for x := i * cell; x < (i+1)*cell; x++ {
				if t.Shape((float64(x)+0.5-cx)/half, (float64(y)+0.5-cy)/half) {
					img.SetRGBA(x, y, t.Color)
				}
			}
		}
	}
	return encode(img)
}

// glyph is the size of a character in pixels, and how many times it is enlarged.
const (
	glyphWidth  = 7
	glyphHeight = 13
	enlarged    = 4
)

// Lines writes each line in the middle, black on white. A line has room for 15
// characters.
func Lines(lines ...string) []byte {
	img := blank()
	gap := Height / (len(lines) + 1)
	for i, l := range lines {
		small := image.NewGray(image.Rect(0, 0, glyphWidth*len(l), glyphHeight))
		draw.Draw(small, small.Bounds(), image.White, image.Point{}, draw.Src)
		d := font.Drawer{Dst: small, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(0, basicfont.Face7x13.Ascent)}
		d.DrawString(l)
		enlarge(img, small, (Width-enlarged*small.Rect.Dx())/2, gap*(i+1)-enlarged*glyphHeight/2)
	}
	return encode(img)
}

// enlarge copies each point of src as a square.
func enlarge(dst *image.RGBA, src *image.Gray, left, top int) {
	for y := range src.Rect.Dy() * enlarged {
		for x := range src.Rect.Dx() * enlarged {
			dst.Set(left+x, top+y, src.GrayAt(x/enlarged, y/enlarged))
		}
	}
}

func blank() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, Width, Height))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	return img
}

func encode(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("picture: a buffer takes everything: " + err.Error())
	}
	return b.Bytes()
}

package gen

import (
	"bytes"
	"image/png"
	"testing"
)

// Pictures are read by another program as they were drawn, and use every byte
// that a picture may hold.
func TestPNG(t *testing.T) {
	var noise canvas
	d := newDraw("noise")
	for y := range noise {
		for x := range noise[y] {
			noise[y][x] = uint8(d.below(len(palette)))
		}
	}
	check(t, &noise)
	check(t, new(canvas))
	for _, name := range []string{"count", "chart"} {
		p := map[string]func(*draw, int) picture{"count": countShapes, "chart": readChart}[name](newDraw(name), 3)
		check(t, &p.canvas)
	}
}

func check(t *testing.T, c *canvas) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(c.png()))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != canvasSize || b.Dy() != canvasSize {
		t.Fatalf("the picture has the size %v", b)
	}
	for y := range c {
		for x := range c[y] {
			r, g, b, _ := img.At(x, y).RGBA()
			if want := palette[c[y][x]].rgb; [3]byte{byte(r >> 8), byte(g >> 8), byte(b >> 8)} != want {
				t.Fatalf("pixel %d,%d: %d %d %d, want %v", x, y, r>>8, g>>8, b>>8, want)
			}
		}
	}
}

package picture

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"
)

func at(t *testing.T, b []byte, x, y int) color.RGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
}

var white = color.RGBA{255, 255, 255, 255}

func TestShapes(t *testing.T) {
	b := Shapes(Thing{Circle, Red}, Thing{Square, Blue})
	for p, want := range map[[2]int]color.RGBA{
		{112, 224}: Red, {336, 224}: Blue, {0, 0}: white, {224, 224}: white,
		{112 - 75, 224 - 75}: white, {336 - 75, 224 - 75}: Blue, // a circle has no corners
	} {
		if got := at(t, b, p[0], p[1]); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
	tri := Shapes(Thing{Triangle, Green}, Thing{Circle, Black})
	if at(t, tri, 112, 224-75) != Green || at(t, tri, 112-60, 224-75) != white || at(t, tri, 112-60, 224+75) != Green {
		t.Error("the triangle does not stand on its side")
	}
	if len(b) > 16<<10 || !bytes.Equal(b, Shapes(Thing{Circle, Red}, Thing{Square, Blue})) {
		t.Errorf("%d bytes", len(b))
	}
}

func TestLines(t *testing.T) {
	b := Lines("KESTREL 4827", "MARROW 9163")
	dark := 0
	for y := range Height {
		for x := 0; x < Width; x += 2 {
			if y%2 == 0 && at2(b, x, y) {
				dark++
			}
		}
	}
	if dark < 1000 || len(b) > 16<<10 || !bytes.Equal(b, Lines("KESTREL 4827", "MARROW 9163")) {
		t.Errorf("%d dark points, %d bytes", dark, len(b))
	}
}

var decoded = map[string]func(x, y int) bool{}

func at2(b []byte, x, y int) bool {
	f, ok := decoded[string(b)]
	if !ok {
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return false
		}
		f = func(x, y int) bool { r, _, _, _ := img.At(x, y).RGBA(); return r == 0 }
		decoded[string(b)] = f
	}
	return f(x, y)
}

package gen

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// palette are the colours of pictures; number 0 is the ground.
var palette = []struct {
	name string
	rgb  [3]byte
}{
	{"white", [3]byte{255, 255, 255}}, {"black", [3]byte{0, 0, 0}}, {"red", [3]byte{214, 30, 30}}, {"blue", [3]byte{30, 60, 214}},
	{"green", [3]byte{30, 150, 50}}, {"yellow", [3]byte{245, 215, 30}}, {"orange", [3]byte{245, 140, 20}},
}

const ink = 1 // black

// picture is a question about a canvas.
type picture struct {
	task   string
	canvas canvas
	asked  string
	answer []string
}

// multimodal draws pictures and asks about what was drawn.
func multimodal(_ []int) ([]items.Item, map[string][]byte, error) {
	var out []items.Item
	media := map[string][]byte{}
	for _, part := range []struct {
		task  string
		count int
		make  func(d *draw, i int) picture
	}{{"count", 6, countShapes}, {"color", 5, colorOf}, {"position", 4, cornerOf}, {"digits", 5, readDigits}, {"words", 5, readWord}, {"chart", 5, readChart}} {
		for i := range part.count {
			p := part.make(newDraw("multimodal-smoke", part.task, fmt.Sprint(i)), i)
			q := question{input: ask("%s", p.asked), scorers: items.Scorers{sameText}, answer: p.answer}
			it := q.item(part.task, i+1)
			file, content := "images/"+it.ID+".png", p.canvas.png()
			it.Input[0].Media = []items.Media{{Image: file, SHA256: step.Sum(content)}}
			media[file] = content
			out = append(out, it)
		}
	}
	return out, media, nil
}

// rect fills a rectangle, circle a circle, triangle one that stands on its base.
func (c *canvas) rect(x, y, w, h int, color uint8) {
	for i := y; i < y+h; i++ {
		for j := x; j < x+w; j++ {
			c[i][j] = color
		}
	}
}

func (c *canvas) circle(x, y, r int, color uint8) {
	for i := -r; i <= r; i++ {
		for j := -r; j <= r; j++ {
			if i*i+j*j <= r*r {
				c[y+i][x+j] = color
			}
		}
	}
}

func (c *canvas) triangle(x, y, r int, color uint8) {
	for i := range 2 * r {
		c.rect(x-i/2, y-r+i, i/2*2+1, 1, color)
	}
}

// write draws a text with dots of size pixels; x and y are its upper left corner.
func (c *canvas) write(text string, x, y, size int, color uint8) {
	for i, r := range text {
		for row, dots := range font[r] {
			for col := range 5 {
				if dots&(1<<(4-col)) != 0 {
					c.rect(x+(6*i+col)*size, y+row*size, size, size, color)
				}
			}
		}
	}
}

// cell is the middle of one of nine fields.
func cell(n int) (x, y int) { return 37 + n%3*75, 37 + n/3*75 }

var numerals = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

func countShapes(d *draw, i int) picture {
	var p picture
	n := []int{2, 3, 4, 5, 6, 7}[i]
	color, other := uint8(d.between(2, 6)), uint8(d.between(2, 6))
	for k, at := range shuffled(d, numbers(9))[:min(9, n+2)] {
		x, y := cell(at)
		if k < n {
			p.canvas.circle(x, y, 24, color)
		} else {
			p.canvas.rect(x-22, y-22, 44, 44, other)
		}
	}
	p.asked, p.answer = "How many circles are in the picture? Answer with the number only.", []string{fmt.Sprint(n), numerals[n]}
	return p
}

func colorOf(d *draw, i int) picture {
	var p picture
	color := uint8(2 + i)
	shapes := shuffled(d, []string{"circle", "square", "triangle"})
	others := shuffled(d, []uint8{1, 2, 3, 4, 5, 6})
	for k, at := range some(d, numbers(9), 3) {
		x, y := cell(at)
		use := color
		if k > 0 {
			for use = others[k]; use == color; {
				use = others[k+2]
			}
		}
		switch shapes[k] {
		case "circle":
			p.canvas.circle(x, y, 28, use)
		case "square":
			p.canvas.rect(x-26, y-26, 52, 52, use)
		default:
			p.canvas.triangle(x, y, 28, use)
		}
	}
	p.asked, p.answer = fmt.Sprintf("What colour is the %s? Answer with one word.", shapes[0]), []string{palette[color].name}
	return p
}

func cornerOf(d *draw, i int) picture {
	var p picture
	x, y := cell([]int{0, 2, 6, 8}[i])
	p.canvas.circle(x, y, 28, uint8(d.between(2, 6)))
	corner := []string{"top left", "top right", "bottom left", "bottom right"}[i]
	p.asked = "In which corner of the picture is the circle: top or bottom, and left or right? Answer with two words, first top or bottom, then left or right."
	p.answer = []string{corner, strings.ReplaceAll(corner, " ", "-")}
	return p
}

func readDigits(d *draw, _ int) picture {
	var p picture
	code := fmt.Sprint(d.between(10000, 99999))
	p.canvas.write(code, 22, 88, 6, ink)
	p.asked, p.answer = "Which number is written in the picture? Answer with its five digits only.", []string{code}
	return p
}

func readWord(_ *draw, i int) picture {
	var p picture
	word := []string{"LANTERN", "GARDEN", "MIRROR", "COPPER", "BASKET"}[i]
	p.canvas.write(word, 7, 94, 5, ink)
	p.asked, p.answer = "Which word is written in the picture? Answer with the word only.", []string{word}
	return p
}

// readChart has five bars; the tallest is taller than the others by a fifth.
func readChart(d *draw, i int) picture {
	var p picture
	p.canvas.rect(12, 190, 200, 2, ink)
	for k, letter := range "ABCDE" {
		h := d.between(20, 120)
		if k == i {
			h = 150
		}
		p.canvas.rect(20+k*39, 190-h, 28, h, uint8(d.between(2, 6)))
		p.canvas.write(string(letter), 27+k*39, 198, 3, ink)
	}
	p.asked, p.answer = "Which bar of the chart is the tallest? Answer with its letter only.", []string{string("ABCDE"[i])}
	return p
}

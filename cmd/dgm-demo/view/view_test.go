package view

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// frame is a pendulum: the band of one horizon ago with what then happened, and
// the newest one.
func frame() *Frame {
	f := &Frame{
		Title: "pend1: torque-driven pendulum", Elapsed: 12.3, Total: 30, Channel: "theta", Unit: "rad",
		Coverage: []Coverage{{0.1, 955, 1000}, {0.5, 940, 1000}, {1, 890, 1000}}, Pooled: Coverage{0, 2785, 3000},
		P50: 0.00042, P99: 0.0013, Rate: 100, Predicted: 1230, Missing: 0, Overdue: 3,
	}
	for _, start := range []float64{-1, 0} {
		p := Band{}
		for i := range 51 {
			s := float64(i) / 50
			m := math.Sin(4 * (start + s))
			w := 0.05 + 0.35*math.Sqrt(s)
			p.T, p.Mean = append(p.T, start+s), append(p.Mean, m)
			p.Lo, p.Hi = append(p.Lo, m-w), append(p.Hi, m+w)
		}
		f.Bands = append(f.Bands, p)
	}
	for i := range 26 {
		t := -1 + float64(i)/25
		v := math.Sin(4*t) + 0.2*math.Sqrt(t+1)*math.Sin(20*t)
		if i == 12 {
			v += 0.9
		}
		f.Measured = append(f.Measured, Sample{t, v})
	}
	return f
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, got, want)
	}
}

func TestPicture(t *testing.T) {
	golden(t, "pendulum-80x24.txt", Picture(frame(), Size{80, 24}, false))
	golden(t, "pendulum-40x12.txt", Picture(frame(), Size{40, 12}, false))
	golden(t, "waiting.txt", Picture(&Frame{Title: "pend1", Channel: "theta"}, Size{60, 12}, false))
}

// Whatever the background of the terminal is: no colour is white, black or a shade of them, but
// for the line of now.
func TestMeasurementsHaveTheColourOfText(t *testing.T) {
	picture := Picture(frame(), Size{80, 24}, true)
	for _, code := range []string{"30", "37", "97"} {
		if strings.Contains(picture, "\x1b["+code+"m") {
			t.Errorf("colour %s", code)
		}
	}
	if !strings.Contains(picture, "  "+glyphs[measured]+" measured") {
		t.Error("measurements have a colour of their own in the legend")
	}
}

func TestPictureKeepsItsSize(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, size := range []Size{{40, 12}, {80, 24}, {120, 40}, {200, 60}} {
		plain, colored := Picture(frame(), size, false), Picture(frame(), size, true)
		if escape.ReplaceAllString(colored, "") != plain {
			t.Errorf("%v: colours change more than colours", size)
		}
		lines := strings.Split(strings.TrimSuffix(plain, "\n"), "\n")
		if len(lines) > size.Rows {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for i, l := range lines {
			if n := utf8.RuneCountInString(l); n > size.Columns {
				t.Errorf("%v: line %d has %d characters: %s", size, i, n, l)
			}
		}
	}
}

func TestSamplesOutsideTheBandAreMarked(t *testing.T) {
	f := frame()
	plot := func() string { return strings.SplitN(Picture(f, Size{80, 24}, false), "\n", 3)[2] }
	if n := strings.Count(plot(), "×"); n != 1 {
		t.Errorf("%d samples are marked as outside, want 1", n)
	}
	f.Measured = f.Measured[:12]
	if n := strings.Count(plot(), "×"); n != 0 {
		t.Errorf("%d samples are marked as outside, want none", n)
	}
}

func TestWhatIsNotFiniteIsNotDrawn(t *testing.T) {
	f := frame()
	f.Measured = append(f.Measured, Sample{0.1, math.NaN()}, Sample{math.Inf(1), 0})
	f.Bands[1].Hi[3] = math.Inf(1)
	p := Picture(f, Size{80, 24}, true)
	if strings.Contains(p, "NaN") || strings.Contains(p, "Inf") {
		t.Error("a picture shows what is no number")
	}
}

func TestLine(t *testing.T) {
	want := "12 of 30 s  1230 predictions at 100 Hz, coverage of 95 %: 92.8 %, latency p50 0.42 ms p99 1.30 ms, missing 0, overdue 3"
	if got := Line(frame()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWithoutATerminalALineEveryTwoSeconds(t *testing.T) {
	var b bytes.Buffer
	v := New(&b, false, Size{80, 24})
	start := time.Unix(1000, 0)
	for i := range 101 { // 10 s at 10 Hz
		if err := v.Show(start.Add(time.Duration(i)*100*time.Millisecond), frame()); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 6 {
		t.Errorf("%d lines in 10 s, want 6", n)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("escape sequences without a terminal")
	}
}

func TestOnATerminalThePictureIsRedrawnInPlace(t *testing.T) {
	var b bytes.Buffer
	v := New(&b, true, Size{80, 24})
	start := time.Unix(1000, 0)
	lines := strings.Count(Picture(frame(), Size{80, 24}, true), "\n")
	for i := range 3 {
		if err := v.Show(start.Add(time.Duration(i)*redraw), frame()); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Show(start.Add(2*redraw+redraw/2), frame()); err != nil { // too early
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\x1b[24A"); lines != 24 || n != 2 {
		t.Errorf("%d lines a picture, the cursor went up %d times", lines, n)
	}
	if n := strings.Count(b.String(), "\n"); n != 3*lines {
		t.Errorf("%d lines for 3 pictures", n)
	}
	if err := v.Close(); err != nil || !strings.HasSuffix(b.String(), "\x1b[?25h") {
		t.Errorf("the cursor is not given back: %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestABrokenPipeIsReported(t *testing.T) {
	for _, tty := range []bool{true, false} {
		if err := New(broken{}, tty, Size{80, 24}).Show(time.Unix(1, 0), frame()); err == nil {
			t.Errorf("tty %v: no error", tty)
		}
	}
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) {
		t.Error("a file is a terminal")
	}
}

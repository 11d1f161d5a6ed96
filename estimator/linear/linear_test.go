package linear

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// held is an input that stays, and doubles after 0.15 s.
type held float64

func (h held) Mean(dst []float64, a, b float64) {
	late := math.Max(0, b-math.Max(a, 0.15)) / (b - a)
	dst[0] = float64(h) * (1 + late)
}

var turning = []channel.Channel{{Name: "angle", Role: channel.State, Period: 360}, {Name: "v", Role: channel.State}}

// rotation turns the angle by deg each step, damps v by half and adds the input.
func rotation(deg, step float64) *Model {
	s, c := math.Sincos(deg * math.Pi / 180)
	return &Model{Step: step, A: []float64{c, s, 0, -s, c, 0, 0, 0, 0.5}, B: []float64{0, 0, 1}, C: []float64{0, 0, 0.25}}
}

func TestAnglesStayContinuous(t *testing.T) {
	times := []float64{0, 0.1, 0.15, 1, 1.5}
	r, err := New(rotation(170, 0.1), turning, 1, times)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 10)
	for _, x0 := range []float64{10, -350, 3610} {
		if !r.Predict(dst, []float64{x0, 8}, held(0)) {
			t.Fatal("not finite")
		}
		for i, h := range times {
			if want := 1700 * h; math.Abs(dst[2*i]-want) > 1e-9 {
				t.Errorf("from %v after %v s: turned %v, want %v", x0, h, dst[2*i], want)
			}
		}
	}
}

func TestInputIsAveragedOverEachStep(t *testing.T) {
	r, err := New(rotation(0, 0.1), turning, 1, []float64{0.1, 0.2, 0.25, 0.3})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 8)
	r.Predict(dst, []float64{0, 8}, held(2))
	v1 := 4.0 + 2 + 0.25
	v2 := v1/2 + 3 + 0.25 // half of the second step at 2, half at 4
	v3 := v2/2 + 4 + 0.25
	for i, want := range []float64{v1, v2, (v2 + v3) / 2, v3} {
		if math.Abs(dst[2*i+1]-(want-8)) > 1e-12 {
			t.Errorf("point %d: %v, want %v", i, dst[2*i+1], want-8)
		}
	}
}

func TestMisfitIsRefused(t *testing.T) {
	good := rotation(1, 0.1)
	for name, f := range map[string]func(m *Model) (inputs int, times []float64){
		"step":  func(m *Model) (int, []float64) { m.Step = 0; return 1, nil },
		"A":     func(m *Model) (int, []float64) { m.A = m.A[:4]; return 1, nil },
		"B":     func(m *Model) (int, []float64) { return 2, nil },
		"c":     func(m *Model) (int, []float64) { m.C = nil; return 1, nil },
		"times": func(m *Model) (int, []float64) { return 1, []float64{0.2, 0.1} },
	} {
		m := *good
		inputs, times := f(&m)
		if _, err := New(&m, turning, inputs, times); err == nil || !strings.HasPrefix(err.Error(), "linear model: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestOverflowIsReported(t *testing.T) {
	m := rotation(0, 0.001)
	m.A[8] = 1e30
	r, err := New(m, turning, 1, []float64{0.01, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Predict(make([]float64, 4), []float64{0, 1}, held(0)) {
		t.Error("an overflow passes as a prediction")
	}
}

func TestPredictDoesNotAllocate(t *testing.T) {
	r, err := New(rotation(3, 0.005), turning, 1, []float64{0.1, 0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	dst, x0 := make([]float64, 6), []float64{1, 2}
	var u Signal = held(1)
	if n := testing.AllocsPerRun(50, func() { r.Predict(dst, x0, u) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package ridge

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// bend moves by −sin(3x) per second, without its input, and may diverge, or rest.
type bend struct {
	x        float64
	times    []float64
	diverges bool
	rests    bool
}

func (b *bend) Lanes() int { return 1 }

func (b *bend) Start(_ int, x0 []float64, _ channel.Command, _ []float64) { b.x = x0[0] }

func (b *bend) Run() {}

func (b *bend) Displacements(dst []float64, _ int) {
	for i := range dst {
		dst[i] = b.after(b.times[i])
	}
}

func (b *bend) after(t float64) float64 {
	if b.rests {
		return 0
	}
	x := b.x
	for range int(math.Round(t / step)) {
		x -= step * math.Sin(3*x)
	}
	if b.diverges && math.Abs(x) > 1 {
		return math.Inf(1)
	}
	return x - b.x
}

// What a base leaves is linear where the robot is not: with the map of its residuals it is right, and a map alone is not.
func TestResiduals(t *testing.T) {
	bent := func(segment int) window.Flight {
		rng := rand.New(rand.NewPCG(uint64(segment), 5))
		x, u := make([]float64, 400), make([]float64, 400)
		x[0] = 2 * rng.NormFloat64()
		for i := range u {
			if u[i] = rng.NormFloat64(); i%20 > 0 {
				u[i] = u[i-1]
			}
			if i > 0 {
				x[i] = x[i-1] + step*(2*u[i-1]-math.Sin(3*x[i-1]))
			}
		}
		return flight(segment, even(len(x)), x, u)
	}
	var flights []window.Flight
	for i := range 8 {
		flights = append(flights, bent(i))
	}
	m := fit(t, flights, Config{Times: []float64{5 * step, 10 * step}, Base: func() Base { return &bend{times: []float64{5 * step, 10 * step}} }})
	if len(m.Residuals.Folds) != 4 || len(m.Residuals.Model.Levels) != len(m.Model.Levels) {
		t.Fatalf("%d folds, %d levels", len(m.Residuals.Folds), len(m.Residuals.Model.Levels))
	}
	base, run, sum, out := &bend{}, direct.New(&m.Residuals.Model, 1, 10*step), 0.0, []float64{0}
	f, n := bent(99), 0
	for w := range replay.Each([]window.Flight{f}, window.Cut([]window.Flight{f}, 10*step, 0), m.cfg.Times) {
		run.Run(w.X0, &w.Input, int(model.Plan), nil)
		run.At(out, nil, 10*step)
		e := w.Measured[1] - out[0]
		base.Start(0, w.X0, nil, nil)
		out[0] = base.after(10 * step)
		sum += (e - out[0]) * (e - out[0])
		n++
	}
	alone, hold := accuracy(m, f, 0), 0.0
	for w := range replay.Each([]window.Flight{f}, window.Cut([]window.Flight{f}, 10*step, 0), m.cfg.Times) {
		hold += w.Measured[1] * w.Measured[1]
	}
	if with := math.Sqrt(sum / hold); !(with < 0.4*alone) || n < 300 {
		t.Errorf("%v of the error of holding, %v without a base", with, alone)
	}
	wild := fit(t, flights, Config{Times: []float64{5 * step, 10 * step}, Base: func() Base { return &bend{times: []float64{5 * step, 10 * step}, diverges: true} }})
	if len(wild.Residuals.Model.Levels) > 0 || !reflect.DeepEqual(wild.Model, m.Model) {
		t.Error("a base that diverges has a map, or changes that of the robot")
	}
	rests := fit(t, flights, Config{Times: []float64{5 * step, 10 * step}, Base: func() Base { return &bend{times: []float64{5 * step, 10 * step}, rests: true} }})
	for _, l := range rests.Residuals.Model.Levels {
		if slices.ContainsFunc(l.Weights, func(w float64) bool { return w != 0 }) {
			t.Error("a base that knows nothing of a channel has a map of what it leaves of it")
		}
	}
	if len(rests.Residuals.Model.Levels) == 0 || !slices.ContainsFunc(m.Residuals.Model.Levels[0].Weights, func(w float64) bool { return w != 0 }) {
		t.Error("nothing was tried")
	}
}

package ridge

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// The level with the most history is bounded by how far each fold's map goes beyond the two levels below it on what the fold holds out.
func TestAgreement(t *testing.T) {
	const H = 0.06
	f := fit(t, several(0.05), Config{Times: []float64{0.02, H}, History: lags(5), Rows: []int{1, 5}})
	f.SetAgreement()
	usual := f.Model.Levels[2].Apart
	if len(usual) != 2 || len(f.Model.Levels[0].Apart)+len(f.Model.Levels[1].Apart) > 0 {
		t.Fatalf("%v, %v, %v", f.Model.Levels[0].Apart, f.Model.Levels[1].Apart, usual)
	}
	folds := window.Folds(several(0.05), H, 4)
	for i, at := range f.cfg.Times {
		logs := 0.0
		for n, fold := range folds {
			if !slices.Equal(f.Folds[n].Levels[2].Apart, usual) {
				t.Errorf("fold %d is bounded otherwise", n)
			}
			logs += math.Log(meanSquareBeyond(&f.Folds[n], fold.Held, H, at)) / float64(len(folds))
		}
		if want := math.Exp(logs / 2); math.Abs(usual[i]/want-1) > 0.02 { // which reads all windows
			t.Errorf("%v s: %v, expected %v", at, usual[i], want)
		}
	}
}

// meanSquareBeyond returns the mean square of how far the last of three levels lies beyond the others at a time, over it.
func meanSquareBeyond(m *direct.Model, flights []window.Flight, horizon, at float64) float64 {
	var maps [3]*direct.Map
	for i := range maps {
		alone := *m
		alone.Levels = slices.Clone(m.Levels[i : i+1])
		alone.Levels[0].Apart = nil
		maps[i] = direct.New(&alone, 1, horizon)
	}
	sum, n := 0.0, 0
	for w := range replay.Each(flights, window.Cut(flights, horizon, 0), nil) {
		past := w.History(lags(5))
		if len(past) < 10 {
			continue
		}
		var d [3]float64
		for i, run := range maps {
			var u channel.Signal = &w.Input
			run.Run(w.X0, u, 0, past)
			run.At(d[i:i+1], nil, at)
		}
		low, high := min(d[0], d[1]), max(d[0], d[1])
		beyond := (d[2] - min(max(d[2], low), high)) / at
		sum, n = sum+beyond*beyond, n+1
	}
	return sum / float64(n)
}

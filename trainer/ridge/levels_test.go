package ridge

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// What levels take from others is what they would have gathered: of few inputs, whose columns are multiplied, and of too many, and where
// windows have no history, or a base.
func TestSharedProductsAreEachLevelsOwn(t *testing.T) {
	for name, cfg := range map[string]Config{
		"products":            {Products: 24},
		"products with hold":  {Products: 3},
		"linear":              {},
		"with a base":         {Products: 3, Base: func() Base { return &bend{times: []float64{2 * step, 5 * step}} }},
		"parts are the whole": {Stride: step},
	} {
		cfg.Times, cfg.History, cfg.Rows, cfg.Blocks = []float64{2 * step, 5 * step}, lags(3), []int{1, 3}, 2
		cfg.Readouts = []model.Readout{model.Plan, model.Hold}
		task := window.Task{States: one, Inputs: 1, Horizon: 5 * step}
		flights := several(0.1)
		whole := window.Cut(flights, task.Horizon, cfg.Stride)
		m := frame(flights, whole, task, cfg.Blocks)
		var parts []part
		for _, fold := range window.Folds(flights, task.Horizon, 3) {
			parts = append(parts, part{flights: fold.Held, windows: window.Cut(fold.Held, task.Horizon, cfg.Stride)})
		}
		parts = append(parts, part{flights: flights, windows: whole})
		if name == "parts are the whole" {
			parts[len(parts)-1].windows = nil
		}
		for i := range parts {
			parts[i].read(cfg)
		}
		levels := cfg.levels()
		for i, got := range gatherAll(&m, levels, cfg, 1, parts) {
			want := newGatherer(&m, levels[i], cfg, 1)
			want.gather(parts, nil)
			compare(t, name, levels[i], got, want)
		}
	}
}

func compare(t *testing.T, name string, l direct.Level, got, want *gatherer) {
	t.Helper()
	if got.whole().N() != want.whole().N() || got.columns != want.columns {
		t.Fatalf("%s: %d rows of history, readout %d: %d windows, %d columns, expected %d and %d", name, l.Rows, l.Readout, got.whole().N(), got.columns, want.whole().N(), want.columns)
	}
	a, b := got.whole(), want.whole()
	weights, offset, _ := a.Solve(got.columns, 1e-3)
	expected, at, ok := b.Solve(want.columns, 1e-3)
	if !ok {
		t.Fatalf("%s: not solved", name)
	}
	for i, w := range append(expected, at...) {
		if v := append(weights, offset...)[i]; !(math.Abs(v-w) < 1e-9) {
			t.Fatalf("%s: %d rows of history, readout %d: weight %d is %v, expected %v", name, l.Rows, l.Readout, i, v, w)
		}
	}
}

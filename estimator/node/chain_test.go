package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestBeyondTheHorizonOnlyIfAsked(t *testing.T) {
	m := pendulum()
	for name, c := range map[string]struct {
		times []float64
		chain bool
		part  string
	}{
		"not asked":     {[]float64{0.5, 1.5}, false, "outside the model's horizon"},
		"nine horizons": {[]float64{0.5, 8.5}, true, "more than 8 horizons"},
	} {
		if _, err := New(Config{Vehicle: "v1", Times: c.times, Chain: c.chain}, m); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n, c, nc, predictions := offline(t, Config{Times: []float64{0.5, 1.5, 3}, Chain: true})
	c.arrive(n, 1, 0, 0.1, 0.2)
	n.worker.answer(nc, n.intake.Mailbox.Get())
	if p := predictions.prediction(); p.Flags&wire.Chained == 0 || !slices.Equal(p.Horizon, []float64{0.5, 1.5, 3}) || p.ValidUntil-p.T != 3e9 {
		t.Errorf("predicted %+v", p)
	}
	n, c, nc, predictions = offline(t, Config{Times: []float64{0.5, 1}, Chain: true})
	c.arrive(n, 1, 0, 0.1, 0.2)
	n.worker.answer(nc, n.intake.Mailbox.Get())
	if p := predictions.prediction(); p.Flags&wire.Chained != 0 {
		t.Errorf("flags %b within the horizon", p.Flags)
	}
}

package trainer_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
)

// anglesAlone is a driven pendulum of which nothing measures the rate.
func anglesAlone(seed uint64, segments int) *flightlog.Log {
	log := pendulum(seed, segments)
	log.Channels[0].Derivative = ""
	log.Channels = append(log.Channels[:1], log.Channels[2])
	for i := range log.Segments {
		s := &log.Segments[i]
		for j := range s.T {
			s.X[j] = s.X[2*j]
		}
		s.X = s.X[:len(s.T)]
	}
	return log
}

// A log of angles alone trains: the rate is estimated, said, and in the model, whose predictions are as good as if a sensor
// gave it, within a factor, and whose intervals hold.
func TestAnglesAlone(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Filter, cfg.Members = "auto", 1
	d := load(t, anglesAlone(1, 5), cfg)
	if len(d.Problems) != 1 || d.Problems[0].Kind != trainer.Estimated || !strings.HasPrefix(d.Problems[0].Text, "theta_rate: estimated, no sensor.") {
		t.Fatalf("findings %+v", d.Problems)
	}
	if std := math.Sqrt(d.Filter.R[0]); math.Abs(std-0.003) > 0.001 || math.Abs(d.Filtered.NIS-1) > 0.2 || d.Filtered.Rejected > 4 {
		t.Errorf("a noise of 0.003 is found as %v, %+v", std, d.Filtered)
	}
	if d.Filter.Equation.Degree == 0 {
		t.Error("no equation moves the state between samples")
	}
	res, err := trainer.Train(context.Background(), d, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := res.Model
	if m.K != 2 || !m.Channels[1].Estimated || m.Channels[0].Derivative != "theta_rate" || m.Filter == nil || len(m.Measured()) != 2 {
		t.Fatalf("channels %+v, filter %v", m.Channels, m.Filter)
	}
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := model.Decode(file); err != nil || again.Filter.Chains[0] != m.Filter.Chains[0] || again.Filter.Equation.Step != m.Filter.Equation.Step {
		t.Errorf("%v, %+v", err, again)
	}
	for _, h := range res.Table.Horizons {
		if len(h.Channels) != 1 || h.Channels[0].Name != "theta" {
			t.Fatalf("scored %+v", h.Channels)
		}
		if c := h.Channels[0]; c.RMSE > 0.15*c.Hold || c.Coverage95 < 0.85 {
			t.Errorf("after %v s: error %v, hold %v, 95 %% intervals hold %v", h.T, c.RMSE, c.Hold, c.Coverage95)
		}
	}
}

// Off means off, and on must have something to do.
func TestFilterSettings(t *testing.T) {
	t.Parallel()
	cfg := small() // whose filter is off
	if d := load(t, anglesAlone(1, 3), cfg); d.Filter != nil || len(channel.Measured(d.Channels)) != len(d.Channels) {
		t.Errorf("off: %+v", d.Channels)
	}
	undeclared := pendulum(1, 3)
	undeclared.Channels[0].Derivative = ""
	cfg.Filter = "auto"
	if d := load(t, undeclared, cfg); len(d.Channels) != 3 {
		t.Errorf("a rate that is measured and not declared is estimated beside: %+v", d.Channels)
	}
	cfg.Filter = "on"
	if _, err := trainer.Load([]*flightlog.Log{undeclared}, cfg); err == nil || !strings.Contains(err.Error(), "pendulum.msgpack: filter is") {
		t.Error(err)
	}
	d := load(t, pendulum(1, 4), cfg)
	if d.Filter == nil || math.Abs(math.Sqrt(d.Filter.R[0])-0.003) > 0.001 || math.Abs(math.Sqrt(d.Filter.R[1])-0.01) > 0.003 {
		t.Errorf("noises of 0.003 and 0.01 are found as %+v", d.Filter)
	}
}

// Where all is measured the filter is used if it helps: with noisy sensors it does, with exact ones it is left out, and the
// flights are as they were.
func TestFilterIsChosen(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Filter = "auto"
	if d := load(t, swings(1, 4, [2]float64{0.05, 0.5}), cfg); d.Filter == nil || !strings.Contains(d.Problems[0].Text, "theta and omega: filtered.") {
		t.Errorf("noisy: %+v", d.Problems)
	}
	if d := load(t, swings(1, 3, [2]float64{}), cfg); d.Filter != nil || d.Flights[0].Y != nil {
		t.Errorf("with exact sensors: %+v", d.Problems)
	}
}

// An angle that comes late beside its rate is said not to follow it, and not filtered with it.
func TestLatePositionsAreSaid(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Filter = "auto"
	for _, late := range []int{0, 3} {
		log := swings(1, 4, [2]float64{0.005, 0.05})
		for i := range log.Segments {
			x := log.Segments[i].X
			for j := len(x)/2 - 1; j >= 0; j-- {
				if j%5 == 0 && j >= late {
					x[2*j] = x[2*(j-late)]
				} else {
					x[2*j] = math.NaN()
				}
			}
		}
		d := load(t, log, cfg)
		text := d.Problems[len(d.Problems)-1].Text
		if said := strings.HasPrefix(text, "theta: not filtered. It does not move as omega says"); said != (late > 0) || (d.Filter == nil) != said {
			t.Errorf("late by %d samples: %s", late, text)
		}
	}
}

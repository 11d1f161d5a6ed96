package trainer_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// The interval of the state covers the truth at its nominal rate, and the sensor's noise is
// found; told nothing apart, the interval of the state is that of a measurement, which
// is too wide for it.
func TestStateUncertaintyExcludesSensorNoise(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains two models; DGM_SLOW=1 runs it")
	}
	noise := [2]float64{0.02, 0.06}
	learn := swings(11, 8, noise)
	log := swings(12, 10, noise)
	var flights []window.Flight
	for i, s := range log.Segments {
		flights = append(flights, window.Prepare(i, window.Series{Name: s.Name, T: s.T, X: s.X, U: s.U}, channel.Select(log.Channels, channel.State), len(channel.Select(log.Channels, channel.Input)), window.Options{})...)
	}
	cfg := small()
	cfg.Members = 1
	d := load(t, learn, cfg)
	score := func(separate bool) (m *model.Model, ofState, ofMeasurement float64) {
		cfg.Separate = separate
		res, err := trainer.Train(context.Background(), d, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		estimated, _, err := estimation.As(res.Model, flights)
		if err != nil {
			t.Fatal(err)
		}
		if err := window.AddExact(estimated, swings(12, 10, [2]float64{})); err != nil {
			t.Fatal(err)
		}
		for _, truth := range []bool{true, false} {
			table, err := evaluate.Run(context.Background(), res.Model, estimated, evaluate.Options{Truth: truth})
			if err != nil {
				t.Fatal(err)
			}
			low, high := table.CoverageRange()
			t.Logf("separate %v, truth %v: %.3f to %.3f", separate, truth, low, high)
			mean := 0.0
			for _, h := range table.Horizons {
				mean += h.Coverage95 / float64(len(table.Horizons))
			}
			if truth {
				ofState = mean
			} else {
				ofMeasurement = mean
			}
		}
		return res.Model, ofState, ofMeasurement
	}
	m, state, measurement := score(true)
	for k, want := range noise {
		if got := math.Sqrt(m.Sensor[k]); got < 0.85*want || got > 1.15*want {
			t.Errorf("sensor of %s: std %v, expected %v", m.Channels[k].Name, got, want)
		}
	}
	if state < 0.92 || state > 0.975 {
		t.Errorf("95 %% intervals of the state held the truth %.3f of the time", state)
	}
	off, stateOff, measurementOff := score(false)
	if off.Sensor[0] != 0 || off.Sensor[1] != 0 {
		t.Errorf("sensors %v, though they are not to be distinguished", off.Sensor)
	}
	if stateOff < state+0.02 {
		t.Errorf("intervals of the state held the truth %.3f of the time with the sensor in them, %.3f without", stateOff, state)
	}
	if measurement != measurementOff {
		t.Errorf("intervals of a measurement held %.4f with, %.4f without: telling the sensor apart must not change them", measurement, measurementOff)
	}
}

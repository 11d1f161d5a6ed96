package trainer_test

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// The interval of the state covers the truth at its nominal rate where a filter estimates it, and that of a measurement the
// measurements; the sensors' noise is found. Without a filter the interval of the state, told nothing apart, is that of a
// measurement, which is too wide for it.
func TestStateUncertaintyExcludesSensorNoise(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains three models; DGM_SLOW=1 runs it")
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
	// measurement, state: the mean over horizons of the coverage of 95 % intervals
	train := func(filter string, separate bool) (m *model.Model, measurement, state float64) {
		cfg.Filter, cfg.Separate = filter, separate
		d := load(t, learn, cfg)
		res, err := trainer.Train(context.Background(), d, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		estimated, _, err := estimation.As(res.Model, slices.Clone(flights))
		if err != nil {
			t.Fatal(err)
		}
		coverage := func(truth bool) (mean float64) {
			table, err := evaluate.Run(context.Background(), res.Model, estimated, evaluate.Options{Truth: truth})
			if err != nil {
				t.Fatal(err)
			}
			low, high := table.CoverageRange()
			t.Logf("filter %v, separate %v, truth %v: %.3f to %.3f", filter, separate, truth, low, high)
			for _, h := range table.Horizons {
				mean += h.Coverage95 / float64(len(table.Horizons))
			}
			return mean
		}
		measurement = coverage(false)
		if err := window.AddExact(estimated, swings(12, 10, [2]float64{})); err != nil {
			t.Fatal(err)
		}
		return res.Model, measurement, coverage(true)
	}
	m, measurement, state := train("auto", true)
	for k, want := range noise {
		if got := math.Sqrt(m.Sensor[k]); got < 0.95*want || got > 1.05*want {
			t.Errorf("sensor of %s: std %v, expected %v", m.Channels[k].Name, got, want)
		}
	}
	if math.Abs(state-0.95) > 0.025 || math.Abs(measurement-0.95) > 0.025 {
		t.Errorf("95 %% intervals of the state held the truth %.3f of the time, those of a measurement %.3f", state, measurement)
	}
	_, apart, stateApart := train("off", true)
	off, together, stateTogether := train("off", false)
	if off.Sensor[0] != 0 || off.Sensor[1] != 0 {
		t.Errorf("sensors %v, though they are not to be distinguished", off.Sensor)
	}
	if stateTogether < stateApart+0.01 {
		t.Errorf("intervals of the state held the truth %.3f of the time with the sensor in them, %.3f without", stateTogether, stateApart)
	}
	if apart != together {
		t.Errorf("intervals of a measurement held %.4f with, %.4f without: telling the sensor apart must not change them", apart, together)
	}
}

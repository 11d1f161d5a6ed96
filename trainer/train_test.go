package trainer_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// pendulum records segments of ten seconds at 50 Hz of a damped pendulum under a
// torque that steps at random, with sensor noise.
func pendulum(seed uint64, segments int) *flightlog.Log {
	return swings(seed, segments, [2]float64{0.003, 0.01})
}

// swings is a pendulum whose sensors have the given noise; its motion does not depend
// on that.
func swings(seed uint64, segments int, noise [2]float64) *flightlog.Log {
	log := &flightlog.Log{Path: "pendulum.msgpack", Header: flightlog.Header{Vehicle: "pendulum", Channels: []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "omega"},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "torque", Unit: "N m", Role: channel.Input},
	}}}
	rng := rand.New(rand.NewPCG(seed, 0))
	torque := 0.0
	field := func(dx []float64, _ float64, x []float64) { dx[0], dx[1] = x[1], -12*math.Sin(x[0])-0.3*x[1]+torque }
	solver := ode.NewRK4(2)
	for range segments {
		x := []float64{1.5 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		s := flightlog.Segment{Name: "made"}
		for j := range 500 {
			if j%12 == 0 {
				torque = 3 * rng.NormFloat64()
			}
			s.T = append(s.T, int64(j)*20e6)
			s.X = append(s.X, x[0]+noise[0]*rng.NormFloat64(), x[1]+noise[1]*rng.NormFloat64())
			s.U = append(s.U, torque)
			solver.Advance(field, x, 0, 0.02, 1)
		}
		log.Segments = append(log.Segments, s)
	}
	return log
}

// small trains in a second: without a filter, without history, and without a choice of the likelihood temperature.
func small() trainer.Config {
	c := trainer.Quick()
	c.Filter, c.Folds.Temperature = "off", 0.3
	c.Horizon, c.Stride = trainer.Duration(500*time.Millisecond), trainer.Duration(60*time.Millisecond)
	c.Points, c.Features = 5, 40
	c.Equation.Windows, c.Equation.Iterations, c.Equation.MotionWindows = 60, 10, 40
	c.History, c.DirectWindows, c.Folds.Windows = false, 400, 100
	c.Net.Core, c.Net.Dynamics = []int{16, 16}, []int{10}
	c.Training.Steps, c.Training.Batch, c.Training.Rows = 60, 40, 2000
	return c
}

func load(t testing.TB, log *flightlog.Log, cfg trainer.Config) *trainer.Data {
	t.Helper()
	d, err := trainer.Load([]*flightlog.Log{log}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A few steps of training on a torque-driven pendulum beat holding the last
// value by far, on segments that were held out; the intervals are about right,
// and what was never seen is flagged. With the velocity as the prior the nets
// have to learn what the difference equation knows.
func TestPendulumIsLearned(t *testing.T) {
	t.Parallel()
	for prior, limits := range map[string]map[estimator.Readout]float64{
		"equation": {estimator.Plan: 0.05, estimator.Hold: 0.3},
		"velocity": {estimator.Plan: 0.15, estimator.Hold: 0.3},
	} {
		t.Run(prior, func(t *testing.T) {
			t.Parallel()
			cfg := small()
			cfg.Prior, cfg.History = prior, prior == "equation"
			if prior == "velocity" {
				cfg.Members = 1
			}
			d := load(t, pendulum(1, 5), cfg)
			last := 0.0
			res, err := trainer.Train(context.Background(), d, cfg, func(p trainer.Progress) {
				if p.Done < last || p.Done > 1 || p.Phase == "" {
					t.Errorf("progress goes from %v to %v in phase %q", last, p.Done, p.Phase)
				}
				last = p.Done
			})
			if err != nil {
				t.Fatal(err)
			}
			m := res.Model
			if res.Partial != "" || len(m.Members) != cfg.Members || len(m.Checks) == 0 || m.ID == "" || m.Provenance.DataHash != d.Hash {
				t.Errorf("partial %q, %d members, %d self-checks, id %q", res.Partial, len(m.Members), len(m.Checks), m.ID)
			}
			if len(m.Latency) != 1 || !m.Latency[0].Known || m.Latency[0].DeadLow > 0 || m.Latency[0].DeadHigh > 0.02 {
				t.Errorf("latency %v of a torque that acts at once", m.Latency)
			}
			without := slices.ContainsFunc(m.Checks, func(c model.SelfCheck) bool { return len(c.History) == 0 })
			with := slices.ContainsFunc(m.Checks, func(c model.SelfCheck) bool { return len(c.History) > 0 })
			if !without || with != (m.History.Rows() > 0) {
				t.Errorf("self-checks with history: %v, without: %v; it reads %d rows", with, without, m.History.Rows())
			}
			for readout, limit := range limits {
				s := judge(t, res.Judged, res.Split.Held, readout)
				t.Logf("%v: error over hold %.3f, coverage of 95 %% %.3f, flagged %.3f", readout, s.error, s.coverage, s.flagged)
				if s.error > limit || s.coverage < 0.85 || s.flagged > 0.1 {
					t.Errorf("%v: expected an error of at most %v of that of holding the last value", readout, limit)
				}
			}
			flagsTheUnknown(t, m)
		})
	}
}

// score is what a model reaches on held-out windows.
type score struct {
	error    float64 // rms over that of the last value held, in units of the model's scales
	coverage float64 // of intervals of 95 % for a measurement
	flagged  float64 // share of windows
}

func judge(t *testing.T, m *model.Model, held []window.Flight, readout estimator.Readout) (s score) {
	t.Helper()
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	windows := window.Cut(held, m.Horizon, 0.1)
	if len(windows) < 50 {
		t.Fatalf("%d windows held out", len(windows))
	}
	var e2, hold2, n float64
	dst, plan, truth := p.NewPrediction(), make([]float64, 25), make([]float64, 2)
	for _, w := range windows {
		f := &held[w.Flight]
		q := estimator.Query{X0: f.State(w.Start), U: f.Input(w.Start)}
		if readout == estimator.Plan {
			for i := range plan {
				plan[i] = f.Input(w.Start + i)[0]
			}
			q.Plan = plan
		}
		if !p.Predict(dst, &q) || dst.Readout != readout {
			t.Fatal("not finite, or another readout")
		}
		if dst.OutOfDistribution {
			s.flagged += 1 / float64(len(windows))
		}
		for i, at := range dst.Times {
			f.Displacement(truth, w.Start, at)
			for k, x := range truth {
				e := (q.X0[k] + x - dst.Mean[i*2+k]) / m.Scale[k]
				e2 += e * e
				hold2 += x / m.Scale[k] * x / m.Scale[k]
				if math.Abs(e)*m.Scale[k] < 1.96*dst.ObsStd[i*2+k] {
					s.coverage++
				}
				n++
			}
		}
	}
	s.error, s.coverage = math.Sqrt(e2/hold2), s.coverage/n
	return s
}

func flagsTheUnknown(t *testing.T, m *model.Model) {
	t.Helper()
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst := p.NewPrediction()
	for what, q := range map[string]estimator.Query{
		"ten times the rate": {X0: []float64{0, 60}, U: []float64{0}},
		"an unheard-of plan": {X0: []float64{0, 0}, Plan: []float64{100, 100, 100}},
		"an unheard-of hold": {X0: []float64{0, 0}, U: []float64{-100}},
	} {
		if !p.Predict(dst, &q) || !dst.OutOfDistribution {
			t.Errorf("%s scores %v", what, dst.OOD)
		}
	}
	if q := (estimator.Query{X0: []float64{0, 0}, U: []float64{0}}); !p.Predict(dst, &q) || dst.OutOfDistribution {
		t.Errorf("rest scores %v", dst.OOD)
	}
}

// One seed, one file.
func TestTrainingIsReproducible(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Training.Steps, cfg.Members, cfg.Prior = 10, 1, "velocity"
	d := load(t, pendulum(2, 3), cfg)
	var files [3][]byte
	for i := range files {
		if i == 2 {
			cfg.Seed++
		}
		res, err := trainer.Train(context.Background(), d, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = res.Model.Encode(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same seed gives another file")
	}
	if bytes.Equal(files[0], files[2]) {
		t.Error("another seed gives the same file")
	}
}

// A training that is stopped leaves a model that can be used, and reports that it was stopped.
func TestStoppedTrainingLeavesAModel(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Prior = "velocity"
	d := load(t, pendulum(3, 4), cfg)
	ctx, cancel := context.WithCancel(context.Background())
	steps, done := 0, 0.0
	res, err := trainer.Train(ctx, d, cfg, func(p trainer.Progress) {
		if p.Done < done {
			t.Errorf("%s: from %.2f back to %.2f", p.Phase, done, p.Done)
		}
		done = p.Done
		if steps++; steps == 8 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	// What is left out is not counted on: else the time left would be too long.
	if done < 0.8 {
		t.Errorf("it ended at a share of %.2f", done)
	}
	if len(res.Model.Members) != 1 || !strings.Contains(res.Partial, "stopped by hand") || res.Model.Provenance.Partial != res.Partial {
		t.Errorf("%d members, partial %q", len(res.Model.Members), res.Partial)
	}
	cfg.Budget = trainer.Duration(time.Nanosecond)
	res, err = trainer.Train(context.Background(), d, cfg, nil)
	if err != nil || !strings.Contains(res.Partial, "budget") {
		t.Errorf("no budget: %v", err)
	}
}

// An angle is written on a circle: a log that wraps it gives the same model as
// one that does not.
func TestWrappingDoesNotMatter(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Training.Steps, cfg.Members, cfg.Prior = 5, 1, "none"
	cfg.Holdout, cfg.Dynamics.Members, cfg.Direct, cfg.Folds.ScaleFactor = 0, 0, false, false
	log := pendulum(4, 3)
	var models [2]*model.Model
	for i := range models {
		d := load(t, log, cfg)
		res, err := trainer.Train(context.Background(), d, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		models[i] = res.Model
		for s := range log.Segments {
			x := log.Segments[s].X
			for j := 0; j < len(x); j += 2 {
				x[j] = math.Remainder(x[j], channel.Angle)
			}
		}
	}
	for k, s := range models[0].Scale {
		if math.Abs(models[1].Scale[k]/s-1) > 1e-9 {
			t.Errorf("scale of channel %d is %v, wrapped %v", k, s, models[1].Scale[k])
		}
	}
}

func TestTooLittleDataIsReported(t *testing.T) {
	cfg := small()
	cfg.Prior = "none"
	short := pendulum(5, 1)
	s := &short.Segments[0]
	s.T, s.X, s.U = s.T[:60], s.X[:120], s.U[:60]
	d, err := trainer.Load([]*flightlog.Log{short}, cfg)
	if err == nil {
		_, err = trainer.Train(context.Background(), d, cfg, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "horizon") {
		t.Errorf("1.2 s of data, horizon 0.5 s: %v", err)
	}
	cfg.Horizon = trainer.Duration(time.Millisecond)
	d, err = trainer.Load([]*flightlog.Log{pendulum(5, 1)}, cfg)
	if err == nil {
		_, err = trainer.Train(context.Background(), d, cfg, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "horizon of 0.001 s is shorter than the time from one sample to the next, 0.02 s") {
		t.Errorf("a sample every 20 ms, horizon 1 ms: %v", err)
	}
	cfg.Horizon = trainer.Duration(time.Minute)
	d, err = trainer.Load([]*flightlog.Log{pendulum(5, 1)}, cfg)
	if err == nil {
		_, err = trainer.Train(context.Background(), d, cfg, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "horizon") {
		t.Errorf("10 s of data, horizon 60 s: %v", err)
	}
}

func TestLogsOfOtherChannelsAreRefused(t *testing.T) {
	a, b := pendulum(6, 1), pendulum(6, 1)
	b.Path = "other.msgpack"
	b.Channels[1].Unit = "deg/s"
	_, err := trainer.Load([]*flightlog.Log{a, b}, small())
	if err == nil || !strings.Contains(err.Error(), "other.msgpack") || !strings.Contains(err.Error(), `"omega"`) {
		t.Error(err)
	}
}

// The hash distinguishes data.
func TestHashIsOfTheSamples(t *testing.T) {
	cfg := small()
	first := load(t, pendulum(7, 2), cfg).Hash
	if again := load(t, pendulum(7, 2), cfg).Hash; again != first || len(first) != 64 {
		t.Errorf("hashes %s and %s of the same log", first, again)
	}
	changed := pendulum(7, 2)
	changed.Segments[1].X[7] += 1e-9
	if load(t, changed, cfg).Hash == first {
		t.Error("a changed sample does not change the hash")
	}
}

// Of refits the model keeps the means alone.
func TestRefitsKeepOnlyTheirMeans(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains a model with two refits; DGM_SLOW=1 runs it")
	}
	cfg := small()
	cfg.Training.Steps, cfg.Members, cfg.Refits = 5, 1, 2
	res, err := trainer.Train(context.Background(), load(t, pendulum(3, 6), cfg), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Model.Refits) != 2 {
		t.Fatalf("%d refits", len(res.Model.Refits))
	}
	for _, e := range res.Model.Refits {
		if e.GivesVariance() || slices.Equal(e.Posterior[0].Weights[0], res.Model.Members[0].Posterior[0].Weights[0]) {
			t.Error("a refit is no refit, or gives a variance")
		}
	}
}

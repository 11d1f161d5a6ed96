package trainer_test

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// Advice for another horizon holds at once: with it training begins, though more is held
// out of a shorter one.
func TestTrainingBeginsAtTheAdvisedHorizon(t *testing.T) {
	for _, n := range []int{60, 75, 100, 140, 190} { // of 50 a second
		log := pendulum(5, 1)
		s := &log.Segments[0]
		s.T, s.X, s.U = s.T[:n], s.X[:2*n], s.U[:n]
		cfg := small()
		cfg.Horizon = trainer.Duration(time.Second)
		d, err := trainer.Load([]*flightlog.Log{log}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		p := trainer.Precheck(d, cfg)
		if p == nil {
			t.Fatalf("%d samples are enough", n)
		}
		_, advice, said := strings.Cut(p.Text, "choose --horizon ")
		advice, _, _ = strings.Cut(advice, " ")
		shorter, err := time.ParseDuration(advice)
		if !said || err != nil || shorter < 40*time.Millisecond {
			t.Errorf("%d samples: %s", n, p.Text)
			continue
		}
		cfg.Horizon = trainer.Duration(shorter)
		if p := trainer.Precheck(d, cfg); p != nil {
			t.Errorf("%d samples: %v was the advice, and then: %s", n, shorter, p.Text)
		}
	}
}

// Advice to record more holds too: with so much more data training begins, though more is held out
// of a longer log.
func TestTrainingBeginsWithTheAdvisedDuration(t *testing.T) {
	for seed := range uint64(4) {
		for _, n := range []int{40, 60, 90, 110, 150, 190, 205, 220, 240} { // of 50 a second
			check := func(n int) *trainer.Problem {
				log := pendulum(20, 1) // 10 s
				s := &log.Segments[0]
				s.T, s.X, s.U = s.T[:n], s.X[:2*n], s.U[:n]
				cfg := small()
				cfg.Horizon, cfg.Seed = trainer.Duration(500*time.Millisecond), seed
				d, err := trainer.Load([]*flightlog.Log{log}, cfg)
				if err != nil {
					t.Fatal(err)
				}
				return trainer.Precheck(d, cfg)
			}
			p := check(n)
			if p == nil {
				continue
			}
			_, advice, said := strings.Cut(p.Text, "record at least ")
			advice, _, _ = strings.Cut(advice, " s more")
			more, err := strconv.ParseFloat(advice, 64)
			if !said || err != nil {
				t.Errorf("%d samples: %s", n, p.Text)
				continue
			}
			if p := check(n + int(math.Ceil(50*more))); p != nil {
				t.Errorf("%d samples, seed %d: %v s more was the advice, and then: %s", n, seed, more, p.Text)
			}
		}
	}
}

// What training refuses, the precheck refuses in the same words.
func TestPrecheckReportsTheErrorsOfTraining(t *testing.T) {
	t.Parallel()
	brief := pendulum(5, 1)
	s := &brief.Segments[0]
	s.T, s.X, s.U = s.T[:150], s.X[:300], s.U[:150]
	still := pendulum(5, 6)
	for i := range still.Segments {
		for j := 1; j < len(still.Segments[i].X); j += 2 {
			still.Segments[i].X[j] = 0
		}
	}
	still.Channels[0].Derivative = ""
	// A position and its rate that stand: no noise shows in them.
	stands := pendulum(5, 6)
	for i := range stands.Segments {
		x := stands.Segments[i].X
		for j := range x {
			x[j] = float64(1 - j%2)
		}
	}
	// Nine states, most of them multiples of the first.
	wide := pendulum(5, 1)
	wide.Channels = wide.Channels[:2:2]
	for k := range 7 {
		wide.Channels = append(wide.Channels, channel.Channel{Name: string(rune('a' + k)), Role: channel.State})
	}
	w := &wide.Segments[0]
	var x []float64
	for j := range w.T {
		x = append(append(x, w.X[2*j:2*j+2]...), make([]float64, 7)...)
		for k := range 7 {
			x[len(x)-1-k] = w.X[2*j] * float64(k+j%3)
		}
	}
	w.X, w.U = x, nil
	// Positions alone: no value of a state counts, and nothing drives them.
	adrift := pendulum(5, 6)
	adrift.Channels = adrift.Channels[:2:2]
	for i := range adrift.Channels {
		adrift.Channels[i].Invariant, adrift.Channels[i].Period = true, 0
	}
	for i := range adrift.Segments {
		adrift.Segments[i].U = nil
	}
	// Two sensors that take turns.
	turns := pendulum(5, 6)
	for i := range turns.Segments {
		x := turns.Segments[i].X
		for j := range x {
			if (j/2+j)%2 == 0 {
				x[j] = math.NaN()
			}
		}
	}
	for _, c := range []struct {
		name    string
		log     *flightlog.Log
		horizon time.Duration
		kind    datacheck.Kind
		say     string // "" = it begins
	}{
		{"good", pendulum(5, 2), 500 * time.Millisecond, "", ""},
		{"many channels", wide, 200 * time.Millisecond, "", ""},
		{"a few horizons", brief, 500 * time.Millisecond, datacheck.Short, "fewer than 8 horizons"},
		{"no window left after the hold-out", pendulum(5, 1), 9 * time.Second, datacheck.Short, "horizon"},
		{"a state that never moves", still, 500 * time.Millisecond, datacheck.Constant, `"omega" never moves`},
		{"a position that never moves", stands, 500 * time.Millisecond, datacheck.Constant, `"theta" never moves`},
		{"only invariant states", adrift, 500 * time.Millisecond, datacheck.Unexcited, "every state is invariant (theta, omega) and there is no input"},
		{"states that are never measured together", turns, 500 * time.Millisecond, datacheck.Short, "at no sample with 0.5 s to come is every state and input measured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := small()
			cfg.Prior, cfg.Horizon, cfg.Members, cfg.Training.Steps = "none", trainer.Duration(c.horizon), 1, 1
			if c.log == stands {
				cfg.Filter = "auto"
			}
			d, err := trainer.Load([]*flightlog.Log{c.log}, cfg)
			if err != nil {
				t.Fatal(err)
			}
			p := trainer.Precheck(d, cfg)
			_, err = trainer.Train(context.Background(), d, cfg, nil)
			if c.say == "" {
				if p != nil || err != nil {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			if p == nil || p.Kind != c.kind || p.Severity != datacheck.Stop || !strings.Contains(p.Text, c.say) {
				t.Errorf("%+v", p)
			}
			if err == nil || p != nil && err.Error() != p.Text {
				t.Errorf("training says %v", err)
			}
		})
	}
}

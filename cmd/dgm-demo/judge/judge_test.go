package judge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

const (
	period = 10 * time.Millisecond
	start  = int64(1_700_000_000_000_000_000)
)

var horizon = []float64{0.02, 0.05, 0.1}

func newJudge() *Judge { return New(Config{K: 2, Period: period, Horizon: horizon}) }

func state(seq int, x0, x1 float64) *wire.State {
	return &wire.State{Seq: uint64(seq), T: start + int64(seq)*int64(period), X: []float64{x0, x1}}
}

// prediction answers state(seq): the same mean and deviation for everything.
func prediction(seq int, mean, std float64) *wire.Prediction {
	p := &wire.Prediction{
		Seq: uint64(seq), T: start + int64(seq)*int64(period), Channels: []string{"a", "b"}, Horizon: horizon,
		Mean: make([]float64, 6), Std: make([]float64, 6), ObsStd: make([]float64, 6),
	}
	for i := range p.Mean {
		p.Mean[i], p.Std[i], p.ObsStd[i] = mean, std/2, std
	}
	return p
}

func at(seq int, after time.Duration) int64 { return start + int64(seq)*int64(period) + int64(after) }

// fly sends n states and answers each at once unless skip returns true.
func fly(j *Judge, n int, skip func(seq int) bool) {
	for i := range n {
		j.State(state(i, 0, 0), at(i, 0))
		if skip == nil || !skip(i) {
			j.Prediction(prediction(i, 0, 1), at(i, time.Millisecond))
		}
	}
}

var limits = Limits{Flight: 4 * time.Second, Overdue: 0.02, Low: 0.88, High: 1}

func TestGoodFlight(t *testing.T) {
	j := newJudge()
	fly(j, 500, nil)
	r := j.Result(true)
	if r.States != 500 || r.Answered != 500 || r.Missing+r.Overdue+r.NotFinite+r.Unreadable+r.Unasked != 0 || r.Flight != 4990*time.Millisecond {
		t.Errorf("%+v", r)
	}
	// The last states' measurements never come.
	for i, lag := range []int{2, 5, 10} {
		if r.Scored[2*i] != 500-lag || r.Scored[2*i+1] != 500-lag {
			t.Errorf("at %g s %d and %d were scored", horizon[i], r.Scored[2*i], r.Scored[2*i+1])
		}
	}
	if err := r.Check(limits); err != nil || r.Coverage() != 1 {
		t.Errorf("coverage %g, %v", r.Coverage(), err)
	}
	if d := r.P99 - time.Millisecond; d < -20*time.Microsecond || d > 20*time.Microsecond || r.P50 != r.P99 || r.Max != time.Millisecond {
		t.Errorf("latency %v %v %v", r.P50, r.P99, r.Max)
	}
}

func TestMissing(t *testing.T) {
	j := newJudge()
	fly(j, 500, func(seq int) bool { return seq == 3 || seq == 400 || seq == 499 })
	if r := j.Result(false); r.Missing != 2-1 { // 400 may still come, 3 is given up
		t.Errorf("%d are missing while it flies", r.Missing)
	}
	if j.Waiting() != 2 {
		t.Errorf("%d may still come", j.Waiting())
	}
	j.Prediction(prediction(499, 0, 1), at(499, 30*time.Millisecond))
	r := j.Result(true)
	if r.Missing != 2 || r.Answered != 498 || r.Overdue != 0 {
		t.Errorf("%+v", r)
	}
	if err := r.Check(limits); err == nil || err.Error() != "2 of 500 predictions missing" {
		t.Error(err)
	}
}

func TestLateIsAfterTheNextState(t *testing.T) {
	j := newJudge()
	for i := range 500 {
		j.State(state(i, 0, 0), at(i, 0))
		if i >= 20 && i%20 == 0 { // 24 of 500
			j.Prediction(prediction(i-1, 0, 1), at(i, time.Millisecond))
		}
		if (i+1)%20 != 0 || i == 499 {
			j.Prediction(prediction(i, 0, 1), at(i, time.Millisecond))
		}
	}
	r := j.Result(true)
	if r.Overdue != 24 || r.Missing != 0 || r.Answered != 500 {
		t.Errorf("%+v", r)
	}
	// All were scored all the same, each interval once.
	if r.Scored[0] != 498 || r.Scored[5] != 490 {
		t.Errorf("scored %v", r.Scored)
	}
	if err := r.Check(limits); err == nil || err.Error() != "4.8 % of the predictions arrived after the next state though the computer was free, at most 2 % may" {
		t.Error(err)
	}
}

// Another listener may be served first.
func TestPredictionBeforeItsState(t *testing.T) {
	j := newJudge()
	for i := range 500 {
		p := prediction(i, 0, 1)
		j.Prediction(p, at(i, time.Millisecond))
		p.Mean[0], p.Seq = math.NaN(), 7 // its memory is used again
		j.State(state(i, 0, 0), at(i, 2*time.Millisecond))
	}
	r := j.Result(true)
	if err := r.Check(limits); err != nil || r.Answered != 500 || r.Overdue != 0 || r.Scored[0] != 498 {
		t.Errorf("%v: %+v", err, r)
	}
	// But one of a state that never comes answers nothing.
	j.Prediction(prediction(500, 0, 1), at(500, 0))
	j.State(state(501, 0, 0), at(501, 0))
	j.Prediction(prediction(501, 0, 1), at(501, 0))
	if r := j.Result(true); r.Unasked != 1 || r.Answered != 501 {
		t.Errorf("%+v", r)
	}
}

func TestPredictionAfterItsMeasurement(t *testing.T) {
	j := newJudge()
	for i := range 4 {
		j.State(state(i, float64(i), 0), at(i, 0))
	}
	p := prediction(0, 0, 1)
	p.Mean[0] = 2 // of channel a after 20 ms, which state 2 has measured
	j.Prediction(p, at(3, 0))
	if r := j.Result(false); r.Scored[0] != 1 || r.Covered[0] != 1 || r.Scored[2] != 0 {
		t.Errorf("scored %v, covered %v", r.Scored, r.Covered)
	}
}

func TestUselessPredictionsFail(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(p *wire.Prediction)
		say   string
	}{
		"NaN":           {func(p *wire.Prediction) { p.Std[3] = math.NaN() }, "1 of 500 predictions not finite"},
		"Inf":           {func(p *wire.Prediction) { p.Mean[5] = math.Inf(-1) }, "1 of 500 predictions not finite"},
		"negative":      {func(p *wire.Prediction) { p.ObsStd[0] = -1 }, "1 of 500 predictions not finite"},
		"other times":   {func(p *wire.Prediction) { p.Horizon = []float64{0.01, 0.05, 0.1} }, "predictions that cannot be read: 1"},
		"other vehicle": {func(p *wire.Prediction) { p.Channels = []string{"a"} }, "predictions that cannot be read: 1"},
	} {
		j := newJudge()
		fly(j, 500, func(seq int) bool {
			if seq == 100 {
				p := prediction(seq, 0, 1)
				c.spoil(p)
				j.Prediction(p, at(seq, time.Millisecond))
			}
			return seq == 100
		})
		r := j.Result(true)
		if err := r.Check(limits); err == nil || err.Error() != c.say {
			t.Errorf("%s: %v", name, err)
		}
		if r.Missing != 0 || r.Scored[0] != 497 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A prediction flagged as shortened is one, and is scored as far as it goes;
// one that is short and does not say so cannot be read.
func TestShortened(t *testing.T) {
	for _, told := range []bool{true, false} {
		j := newJudge()
		fly(j, 500, func(seq int) bool {
			if seq == 100 {
				p := prediction(seq, 0, 1)
				p.Horizon, p.Mean, p.Std, p.ObsStd = p.Horizon[:1], p.Mean[:2], p.Std[:2], p.ObsStd[:2]
				if told {
					p.Flags |= wire.Shortened
				}
				j.Prediction(p, at(seq, time.Millisecond))
				if j.At(100).Answered {
					t.Error("one of part of the horizon stands for one of all")
				}
			}
			return seq == 100
		})
		r := j.Result(true)
		if told {
			if err := r.Check(limits); err != nil || r.Shortened != 1 || r.Scored[0] != 498 || r.Missing != 0 {
				t.Errorf("%v: %+v", err, r)
			}
		} else if r.Unreadable != 1 || r.Shortened != 0 || r.Scored[0] != 497 {
			t.Errorf("not told: %+v", r)
		}
	}
}

func TestUnrequestedPredictionsAreCounted(t *testing.T) {
	j := newJudge()
	fly(j, 500, nil)
	j.Prediction(prediction(499, 0, 1), at(499, 0)) // a second time
	j.Prediction(prediction(600, 0, 1), at(499, 0)) // of the future
	j.Prediction(prediction(1, 0, 1), at(499, 0))   // long forgotten
	j.Unreadable()
	r := j.Result(true)
	if err := r.Check(limits); err == nil || err.Error() != "predictions that cannot be read: 1; predictions of no state, or repeated: 3" {
		t.Error(err)
	}
}

func TestGapsAreNotScored(t *testing.T) {
	j := newJudge()
	for i := 0; i < 500; i++ {
		if i == 50 {
			i += 3 // states that the robot never sent
		}
		j.State(state(i, 0, 0), at(i, 0))
		j.Prediction(prediction(i, 0, 1), at(i, 0))
	}
	r := j.Result(true)
	if r.States != 497 || r.Missing != 0 || r.Scored[0] != 498-5 { // 48 to 52 have no partner
		t.Errorf("%+v", r)
	}
}

func TestCoverageIsThatOfANormalDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ factor, want float64 }{{1, 0.95}, {0.5, 0.673}, {3, 1}} {
		j := newJudge()
		for i := range 20000 {
			// Noise of 0.1 and 2: intervals as wide as the factor says.
			j.State(state(i, 0.1*rng.NormFloat64(), 2*rng.NormFloat64()), at(i, 0))
			p := prediction(i, 0, 0)
			for n := range p.ObsStd {
				p.ObsStd[n] = c.factor * []float64{0.1, 2}[n%2]
			}
			j.Prediction(p, at(i, 0))
		}
		r := j.Result(true)
		var in, scored [2]int // by channel
		for i, n := range r.Scored {
			in[i%2], scored[i%2] = in[i%2]+r.Covered[i], scored[i%2]+n
		}
		for _, got := range []float64{r.Coverage(), r.CoverageAt(0), r.CoverageAt(2), share(in[:1], scored[:1]), share(in[1:], scored[1:])} {
			if math.Abs(got-c.want) > 0.01 {
				t.Errorf("factor %g: coverage %.3f, expected %.3f", c.factor, got, c.want)
			}
		}
		if err := r.Check(Limits{Low: 0.88, High: 0.995}); (err == nil) != (c.factor == 1) {
			t.Errorf("factor %g: %v", c.factor, err)
		}
	}
}

func TestFlightWithoutPredictions(t *testing.T) {
	r := newJudge().Result(true)
	err := r.Check(Limits{Flight: 30 * time.Second, Overdue: 0.02, Low: 0.88, High: 0.995})
	if err == nil || !strings.Contains(err.Error(), "the flight lasted 0.0 s, at least 30 s are needed; 95 % intervals covered 0.0 %") {
		t.Error(err)
	}
	if newJudge().Newest() != nil {
		t.Error("a newest one of none")
	}
}

func TestNewest(t *testing.T) {
	j := newJudge()
	fly(j, 30, func(seq int) bool { return seq > 27 })
	if m := j.Newest(); m == nil || m.Seq != 27 || m.ObsStd[5] != 1 {
		t.Errorf("%+v", m)
	}
	if j.At(29).Answered || j.At(30) != nil {
		t.Error("state 29 has no prediction, 30 has not come")
	}
}

func TestTimesBetweenStatesPanic(t *testing.T) {
	defer func() {
		if recover() != badHorizon {
			t.Error("no panic")
		}
	}()
	New(Config{K: 1, Period: period, Horizon: []float64{0.015}})
}

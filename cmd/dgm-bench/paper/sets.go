// Package paper holds the experiments of "Distributional Gradient Matching for
// Learning Uncertain Neural Dynamics Models" (Treven et al., 2021) as studies, with the
// paper's figures beside their results.
//
// It owns what only an experiment knows: the plants, the truth and the scores.
// What is trained, and how settings are chosen without the truth, is
// trainer/paper's.
package paper

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// testPoints is the number of times at which a trajectory is scored.
const testPoints = 100

// testStarts is the number of unseen trajectories that sets of many are scored on.
const testStarts = 10

// set is one of the paper's data sets.
type set struct {
	name    string
	label   string
	plant   plant.Plant
	starts  [][]float64 // of the training trajectories
	points  int         // observations a trajectory, both ends of the time included
	end     float64     // s
	paper   [2]float64  // the paper's log likelihood: mean, standard deviation
	seconds float64     // the paper's training time, one fit
}

// single reports whether the set is one trajectory, scored on itself.
func (s *set) single() bool { return len(s.starts) == 1 }

// sets returns the paper's eight data sets, in the order of its tables.
func sets() []set {
	lv, lo, dp, qu := plant.LotkaVolterra(), plant.Lorenz(), plant.DoublePendulum(), plant.Quadrotor()
	deg10 := math.Pi / 18
	return []set{
		{"lv1", "LV 1", lv, [][]float64{{1, 2}}, 100, 10, [2]float64{1.96, 0.21}, 329},
		{"lo1", "LO 1", lo, [][]float64{{-2.5, 2.5, 2.5}}, 100, 1, [2]float64{-0.57, 0.11}, 399},
		{"dp1", "DP 1", dp, [][]float64{{-math.Pi / 6, -math.Pi / 6, 0, 0}}, 100, 1, [2]float64{2.13, 0.14}, 535},
		{"qu1", "QU 1", qu, [][]float64{make([]float64, 12)}, 100, 10, [2]float64{0.64, 0.07}, 1121},
		{"lv100", "LV 100", lv, grid(2, 0, 2, 10, 0.5, 1.5), 5, 10, [2]float64{1.81, 0.08}, 408},
		{"lo125", "LO 125", lo, grid(3, 0, 3, 5, -5, 5), 10, 1, [2]float64{-2.18, 0.76}, 753},
		{"dp100", "DP 100", dp, grid(4, 0, 2, 10, -math.Pi/6, math.Pi/6), 5, 1, [2]float64{1.86, 0.05}, 2988},
		{"qu64", "QU 64", qu, grid(12, 6, 9, 4, -deg10, deg10), 15, 10, [2]float64{-0.54, 0.36}, 8387},
	}
}

// named returns the set of a name, which must be one of sets.
func named(name string) *set {
	for _, s := range sets() {
		if s.name == name {
			return &s
		}
	}
	panic("paper: there is no set of the name " + name)
}

// names returns the names of the sets that pass.
func names(pass func(s *set) bool) []string {
	var out []string
	for _, s := range sets() {
		if pass(&s) {
			out = append(out, s.name)
		}
	}
	return out
}

func anySet(*set) bool { return true }

// grid returns the starts of k channels of which those in [from, to) have one of n
// equidistant values between low and high, both included; the others are 0.
func grid(k, from, to, n int, low, high float64) [][]float64 {
	all := [][]float64{make([]float64, k)}
	for c := from; c < to; c++ {
		var more [][]float64
		for _, x := range all {
			for i := range n {
				y := append([]float64(nil), x...)
				y[c] = low + (high-low)*float64(i)/float64(n-1)
				more = append(more, y)
			}
		}
		all = more
	}
	return all
}

// truth solves the plant from x0 at times.
func (s *set) truth(x0, times []float64) ([]float64, error) {
	values := s.plant.Values()
	f := func(dst []float64, _ float64, x []float64) { s.plant.F(dst, x, s.plant.U0, values) }
	out := make([]float64, len(times)*len(x0))
	// Errors grow by up to 2,000 on the way; what is asked for here leaves them far
	// below the noise.
	solver := ode.NewDopri5(len(x0), ode.Config{RTol: 1e-11, ATol: 1e-11})
	if !solver.Solve(out, f, x0, 0, times) {
		return nil, fmt.Errorf("%s cannot be integrated from %v", s.label, x0)
	}
	return out, nil
}

// span returns n equidistant times from 0 to the end, both included.
func span(end float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = end * float64(i) / float64(n-1)
	}
	return out
}

// draw returns the noisy observations of one seed.
func (s *set) draw(seed uint64) (*paper.Data, error) {
	rng := rand.New(rand.NewPCG(seed, 0x6e6f697365))
	d := &paper.Data{K: len(s.plant.States)}
	for _, x0 := range s.starts {
		t := span(s.end, s.points)
		y, err := s.truth(x0, t)
		if err != nil {
			return nil, err
		}
		for i := range y {
			y[i] += s.plant.Noise[i%d.K] * rng.NormFloat64()
		}
		d.Trajectories = append(d.Trajectories, paper.Trajectory{X0: x0, T: t, Y: y})
	}
	return d, nil
}

// both returns the data of one seed, and what it is scored on.
func (s *set) both(seed int) (*paper.Data, *trial, error) {
	d, err := s.draw(uint64(seed))
	if err != nil {
		return nil, nil, err
	}
	on, err := s.test(uint64(seed))
	return d, on, err
}

// trial is what one seed is scored on: starts, as a query gives them, and truth at the times.
type trial struct {
	times  []float64
	starts [][]float64
	truth  [][]float64
}

// test returns the training trajectory itself where there is one only, else
// trajectories from starts drawn anew for each seed, uniformly in the box of the
// training starts.
func (s *set) test(seed uint64) (*trial, error) {
	starts := s.starts
	if !s.single() {
		rng := rand.New(rand.NewPCG(seed, 0x737461727473))
		starts = nil
		first, last := s.starts[0], s.starts[len(s.starts)-1]
		for range testStarts {
			x := make([]float64, len(first))
			for k := range x {
				x[k] = first[k] + (last[k]-first[k])*rng.Float64()
			}
			starts = append(starts, x)
		}
	}
	out := &trial{times: span(s.end, testPoints), starts: starts}
	for _, x0 := range starts {
		y, err := s.truth(x0, out.times)
		if err != nil {
			return nil, err
		}
		out.truth = append(out.truth, y)
	}
	return out, nil
}

// forecast writes mean and standard deviation at times after a start (len(times)×K). ok is
// false where it fails.
type forecast func(mean, std, x0, times []float64) (ok bool)

// sure is a forecast that never fails.
func sure(f func(mean, std, x0, times []float64)) forecast {
	return func(mean, std, x0, times []float64) bool { f(mean, std, x0, times); return true }
}

// ofFit is the forecast of a fit, with standard deviations for its variances.
func ofFit(f *paper.Fit) forecast {
	return func(mean, std, x0, times []float64) bool {
		f.Predict(mean, std, x0, times)
		for i, v := range std {
			std[i] = math.Sqrt(v)
		}
		return true
	}
}

// predict returns the forecast of all trajectories, nil where one fails.
func (t *trial) predict(k int, f forecast) []score.Trajectory {
	var out []score.Trajectory
	for i, x0 := range t.starts {
		tr := score.Trajectory{Truth: t.truth[i], Mean: make([]float64, len(t.times)*k), Std: make([]float64, len(t.times)*k)}
		if !f(tr.Mean, tr.Std, x0, t.times) {
			return nil
		}
		out = append(out, tr)
	}
	return out
}

// score puts the scores of a forecast into a row, under names with a prefix.
func (t *trial) score(r *study.Row, prefix string, k int, f forecast) (rmse []float64, err error) {
	q, err := score.Trajectories(t.predict(k, f), k)
	if err != nil {
		return nil, err
	}
	putScores(r, prefix, q)
	return q.RMSE, nil
}

// scoreIntegrated is score of what is integrated from the starts, which it knows exactly
// and which are left out. Nothing is put where a trajectory cannot be integrated.
func (t *trial) scoreIntegrated(r *study.Row, prefix string, k int, f forecast) error {
	all := t.predict(k, f)
	if all == nil {
		return nil
	}
	for i := range all {
		tr := &all[i]
		tr.Truth, tr.Mean, tr.Std = tr.Truth[k:], tr.Mean[k:], tr.Std[k:]
	}
	q, err := score.Trajectories(all, k)
	if err == nil {
		putScores(r, prefix, q)
	}
	return err
}

func putScores(r *study.Row, prefix string, q *score.Result) {
	r.Put(prefix+"loglik", q.LogLik).Put(prefix+"coverage50", q.Coverage50).Put(prefix+"coverage90", q.Coverage90).Put(prefix+"coverage95", q.Coverage95)
}

// relative returns errors over the noise: the geometric mean over channels.
func (s *set) relative(rmse []float64) float64 { return score.GeoRatio(rmse, s.plant.Noise) }

// published returns the paper's log likelihood of a set.
func (s *set) published() string {
	return study.Fixed(s.paper[0], 2) + " ± " + study.Fixed(s.paper[1], 2)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// saver predicts a little less than a model could.
type saver struct {
	name   string
	m      *model.Model
	points int // of the horizon at which there is a variance; 0 = all
	fast   *estimator.Fast
	dst    *estimator.Prediction
	loglik []float64 // a window's mean
	inside []float64
	took   speed.Least
}

// with returns a model of so many of the members, of which so many give a variance.
func with(m *model.Model, members, variances int) *model.Model {
	c := *m
	c.Members = slices.Clone(m.Members[:members])
	for i := variances; i < members; i++ {
		e := &c.Members[i]
		e.Posterior = slices.Clone(e.Posterior)
		for r := range e.Posterior {
			e.Posterior[r].InverseFactor = nil
		}
	}
	c.Checks = nil // they are those of the whole model
	return &c
}

// variances returns how many members give one.
func variances(m *model.Model) (n int) {
	for i := range m.Members {
		if m.Members[i].GivesVariance() {
			n++
		}
	}
	return n
}

// saversOf returns the whole model and what can be left out of it.
func saversOf(m *model.Model) []*saver {
	all := len(m.Members)
	out := []*saver{{name: fmt.Sprintf("nothing: %d members, variances of %d", all, variances(m)), m: m}}
	one := m
	if variances(m) > 1 {
		one = with(m, all, 1)
		out = append(out, &saver{name: "variance of one member", m: one})
	}
	for _, points := range []int{50, 20, 10, 5} {
		if points < m.Points {
			out = append(out, &saver{name: fmt.Sprintf("and of these at %d of %d points", points, m.Points), m: one, points: points})
		}
	}
	if all > 1 {
		out = append(out, &saver{name: "one member alone", m: with(m, 1, 1)})
	}
	return out
}

// measureSavings predicts all windows with all savers. The first is the unit's row.
func measureSavings(ctx context.Context, m *model.Model, flights []window.Flight, stride float64, u *study.Unit) error {
	savers := saversOf(m)
	for _, s := range savers {
		var err error
		if s.fast, err = estimator.NewFast(s.m, nil); err != nil {
			return err
		}
		s.dst = s.fast.NewPrediction()
	}
	windows := window.Cut(flights, m.Horizon, stride)
	if len(windows) == 0 {
		return fmt.Errorf("no window of %g s in the log", m.Horizon)
	}
	var q estimator.Query
	for w := range replay.Each(flights, windows, savers[0].dst.Times) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.Query(&q, m, model.Plan, 50)
		for _, s := range savers {
			if err := s.window(&q, w.Measured); err != nil {
				return err
			}
		}
	}
	timeSavers(savers, &q)
	block := int(math.Ceil(2 * m.Horizon / stride))
	lost := make([]float64, len(windows))
	for i, s := range savers {
		r := u.Row
		if i > 0 {
			r = u.Also(s.name)
		}
		r.Put("saving", s.name).Put("time_us", math.Round(float64(s.took)/100)/10)
		for _, what := range []struct {
			name, lost string
			all, own   []float64
		}{{"loglik", "loglik_lost", savers[0].loglik, s.loglik}, {"coverage95", "coverage_lost", savers[0].inside, s.inside}} {
			for w, v := range what.own {
				lost[w] = what.all[w] - v
			}
			low, high := score.Interval(lost, block, rand.New(rand.NewPCG(1, 1)))
			r.Put(what.name, study.Mean(what.own)).Put(what.lost, study.Mean(lost)).Put(what.lost+"_95", []float64{low, high})
		}
	}
	return nil
}

// window predicts one window and scores it by the measured displacements (T×K), where
// there are any.
func (s *saver) window(q *estimator.Query, measured []float64) error {
	if !s.fast.Predict(s.dst, q) {
		return errors.New("a prediction is not finite")
	}
	if s.points > 0 {
		s.interpolate(s.dst.ObsStd)
	}
	K, n, loglik, inside := s.m.K, 0., 0., 0.
	for j, d := range measured {
		if math.IsNaN(d) {
			continue
		}
		x, std := q.X0[j%K]+d, s.dst.ObsStd[j]
		n++
		loglik += score.LogLik(x, s.dst.Mean[j], std)
		if score.Covered(x, s.dst.Mean[j], std, score.Z95) {
			inside++
		}
	}
	if n > 0 {
		loglik, inside = loglik/n, inside/n
	}
	s.loglik, s.inside = append(s.loglik, loglik), append(s.inside, inside)
	return nil
}

// kept returns the j-th of the points at which there is a variance: the first, the
// last, and those between that are closest to even steps of √t, by which it grows.
func (s *saver) kept(j int) int {
	T := len(s.dst.Times)
	first, last := math.Sqrt(s.dst.Times[0]), math.Sqrt(s.dst.Times[T-1])
	at := first + (last-first)*float64(j)/float64(s.points-1)
	i, _ := slices.BinarySearch(s.dst.Times, at*at*(1-1e-9))
	return max(min(i, T-1), j) // each another one
}

// interpolate keeps std (T×K) at some points and makes the others from them. All of a standard deviation is interpolated, its noise and spread too, which
// would cost nothing to have at all points: so the loss is one that is not exceeded.
func (s *saver) interpolate(std []float64) {
	K := s.m.K
	for j := 1; j < s.points; j++ {
		a, b := s.kept(j-1), s.kept(j)
		for i := a + 1; i < b; i++ {
			w := (s.dst.Times[i] - s.dst.Times[a]) / (s.dst.Times[b] - s.dst.Times[a])
			for k := range K {
				std[i*K+k] = (1-w)*std[a*K+k] + w*std[b*K+k]
			}
		}
	}
}

// timeSavers measures the least of the processor's times of many predictions in turns. The
// time with variances at fewer points is the whole less what variances cost, which is what
// each further member that gives them costs; it is known where there are several.
func timeSavers(savers []*saver, q *estimator.Query) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 300 {
		for _, s := range savers {
			s.took.Busy(func() { s.fast.Predict(s.dst, q) })
		}
	}
	whole, more := savers[0], variances(savers[0].m)-1
	for _, s := range savers {
		if s.points == 0 {
			continue
		}
		s.took = 0
		if more > 0 {
			one := savers[1]
			all, without := s.timeAtPoints(whole, q), s.timeAtPoints(one, q)
			s.took = one.took - (whole.took-one.took)/speed.Least(more) + (all-without)/speed.Least(more)
		}
	}
}

// timeAtPoints measures another saver's prediction at the points at which this one has a
// variance.
func (s *saver) timeAtPoints(of *saver, q *estimator.Query) (took speed.Least) {
	var times []float64
	for j := range s.points {
		times = append(times, s.dst.Times[s.kept(j)])
	}
	fast, err := of.fast.For(times)
	if err != nil {
		return 0
	}
	dst := fast.NewPrediction()
	for range 300 {
		took.Busy(func() { fast.Predict(dst, q) })
	}
	return took
}

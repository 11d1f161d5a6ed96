package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
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
	took   time.Duration // the least
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

// saversOf returns the whole model and what can be left out of it.
func saversOf(m *model.Model) []*saver {
	all, variances := len(m.Members), 0
	for i := range m.Members {
		if m.Members[i].GivesVariance() {
			variances++
		}
	}
	out := []*saver{{name: fmt.Sprintf("nothing: %d members, variances of %d", all, variances), m: m}}
	one := m
	if variances > 1 {
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
	truth := make([]float64, m.K)
	for _, w := range windows {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f := &flights[w.Flight]
		ask(&q, m, f, w.Start)
		for _, s := range savers {
			if err := s.window(&q, f, w.Start, truth); err != nil {
				return err
			}
		}
	}
	timeSavers(savers, &q)
	block := int(math.Ceil(2 * m.Horizon / stride))
	boot := score.NewBootstrap(len(windows), block, rand.New(rand.NewPCG(1, 1)))
	lost := make([]float64, len(windows))
	for i, s := range savers {
		r := u.Row
		if i > 0 {
			r = u.Also(s.name)
		}
		r.Put("saving", s.name).Put("time_us", math.Round(float64(s.took)/100)/10)
		for name, of := range map[string]func(s *saver) []float64{"loglik": (*saver).logliks, "coverage": (*saver).covered} {
			for w, v := range of(s) {
				lost[w] = of(savers[0])[w] - v
			}
			low, high := boot.Interval(lost, 0.95)
			r.Put(map[string]string{"loglik": "loglik", "coverage": "coverage95"}[name], study.Mean(of(s)))
			r.Put(name+"_lost", study.Mean(lost)).Put(name+"_lost_95", []float64{low, high})
		}
	}
	return nil
}

func (s *saver) logliks() []float64 { return s.loglik }
func (s *saver) covered() []float64 { return s.inside }

// ask makes the query of a window: its state and the input that was measured.
func ask(q *estimator.Query, m *model.Model, f *window.Flight, start int) {
	*q = estimator.Query{X0: f.State(start)}
	if m.P == 0 {
		return
	}
	const rows = 50
	q.U, q.Plan = f.Input(start), make([]float64, rows*m.P)
	for i := range rows {
		from := f.T[start] + m.Horizon*float64(i)/rows
		f.InputMean(q.Plan[i*m.P:(i+1)*m.P], from, from+m.Horizon/rows)
	}
}

// window predicts one window and scores it where it was measured.
func (s *saver) window(q *estimator.Query, f *window.Flight, start int, truth []float64) error {
	if !s.fast.Predict(s.dst, q) {
		return errors.New("a prediction is not finite")
	}
	if s.points > 0 {
		s.interpolate(s.dst.ObsStd)
	}
	K, n, loglik, inside := s.m.K, 0., 0., 0.
	for i, h := range s.dst.Times {
		f.Displacement(truth, start, h)
		for k, d := range truth {
			if math.IsNaN(d) {
				continue
			}
			x, std := q.X0[k]+d, s.dst.ObsStd[i*K+k]
			n++
			loglik += score.LogLik(x, s.dst.Mean[i*K+k], std)
			inside += share(score.Covered(x, s.dst.Mean[i*K+k], std, score.Z95))
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

// timeSavers takes the least of the processor's times of many predictions in turns. That of variances
// at fewer points is the whole less what the variances cost, which is what a second
// member that gives them costs more; it is known where there are two.
func timeSavers(savers []*saver, q *estimator.Query) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := func(took *time.Duration, f *estimator.Fast, dst *estimator.Prediction) {
		began := speed.Busy()
		f.Predict(dst, q)
		if d := speed.Busy() - began; *took == 0 || d < *took {
			*took = d
		}
	}
	for range 300 {
		for _, s := range savers {
			least(&s.took, s.fast, s.dst)
		}
	}
	whole := savers[0]
	if len(savers) < 2 || savers[1].points > 0 || savers[1].name == savers[len(savers)-1].name {
		for _, s := range savers[1:] {
			if s.points > 0 {
				s.took = 0
			}
		}
		return
	}
	one := savers[1]
	more := 0
	for i := range whole.m.Members {
		if whole.m.Members[i].GivesVariance() {
			more++
		}
	}
	for _, s := range savers {
		if s.points == 0 {
			continue
		}
		times := make([]float64, s.points)
		for j := range times {
			times[j] = s.dst.Times[s.kept(j)]
		}
		var some, without time.Duration
		a, err := whole.fast.For(times)
		b, err2 := one.fast.For(times)
		if err != nil || err2 != nil {
			s.took = 0
			continue
		}
		da, db := a.NewPrediction(), b.NewPrediction()
		for range 300 {
			least(&some, a, da)
			least(&without, b, db)
		}
		each := func(with, without time.Duration) time.Duration { return (with - without) / time.Duration(more-1) }
		s.took = one.took - each(whole.took, one.took) + each(some, without)
	}
}

package speed

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// load measures the time that the processor spends on a model file until it predicts:
// reading the bytes, the model's checks of itself, all that is computed beforehand.
func (j *job) load(times []float64) (kb int, ms float64, err error) {
	file, err := j.m.Encode()
	if err != nil {
		return 0, 0, err
	}
	var l Least
	for range 5 {
		l.Busy(func() {
			var m *model.Model
			if m, err = model.Decode(file); err == nil {
				_, err = estimator.NewFast(m, times)
			}
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return (len(file) + 500) / 1000, math.Round(float64(l)/1e4) / 100, nil
}

// measure times predictions on one thread.
func (j *job) measure(r *study.Row, duration time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	times := Times(j.m.Horizon, j.points)
	plain, err := estimator.New(j.m, times)
	if err != nil {
		return err
	}
	fast, err := estimator.NewFast(j.m, times)
	if err != nil {
		return err
	}
	kb, load, err := j.load(times)
	if err != nil {
		return err
	}
	asked := queries(j.m, 30)
	query := estimator.Query{X0: asked[0], History: history(j.m, asked[0])}
	uncertain := query
	uncertain.P0 = covariance(j.m)
	dst := plain.NewPrediction()
	predicted := true
	run := func(p interface {
		Predict(*estimator.Prediction, *estimator.Query) bool
	}) func() {
		return func() { predicted = p.Predict(dst, &query) && predicted }
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var slow, quick, quickUncertain Least
	perQuery := make([]Least, len(asked))
	var all []float64
	for end := time.Now().Add(duration); time.Now().Before(end) || len(all) < 100; {
		slow.Busy(run(plain))
		run(fast)() // finds its memory
		for range 50 {
			all = append(all, float64(quick.Wall(run(fast))))
		}
		for range min(50, len(uncertain.P0)) {
			quickUncertain.Wall(func() { predicted = fast.Predict(dst, &uncertain) && predicted })
		}
		for i, x := range asked {
			query.X0 = x
			for range 4 {
				perQuery[i].Wall(run(fast))
			}
		}
		query.X0 = asked[0]
	}
	worst := settle(perQuery, func(i int) {
		query.X0 = asked[i]
		perQuery[i].Wall(run(fast))
	})
	if !predicted {
		return fmt.Errorf("%s, %s: a prediction is not finite", j.system, j.form)
	}
	slices.Sort(all)
	r.Put("system", j.system).Put("form", j.form).Put("features", j.m.Members[0].Map.F).Put("points", j.points).Put("members", len(j.m.Members)).Put("unit", fast.Unit())
	r.Put("plain_us", slow.us()).Put("fast_us", quick.us()).Put("fast_p99_us", Least(all[len(all)*99/100]).us())
	if len(uncertain.P0) > 0 {
		r.Put("fast_covariance_us", quickUncertain.us())
	}
	r.Put("worst_input", math.Round(100*worst)/100).Put("allocs", testing.AllocsPerRun(10, run(fast)))
	r.Put("file_kb", kb).Put("load_ms", load)
	return nil
}

// settle returns the most of the times over their median. What else runs on the
// computer makes some of them longer, in all runs there have been; what depends on
// the query does not go away. So while it is far from 1, the longest is run again.
func settle(times []Least, again func(i int)) (worst float64) {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	for range 50 {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
		longest, median := order[len(order)-1], order[len(order)/2]
		worst = float64(times[longest] / times[median])
		if worst < 1.05 {
			break
		}
		for range 20 {
			again(median)
			again(longest)
		}
	}
	return worst
}

// Measure times predictions at so many points with a model in the paper's form of a
// plant's size, with so many features and a core of these widths (nil: the paper's).
func Measure(p *plant.Plant, features, points int, core []int, duration time.Duration) (*study.Row, error) {
	j := job{system: p.Name, form: "paper", m: invented(p, "paper", features, core), points: points}
	r := study.NewRow(study.Key{Set: p.Name})
	return r, j.measure(r, duration)
}

// Least is the least of times, ns.
type Least float64

// Wall measures the time of f by the clock on the wall, and returns it.
func (l *Least) Wall(f func()) time.Duration {
	began := time.Now()
	f()
	d := time.Since(began)
	l.Keep(d)
	return d
}

// Busy measures the time that the processor spends on f: what takes milliseconds is
// interrupted on a computer that does something else too.
func (l *Least) Busy(f func()) {
	began := study.Busy()
	f()
	l.Keep(study.Busy() - began)
}

// Keep keeps d if it is less than all before.
func (l *Least) Keep(d time.Duration) {
	if *l == 0 || float64(d) < float64(*l) {
		*l = Least(d)
	}
}

func (l Least) us() float64 { return math.Round(float64(l)/10) / 100 }

package main

import (
	"math"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/cmd/dgm-demo/view"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// show makes pictures of what a planner receives.
type show struct {
	sc      *scene
	p       *planner
	total   time.Duration // 0 = until stopped
	channel int           // shown
	times   []int         // places in the horizon whose coverage is shown
	back    uint64        // states in a horizon
}

func newShow(sc *scene, p *planner, keep bool) *show {
	s := &show{
		sc: sc, p: p, total: sc.flight,
		channel: channel.Index(sc.robot.Plant.States, sc.show),
		back:    uint64(sc.horizon() / sc.period()),
	}
	if keep {
		s.total = 0
	}
	// What fits on a line: the beginning, the middle and the end.
	horizon := p.result(false).Horizon
	for _, share := range []float64{0.1, 0.5, 1} {
		s.times = append(s.times, max(1, int(share*float64(len(horizon))))-1)
	}
	return s
}

// roundTimes returns the places of the horizon that the tables show.
func roundTimes(horizon []float64) []int {
	var out []int
	for _, t := range evaluate.Grid(horizon[len(horizon)-1]) {
		for i, h := range horizon {
			if math.Abs(h-t) < 1e-9 {
				out = append(out, i)
			}
		}
	}
	return out
}

// frame returns the picture of this moment.
func (s *show) frame() *view.Frame {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	r := s.p.judge.Result(false)
	state := s.sc.robot.Plant.States[s.channel]
	f := &view.Frame{
		Title: s.sc.vehicle + ": " + s.sc.robot.Plant.Text, Elapsed: r.Flight.Seconds(), Total: s.total.Seconds(),
		Channel: state.Name, Unit: state.Unit,
		P50: r.P50.Seconds(), P99: r.P99.Seconds(), Predicted: r.Answered, Missing: r.Missing, Overdue: r.Overdue,
	}
	if t := r.Flight.Seconds(); t > 0 {
		f.Rate = float64(r.Answered-1) / t
	}
	if c := s.p.change; c != nil {
		f.Note = c.note(r.Flight.Seconds(), &s.p.status)
	}
	for i := range r.Scored {
		f.Pooled.Inside += r.Covered[i]
		f.Pooled.Total += r.Scored[i]
	}
	for _, i := range s.times {
		c := view.Coverage{Horizon: r.Horizon[i]}
		for k := range r.K {
			c.Inside += r.Covered[i*r.K+k]
			c.Total += r.Scored[i*r.K+k]
		}
		f.Coverage = append(f.Coverage, c)
	}
	s.draw(f, r.Horizon)
	return f
}

// draw adds the prediction of one horizon ago, what was measured since, and the
// newest prediction. The planner's lock is held.
func (s *show) draw(f *view.Frame, horizon []float64) {
	j, k := s.p.judge, s.channel
	now := j.Newest()
	if now == nil {
		return
	}
	if before := j.At(now.Seq - s.back); before != nil && before.Answered {
		f.Bands = append(f.Bands, band(before, now.T, k, horizon))
	}
	for seq := now.Seq - min(s.back, now.Seq); seq <= now.Seq; seq++ {
		if m := j.At(seq); m != nil {
			f.Measured = append(f.Measured, view.Sample{T: seconds(m.T - now.T), Value: m.X[k]})
		}
	}
	f.Bands = append(f.Bands, band(now, now.T, k, horizon))
}

// band returns the interval of 95 % for measurements of channel k, from the state
// itself on, where another measurement would be as far off as at the first time.
func band(m *judge.Moment, now int64, k int, horizon []float64) view.Band {
	start, half := seconds(m.T-now), judge.Z95*m.ObsStd[k]
	b := view.Band{T: []float64{start}, Mean: []float64{m.X[k]}, Lo: []float64{m.X[k] - half}, Hi: []float64{m.X[k] + half}}
	for i, t := range horizon {
		mean, half := m.Mean[i*len(m.X)+k], judge.Z95*m.ObsStd[i*len(m.X)+k]
		b.T, b.Mean = append(b.T, start+t), append(b.Mean, mean)
		b.Lo, b.Hi = append(b.Lo, mean-half), append(b.Hi, mean+half)
	}
	return b
}

func seconds(ns int64) float64 { return float64(ns) * 1e-9 }

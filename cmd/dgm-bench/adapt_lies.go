package main

import (
	"context"
	"math"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// lie is what a faulty or hostile sender makes of the samples of a robot that has not changed.
type lie struct {
	name string
	tell func(x, u []float64, t float64, s *adaptSystem, std []float64) // changes a sample in place; std are those of the states
}

// Times of a flight with lies, s.
const (
	liesLast    = 20
	truthAfter  = 40
	liePart     = 2    // whose errors are compared
	lieMost     = 1.05 // error in a part over that without adaptation, from the second part on
	lieWidth    = 1.2  // width at which intervals have returned
	lieReturned = 10   // after which they must have
)

func lies() []lie {
	rate := func(s *adaptSystem) int { return len(s.plant.States) - 1 } // of every robot of the study the last state is a rate
	return []lie{
		{"a rate oscillates", func(x, _ []float64, t float64, s *adaptSystem, std []float64) {
			x[rate(s)] += 2 * std[rate(s)] * math.Sin(2*math.Pi*1.5*t)
		}},
		{"a rate changes its sign twice a second", func(x, _ []float64, t float64, s *adaptSystem, _ []float64) {
			if int(2*t)%2 == 1 {
				x[rate(s)] = -x[rate(s)]
			}
		}},
		{"a rate is the opposite", func(x, _ []float64, _ float64, s *adaptSystem, _ []float64) { x[rate(s)] = -x[rate(s)] }},
		{"inputs are reported as 0", func(_, u []float64, _ float64, _ *adaptSystem, _ []float64) { clear(u) }},
		{"inputs are reported with the opposite change", func(_, u []float64, t float64, _ *adaptSystem, _ []float64) {
			for i := range u {
				u[i] *= 1 + 0.5*math.Sin(2*math.Pi*t+float64(i))
			}
		}},
		{"a rate is noise", func(x, _ []float64, t float64, s *adaptSystem, std []float64) {
			x[rate(s)] += 2 * std[rate(s)] * math.Sin(1e6*t*t) // of the times alone: the same in every run
		}},
	}
}

// lying returns a flight whose samples were changed.
func (s *adaptSystem) lying(l *lie, seed uint64, length int) []window.Flight {
	out := s.series(s.robot(), seed, length)
	K, P := len(s.plant.States), len(s.plant.Inputs)
	std := make([]float64, K)
	for k := range K {
		sum, squares := 0.0, 0.0
		for i := range out.T {
			v := out.X[i*K+k]
			sum, squares = sum+v, squares+v*v
		}
		n := float64(len(out.T))
		std[k] = math.Sqrt(max(squares/n-sum/n*sum/n, 0))
	}
	for i, t := range out.T {
		l.tell(out.X[i*K:(i+1)*K], out.U[i*P:(i+1)*P], float64(t-out.T[0])*1e-9, s, std)
	}
	return s.flights(out)
}

// lied flies a robot that has not changed, of which lies are told for a while, and puts into the row:
//
//	worst_rmse     the largest error over that without adaptation in 2 s, from 2 s on
//	lie_coverage   95 % intervals in the same time, and factor_lie_coverage with the factor of live trust alone
//	after_rmse     the largest error over that without adaptation in 2 s, from 2 s after the lies on
//	returned_s     after the lies, until intervals have less than 1.2 times the usual width and stay so, factor_returned_s with the factor alone
func (s *adaptSystem) lied(ctx context.Context, m *model.Model, l *lie, seed uint64, r *study.Row, log *checkLog) error {
	calm, told, truth := s.fly(s.robot(), 200+seed, adaptCalm), s.lying(l, 300+seed, liesLast), s.fly(s.robot(), 400+seed, truthAfter)
	for _, f := range []*[]window.Flight{&calm, &told, &truth} {
		var err error
		if *f, _, err = estimation.As(m, *f); err != nil {
			return err
		}
	}
	during, err := s.inParts(ctx, m, told, adaptOptions(m, calm), liesLast)
	if err != nil {
		return err
	}
	after, err := s.inParts(ctx, m, truth, log.options(m, append(calm[:1:1], told...), s.plant.Name, "false samples: "+l.name), truthAfter)
	if err != nil {
		return err
	}
	worst, covered, byFactor := 0.0, 1.0, 1.0
	for _, p := range during.Since[1:] {
		worst, covered, byFactor = max(worst, p.RMSE), min(covered, p.Coverage95), min(byFactor, p.Factor.Coverage95)
	}
	late := 0.0
	for _, p := range after.Since[1:] {
		late = max(late, p.RMSE)
	}
	returned := func(width func(p *evaluate.Since) float64) float64 {
		at := 0.0
		for i := range after.Since {
			if width(&after.Since[i]) > lieWidth {
				at = after.Since[i].From + liePart
			}
		}
		return at
	}
	adapted := returned(func(p *evaluate.Since) float64 { return p.Width })
	r.Put("lie", l.name).Put("system", s.plant.Name).Put("worst_rmse", worst).Put("lie_coverage", covered).Put("factor_lie_coverage", byFactor).Put("after_rmse", late).
		Put("returned_s", adapted).Put("factor_returned_s", returned(func(p *evaluate.Since) float64 { return p.Factor.Width }))
	r.Put("ok", worst <= lieMost && late <= lieMost && adapted <= lieReturned)
	return nil
}

// inParts runs flights through with ratios for every two seconds.
func (s *adaptSystem) inParts(ctx context.Context, m *model.Model, flights []window.Flight, opt evaluate.Options, length int) (*evaluate.Adapted, error) {
	for from := 0; from < length; from += liePart {
		opt.Parts = append(opt.Parts, float64(from))
	}
	return evaluate.Adapt(ctx, m, flights, opt)
}

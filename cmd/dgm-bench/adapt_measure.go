package main

import (
	"context"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// adaptOptions returns six horizons of a model's, after a lead.
func adaptOptions(m *model.Model, lead []window.Flight) evaluate.Options {
	opt := evaluate.Options{Lead: lead}
	for _, part := range []float64{0.04, 0.1, 0.24, 0.4, 0.68, 1} {
		opt.Horizons = append(opt.Horizons, part*m.Horizon)
	}
	return opt
}

// adaptOn runs flights through, each after a lead.
func adaptOn(ctx context.Context, m *model.Model, lead, flights []window.Flight) (*evaluate.Adapted, error) {
	return evaluate.Adapt(ctx, m, flights, adaptOptions(m, lead))
}

// putAdapted puts the ratios of all flights into a row.
func putAdapted(r *study.Row, a *evaluate.Adapted) {
	before, n := 0.0, 0.0
	for _, part := range a.Since {
		before, n = before+part.Before*float64(part.N), n+float64(part.N)
	}
	r.Put("before", before/n)
	r.Put("rmse", a.RMSE).Put("crps", a.CRPS).Put("width", a.Width).Put("coverage", a.Coverage95).Put("worst", a.Worst)
	r.Put("factor_crps", a.Factor.CRPS).Put("factor_width", a.Factor.Width).Put("factor_coverage", a.Factor.Coverage95).Put("factor_worst", a.Factor.Worst)
}

package predictors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/dynamicsnet"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Names of the nets' rows.
const (
	petsName     = "PETS"
	rolloutsName = "nets through roll-outs"
)

const (
	netMembers     = 5
	stepsOfHorizon = 25
	// modelShare of the mean square residual is in the width of nets through roll-outs,
	// beside the members' spread.
	modelShare = 0.5
)

// ensembles trains PETS and the nets through roll-outs on four fifths of the flights. Their
// intervals are scaled on the rest.
func ensembles(ctx context.Context, d *data, readout model.Readout) ([]predictor, error) {
	fold := heldBack(d.train.Flights)
	equation, err := kinematic(d, fold.Train)
	if err != nil {
		return nil, err
	}
	fits := []struct {
		name  string
		share float64
		fit   func(ctx context.Context, d *data, m *prior.Model, flights []window.Flight, readout model.Readout) (predict, error)
	}{{petsName, 0, fitPETS}, {rolloutsName, modelShare, fitRollouts}}
	var out []predictor
	for _, f := range fits {
		began := time.Now()
		raw, err := f.fit(ctx, d, equation, fold.Train, readout)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		scaled, err := conformal(d, fold.Held, raw, f.share)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		out = append(out, predictor{name: f.name, predict: scaled, seconds: time.Since(began).Seconds()})
	}
	return out, nil
}

// heldBack holds a fifth of every flight back, in turns the first to the last.
func heldBack(flights []window.Flight) (out window.Fold) {
	const parts = 5
	for i := range flights {
		f, at := &flights[i], i%parts
		from, to := at*f.N()/parts, (at+1)*f.N()/parts
		for _, r := range [][2]int{{0, from}, {to, f.N()}} {
			if r[1]-r[0] > 1 {
				out.Train = append(out.Train, f.Slice(r[0], r[1]))
			}
		}
		if to-from > 1 {
			out.Held = append(out.Held, f.Slice(from, to))
		}
	}
	return out
}

// kinematic returns the difference equation that a net adds to: every state moves by its
// measured derivative, if any.
func kinematic(d *data, flights []window.Flight) (*prior.Model, error) {
	m, err := priordynamics.Regress(flights, d.task, priordynamics.Shape{Step: d.task.Horizon / stepsOfHorizon, Degree: 1, Ridge: 1e-5})
	if err != nil {
		return nil, err
	}
	clear(m.Weights)
	states := d.task.States
	for k, c := range states {
		of := channel.Index(states, c.Derivative)
		for l, channelOf := range m.Lift.Of {
			if of == channelOf && m.Lift.Kind[l] == channel.Value {
				m.Weights[k] = m.Step * m.Lift.Mean[l]
				m.Weights[(1+l)*len(states)+k] = m.Step * m.Lift.Std[l]
			}
		}
	}
	return m, nil
}

// fitRollouts trains an ensemble of nets by matching, then through their roll-outs, with
// a fixed, weak decay. The raw width is the members' spread.
func fitRollouts(ctx context.Context, d *data, equation *prior.Model, flights []window.Flight, readout model.Readout) (predict, error) {
	set := dynamicsnet.Default(len(d.task.States))
	set.Hidden = []int{64, 64}
	nets, err := dynamicsnet.Train(ctx, equation, flights, d.task, set, []uint64{1, 2, 3, 4, 5}[:netMembers])
	if err := errors.Join(err, ctx.Err()); err != nil { // a part of the steps is not enough
		return nil, err
	}
	K, times := len(d.task.States), d.of.horizons
	rolls := make([]*prior.Rollout, len(nets))
	for i := range nets {
		rolls[i] = prior.New(&nets[i], K, d.task.Horizon)
	}
	got := make([]float64, K)
	return func(mean, std []float64, w *replay.Window) error {
		clear(mean)
		clear(std)
		u := w.Signal(readout)
		for i, r := range rolls {
			r.Run(w.X0, u)
			for j, t := range times {
				r.At(got, nil, t)
				for k, v := range got {
					update(&mean[j*K+k], &std[j*K+k], v, i)
				}
			}
		}
		for j, s := range std {
			std[j] = math.Sqrt(s / float64(len(rolls)))
		}
		return nil
	}, nil
}

// conformal scales the widths s of a predictor, to √(share·c² + s²) with c the rms
// residual, so that 95 % intervals cover 95 % of the windows that are held out, by channel
// and horizon (normalised split conformal prediction, Papadopoulos et al. 2002).
func conformal(d *data, held []window.Flight, raw predict, share float64) (predict, error) {
	size := len(d.of.horizons) * len(d.task.States)
	residuals, widths := make([][]float64, size), make([][]float64, size)
	mean, std := make([]float64, size), make([]float64, size)
	for w := range replay.Each(held, window.Cut(held, d.task.Horizon, d.of.stride), d.of.horizons) {
		if err := raw(mean, std, w); err != nil {
			return nil, err
		}
		for j, y := range w.Measured {
			if !math.IsNaN(y) {
				residuals[j], widths[j] = append(residuals[j], y-mean[j]), append(widths[j], std[j])
			}
		}
	}
	base, factor := make([]float64, size), make([]float64, size)
	for j, r := range residuals {
		if len(r) == 0 {
			return nil, errUnmeasured(d, j)
		}
		for _, e := range r {
			base[j] += share * e * e / float64(len(r))
		}
		for i := range r {
			r[i] /= math.Sqrt(base[j] + widths[j][i]*widths[j][i])
		}
		factor[j] = score.CoveringStd(r)
	}
	return func(mean, std []float64, w *replay.Window) error {
		if err := raw(mean, std, w); err != nil {
			return err
		}
		for j, s := range std {
			std[j] = factor[j] * math.Sqrt(base[j]+s*s)
		}
		return nil
	}, nil
}

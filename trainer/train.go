package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/fit"
	"github.com/dgm-robotics/dgm/trainer/prior"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Progress tells how far a training is.
type Progress struct {
	Phase   string
	Done    float64 // share of the whole, 0…1
	Elapsed time.Duration
	Left    time.Duration // estimate; 0 = not known yet
}

// Result is a trained model with what a report says about it.
type Result struct {
	Model   *model.Model
	Split   Split
	Windows int // trained on
	Priors  []prior.Candidate
	Curves  [][]fit.Point
	Partial string // why the training ended early; empty = it did not
	Elapsed time.Duration
}

// noiseKnots are the places of the noise knots on the horizon: dense where it
// grows fastest.
var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// Train fits a model to the data. When ctx ends or the budget is used up, it
// writes what it has and says so in Partial; it fails only if not even one
// member could be conditioned.
func Train(ctx context.Context, d *Data, cfg Config, report func(Progress)) (*Result, error) {
	began := time.Now()
	H := cfg.Horizon.Seconds()
	res := &Result{Split: split(d.Flights, cfg.Holdout, H, cfg.Seed)}
	stride := cfg.Stride.Seconds()
	if stride == 0 {
		stride = H / 50
	}
	train, held := res.Split.Train, res.Split.Held
	windows := window.Cut(train, H, stride)
	err := enough(train, windows, H)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(cfg.Budget), errBudget)
	defer cancel()
	settings := rows.Settings{Horizon: H, Knots: cfg.Knots, Basis: cfg.Basis, NoiseKnots: noiseKnots, Velocity: cfg.Prior == "velocity"}
	if cfg.Prior == "equation" {
		states := channel.Select(d.Channels, channel.State)
		if settings.Prior, res.Priors, err = prior.Choose(limited, train, states, len(d.Channels)-len(states), H); err != nil {
			return nil, err
		}
	}
	frame, err := rows.NewFrame(d.Channels, train, windows, settings)
	if err != nil {
		return nil, err
	}
	linear, err := baseline.Linear(train, frame.States, frame.P, H)
	if err != nil {
		return nil, err
	}
	res.Windows = len(windows)
	data := fit.Data{Frame: frame, Flights: train, Windows: windows, Samples: samples(train)}
	m := &model.Model{
		Vehicle: d.Vehicle, Channels: d.Channels, K: frame.K, P: frame.P, Horizon: H, Points: cfg.Points,
		Displacement: true, Velocity: settings.Velocity, Inputs: frame.Inputs, Scale: frame.Scale, NoiseKnots: noiseKnots,
		Region:   trainingRegion(frame, train, held, windows, window.Cut(held, H, stride)),
		Baseline: *linear,
		Provenance: model.Provenance{
			Created: began.UTC().Format(time.RFC3339), Tool: "dgm-train", DataHash: d.Hash, Config: cfg.TOML(), Seed: cfg.Seed,
		},
	}
	if settings.Prior != nil {
		m.Prior = *settings.Prior
	}
	meter := &meter{report: report, began: began, members: cfg.Members, steps: cfg.fitSettings().Steps}
	if err := members(limited, m, res, data, cfg, meter); err != nil {
		return nil, err
	}
	m.Sensor = sensors(m)
	m.Provenance.Partial = res.Partial
	meter.say("self-check", 0.99)
	res.Model, err = finish(m, data)
	res.Elapsed = time.Since(began)
	return res, err
}

var errBudget = errors.New("the time budget was used up")

// members trains the ensemble, each member from its own seed.
func members(ctx context.Context, m *model.Model, res *Result, data fit.Data, cfg Config, meter *meter) error {
	set := cfg.fitSettings()
	for i := range cfg.Members {
		if ctx.Err() != nil && i > 0 {
			res.Partial = fmt.Sprintf("%v after %d of %d members", reason(ctx), i, cfg.Members)
			break
		}
		seed := cfg.Seed*1000 + uint64(i)
		net, err := fit.Train(ctx, data, set, seed, func(step int) { meter.step(i, step) })
		if err != nil {
			return err
		}
		if net.Stopped {
			res.Partial = fmt.Sprintf("%v at step %d of %d of member %d of %d", reason(ctx), len(net.Curve), set.Steps, i+1, cfg.Members)
			// Half a fit beside whole ones would only spoil them.
			if i > 0 {
				break
			}
		}
		meter.say(fmt.Sprintf("member %d of %d: posterior", i+1, cfg.Members), (float64(i)+0.95)/float64(cfg.Members))
		e := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		readouts := 1
		if m.P > 0 {
			readouts = model.Readouts
		}
		for r := range readouts {
			post, err := fit.Condition(net, data, model.Readout(r), seed)
			if err != nil {
				return err
			}
			e.Posterior = append(e.Posterior, post)
		}
		m.Members = append(m.Members, e)
		if i == 0 {
			m.Dynamics.Net = net.Params.Dynamics
		}
		res.Curves = append(res.Curves, net.Curve)
	}
	return nil
}

func reason(ctx context.Context) error {
	if c := context.Cause(ctx); !errors.Is(c, context.Canceled) {
		return c
	}
	return errors.New("stopped by hand")
}

// sensors returns the variance R of each state's sensor: as declared, else half
// of the noise that a displacement has at the start, where both of its ends were
// measured.
func sensors(m *model.Model) []float64 {
	Q := len(m.NoiseKnots)
	out := make([]float64, m.K)
	for k := range out {
		if n := m.Channels[k].Noise; n > 0 {
			out[k] = n * n
			continue
		}
		for i := range m.Members {
			s := m.Members[i].Posterior[0].LogSigma[k*Q]
			out[k] += 0.5 * math.Exp(2*s) * m.Scale[k] * m.Scale[k] / float64(len(m.Members))
		}
	}
	return out
}

// finish rounds the model as its file does, and adds self-checks made from these
// very numbers.
func finish(m *model.Model, d fit.Data) (*model.Model, error) {
	b, err := m.Encode()
	if err != nil {
		return nil, err
	}
	if m, err = model.Decode(b); err != nil {
		return nil, err
	}
	p, err := estimator.New(m, []float64{m.Horizon / 10, m.Horizon / 2, m.Horizon})
	if err != nil {
		return nil, err
	}
	var checks []model.SelfCheck
	for i := range 3 {
		w := d.Windows[(i*2+1)*len(d.Windows)/6]
		fl := &d.Flights[w.Flight]
		q := estimator.Query{X0: fl.State(w.Start)}
		c := model.SelfCheck{X0: q.X0}
		if m.P > 0 {
			q.U = fl.Input(w.Start)
			c.U = q.U
			if i > 0 {
				q.Plan = make([]float64, m.Inputs.Knots*m.P)
				for j := range m.Inputs.Knots {
					a := fl.T[w.Start] + m.Horizon*float64(j)/float64(m.Inputs.Knots)
					fl.InputMean(q.Plan[j*m.P:(j+1)*m.P], a, a+m.Horizon/float64(m.Inputs.Knots))
				}
				c.Plan = q.Plan
			}
		}
		dst := p.NewPrediction()
		if !p.Predict(dst, &q) {
			return nil, fmt.Errorf("the trained model predicts numbers that are not finite: the data may hold values far outside their channel's range; run the data check")
		}
		c.Readout, c.Times, c.Mean, c.Std, c.ObsStd = dst.Readout, dst.Times, dst.Mean, dst.Std, dst.ObsStd
		checks = append(checks, c)
	}
	m.Checks = checks
	_, err = m.Encode()
	return m, err
}

// meter turns steps into progress.
type meter struct {
	report         func(Progress)
	began          time.Time
	members, steps int
}

func (t *meter) step(member, step int) {
	t.say(fmt.Sprintf("member %d of %d: step %d of %d", member+1, t.members, step, t.steps),
		(float64(member)+0.92*float64(step)/float64(t.steps))/float64(t.members))
}

func (t *meter) say(phase string, done float64) {
	if t.report == nil {
		return
	}
	p := Progress{Phase: phase, Done: done, Elapsed: time.Since(t.began)}
	if done > 0.01 {
		p.Left = time.Duration(float64(p.Elapsed) * (1 - done) / done)
	}
	t.report(p)
}

package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/nets"
	outside "github.com/dgm-robotics/dgm/trainer/ood"
	choice "github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"gonum.org/v1/gonum/floats"
)

// Result is a trained model with what a report says about it.
type Result struct {
	Model      *model.Model
	Judged     *model.Model       // the model without the held-out data, which Table is about; nil without them
	Table      *evaluate.Table    // plan, on held-out data; nil without them
	HoldTable  *evaluate.Table    // hold; nil without held-out data or inputs
	Verdict    string             // one sentence
	Split      Split              //
	Windows    int                // trained on
	Priors     []choice.Candidate // difference equations that were tried
	Candidates []Candidate        // cores and tempers that were tried
	Chosen     Candidate
	Untried    Untried // what of it was taken untried
	Curves     [][]nets.Point
	Partial    string // why the training ended early; empty = it did not
	Elapsed    time.Duration
}

// training is the state of one training.
type training struct {
	ctx       context.Context
	d         *Data
	cfg       Config
	H, stride float64
	states    []channel.Channel
	P         int
	res       *Result
	meter     *meter

	data      nets.Data    // all that is not held out; its frame is that of every fit
	shape     choice.Shape // of the difference equation
	companion choice.Shape
	blend     []float64 // K×Q, the companion's share
	linearStd []float64 // K×Q, errors of the linear model on data it has not seen
	folds     []foldData
	cells     *outside.Cells // of the known states
	nets      []*nets.Net
	laws      []law // per readout
}

// Train fits a model to the data:
//
//  1. Part of the data is held out for the table; the rest is what is known.
//  2. The shape of the difference equation is chosen by cross-validation.
//  3. The core is chosen by the likelihood of a fold that it was not trained on.
//  4. The ensemble is trained on all that is known.
//  5. Temper and calibration are chosen by cross-validation: equation and
//     posterior are fitted anew without each fold, the nets stay.
//  6. The model of what is known is judged on the held-out data. Then equation
//     and posterior are refitted to everything: this model is exported.
//
// When ctx ends or the budget is used up, what there is is finished and Partial
// says so; an error comes only if not even one member could be conditioned.
func Train(ctx context.Context, d *Data, cfg Config, report func(Progress)) (*Result, error) {
	began := time.Now()
	t := &training{d: d, cfg: cfg, H: cfg.Horizon.Seconds(), stride: cfg.Stride.Seconds(), res: &Result{}}
	if t.stride == 0 {
		t.stride = t.H / 50
	}
	t.states = channel.Select(d.Channels, channel.State)
	t.P = len(d.Channels) - len(t.states)
	t.res.Split = split(d.Flights, cfg.Holdout, t.H, cfg.Seed)
	known := t.res.Split.Train
	if p := Precheck(d, cfg); p != nil {
		return nil, errors.New(p.Text)
	}
	// What comes after the nets (temper, calibration, refits, table) has its share
	// of the budget too.
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(netShare*float64(cfg.Budget)), errBudget)
	defer cancel()
	t.ctx = limited
	t.meter = &meter{report: report, began: began, units: t.planned()}

	if err := t.prepare(known); err != nil {
		return nil, err
	}
	set, err := t.chooseCore()
	if err != nil {
		return nil, err
	}
	if err := t.ensemble(set); err != nil {
		return nil, err
	}
	if err := t.chooseTemper(); err != nil {
		return nil, err
	}
	if err := t.pace(); err != nil {
		return nil, err
	}
	if err := t.findLaws(); err != nil {
		return nil, err
	}
	if len(t.res.Split.Held) > 0 {
		if err := t.judge(); err != nil {
			return nil, err
		}
	}
	if err := t.export(began); err != nil {
		return nil, err
	}
	t.res.Elapsed = time.Since(began)
	return t.res, nil
}

// netShare of the budget goes to choosing the equation and training the nets.
const netShare = 0.6

var errBudget = errors.New("the time budget was used up")

func (t *training) seed(i int) uint64 { return t.cfg.Seed*1000 + uint64(i) }

// scoreStride is the distance of windows that selection looks at.
func (t *training) scoreStride() float64 { return t.H / 20 }

// shell returns a model of the frame without members.
func (t *training) shell(f *rows.Frame) *model.Model {
	m := &model.Model{
		Vehicle: t.d.Vehicle, Channels: t.d.Channels, K: f.K, P: f.P, Horizon: t.H, Points: t.cfg.Points,
		Displacement: true, Velocity: f.Base.Velocity, Inputs: f.Inputs, Scale: f.Scale, NoiseKnots: noiseKnots,
		Sensor: make([]float64, f.K),
	}
	m.RMSDisplacement = ood.RMSDisplacement{Typical: f.Moves, Min: leastMotion, Max: mostMotion}
	for i, l := range t.laws {
		m.NetworkWeight, m.ScaleFactor, m.OODExponent = append(m.NetworkWeight, l.gain), append(m.ScaleFactor, l.widen), append(m.OODExponent, l.growth)
		m.RMSDisplacement.Exponent = append(m.RMSDisplacement.Exponent, l.stir)
		if i == 0 {
			m.RMSDisplacement.Typical = slices.Clone(f.Moves)
			floats.Scale(l.usual, m.RMSDisplacement.Typical)
		}
	}
	if len(t.laws) > 0 && !slices.ContainsFunc(t.laws, func(l law) bool { return l.stir > 0 }) {
		m.RMSDisplacement = ood.RMSDisplacement{} // nothing to measure
	}
	if b := f.Base; b.Model != nil {
		m.PriorDynamics, m.Secondary, m.LinearWeight = *b.Model, *b.Secondary, b.LinearWeight
	}
	return m
}

// ensemble trains the members, each from its own seed.
func (t *training) ensemble(set nets.Settings) error {
	for i := range t.cfg.Members {
		if t.ctx.Err() != nil && i > 0 {
			if t.res.Partial == "" { // else the first one is not whole, which says more
				t.res.Partial = fmt.Sprintf("%v after %d of %d members", reason(t.ctx), i, t.cfg.Members)
			}
			break
		}
		phase := fmt.Sprintf("member %d of %d", i+1, t.cfg.Members)
		net, err := nets.Train(t.ctx, t.data, set, t.seed(100+i), func(step int) {
			t.meter.work(fmt.Sprintf("%s: step %d of %d", phase, step, set.Steps), 1/float64(set.Steps))
		})
		if err != nil {
			return err
		}
		if net.Stopped {
			t.res.Partial = fmt.Sprintf("%v at step %d of %d of %s", reason(t.ctx), len(net.Curve), set.Steps, phase)
			// Half a fit beside whole ones would only spoil them.
			if i > 0 {
				break
			}
		}
		t.nets = append(t.nets, net)
		t.res.Curves = append(t.res.Curves, net.Curve)
	}
	if t.res.Partial != "" {
		t.hurry()
	}
	return nil
}

// readouts is how many the model has: without inputs there is no plan.
func (t *training) readouts() int {
	if t.P > 0 {
		return model.Readouts
	}
	return 1
}

// findLaws calibrates both readouts by what the folds say of one member: the
// ensemble's intervals are no narrower.
func (t *training) findLaws() error {
	if len(t.folds) == 0 {
		return nil
	}
	var laws []law
	for r := range t.readouts() {
		o, err := t.outOfFold(t.nets[0], model.Readout(r), t.nets[0].Settings.NoisePasses, t.nets[0].Settings.Rows)
		if err != nil {
			return err
		}
		var reach *law
		if r > 0 {
			reach = &laws[0]
		}
		laws = append(laws, calibrate(t.shell(t.data.Frame), o, t.cfg.Fold, reach))
		t.meter.work(fmt.Sprintf("calibration, inputs %v", model.Readout(r)), workLaw)
	}
	t.laws = laws
	return nil
}

func reason(ctx context.Context) error {
	if c := context.Cause(ctx); !errors.Is(c, context.Canceled) {
		return c
	}
	return errors.New("stopped by hand")
}

package trainer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/nets"
	outside "github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// condition makes a model of the trained nets and the given data: posteriors for
// every readout, sensors.
func (t *training) condition(d nets.Data) (*model.Model, error) {
	m := t.shell(d.Frame)
	readouts := t.readouts()
	for i, net := range t.nets {
		e := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		for r := range readouts {
			t.meter.work(fmt.Sprintf("member %d of %d: posterior, inputs %v", i+1, len(t.nets), model.Readout(r)), workPosterior/float64(readouts))
			// The noise is what the first member leaves; it hardly differs between members.
			trial, noise := *net, []float64(nil)
			if i > 0 {
				trial.Settings.NoisePasses, noise = 0, m.Members[0].Posterior[r].LogSigma
			}
			post, err := nets.Condition(&trial, d, model.Readout(r), noise, t.cfg.Seed)
			if err != nil {
				return nil, err
			}
			// Members differ in what they expect, hardly in how sure they are: the variance
			// of the first one stands for all, as it does while calibrating, and the file
			// and every prediction cost a third.
			if i >= t.cfg.Variances {
				post.InverseFactor = nil
			}
			e.Posterior = append(e.Posterior, post)
		}
		m.Members = append(m.Members, e)
	}
	if err := t.bootstrap(m, d, readouts); err != nil {
		return nil, err
	}
	m.Dynamics.Net = t.nets[0].Params.Dynamics
	if t.cfg.Separate {
		m.Sensor = sensors(m, t.cfg.Noise == "growing")
	}
	return m, nil
}

// model makes a model conditioned on data, with all that goes into its file but
// where it comes from.
func (t *training) model(d nets.Data) (*model.Model, error) {
	m, err := t.condition(d)
	if err != nil {
		return nil, err
	}
	linear, err := baseline.Linear(d.Flights, t.states, t.P, t.H)
	if err != nil {
		return nil, err
	}
	m.Baseline, m.LinearStd = *linear, t.linearStd
	m.OOD = t.regionOf(d)
	return m, nil
}

// regionOf describes where the states and inputs of the data lie.
func (t *training) regionOf(d nets.Data) ood.Detector {
	states := outside.Starts(&d.Frame.Inputs.Lift, d.Flights, d.Windows)
	r, ok := states.Region()
	if !ok {
		return ood.Detector{}
	}
	r.Distance = states.Threshold(t.H)
	if t.P > 0 {
		// As the net sees them: means over a knot's block of a plan, one sample held.
		for _, block := range []float64{model.Plan: t.H / float64(max(1, t.cfg.Knots)), model.Hold: 0} {
			low, high := outside.Inputs(d.Flights, t.P, block)
			r.Low, r.High = append(r.Low, low), append(r.High, high)
		}
	}
	if len(t.laws) > 0 {
		r.Near, r.Far = t.laws[0].near, t.laws[0].far
	}
	return r
}

// judge scores the model that has not seen the held-out data on them.
func (t *training) judge() error {
	held := t.res.Split.Held
	if len(window.Cut(held, t.H, t.stride)) == 0 {
		return nil
	}
	m, err := t.model(t.data)
	if err != nil {
		return err
	}
	if m, err = finish(m, t.data); err != nil {
		return err
	}
	t.res.Judged = m
	t.meter.say("held-out table")
	background := context.WithoutCancel(t.ctx)
	if t.res.Table, err = evaluate.Run(background, m, held, evaluate.Options{Stride: t.stride, Kinematics: t.d.Law, Seed: t.cfg.Seed}); err != nil {
		return err
	}
	if m.P > 0 {
		if t.res.HoldTable, err = evaluate.Run(background, m, held, evaluate.Options{Stride: t.stride, Kinematics: t.d.Law, Seed: t.cfg.Seed, Readout: model.Hold}); err != nil {
			return err
		}
	}
	for _, table := range t.res.tables() {
		table.ModelID, table.EvaluatedID = "", m.ID // the file's is known when it is sealed
	}
	return nil
}

// tables are those that there are.
func (r *Result) tables() []*evaluate.Table {
	return slices.DeleteFunc([]*evaluate.Table{r.Table, r.HoldTable}, func(t *evaluate.Table) bool { return t == nil })
}

// export makes the model that flies, from all flights.
func (t *training) export(began time.Time) error {
	d := t.data
	if len(t.res.Split.Held) > 0 {
		var err error
		if d, err = t.dataOf(t.d.Flights); err != nil {
			return err
		}
	}
	m, err := t.model(d)
	if err != nil {
		return err
	}
	t.res.Windows = len(d.Windows)
	t.res.Verdict, _ = report.Verdict(t.res.Table, t.res.HoldTable, t.res.Partial)
	table, err := scores(t.res.Table)
	if err != nil {
		return err
	}
	m.Provenance = model.Provenance{
		Tool: "dgm-train", DataHash: t.d.Hash, Config: t.cfg.TOML(), Seed: t.cfg.Seed,
		Partial: t.res.Partial, Verdict: t.res.Verdict, Scores: table,
	}
	if t.res.Model, err = finish(m, d); err != nil {
		return err
	}
	for _, table := range t.res.tables() {
		table.ModelID = t.res.Model.ID
	}
	return nil
}

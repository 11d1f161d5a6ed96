package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/candidates"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/latency"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/selection"
	"github.com/dgm-robotics/dgm/trainer/summary"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// netShare of the time limit is for all stages up to the likelihood temperature. What comes
// after them completes the model and needs the rest.
const netShare = 0.6

// Train fits a model to the data, stage by stage, see the package. It counts work, not time: the same data and
// settings give the same model on every machine of a kind, however busy. When ctx ends or the time limit is
// reached, it completes the model so far and sets Partial; it is an error only if not even one member could be
// conditioned. report, unless nil, is called with the progress.
func Train(ctx context.Context, d *Data, cfg Config, report func(Progress)) (*Result, error) {
	if p := Precheck(d, cfg); p != nil {
		return nil, errors.New(p.Text)
	}
	if !cfg.Smoother {
		cfg = cfg.withoutSmoother()
	}
	task, stride := d.task(cfg.Horizon), cfg.stride(cfg.Horizon.Seconds())
	options, on, set := cfg.options(), cfg.Folds.switches(), cfg.netSettings()
	readouts := readoutsOf(task)
	split, parts, err := d.split(cfg, task)
	if err != nil {
		return nil, err
	}
	b := budget.New(time.Duration(cfg.Budget), cfg.plan(task, readouts, len(parts), len(split.Held) > 0), report)
	limited, cancel := context.WithTimeoutCause(ctx, b.Share(netShare), budget.ErrUsed)
	defer cancel()

	late, err := d.latency(limited, b)
	if err != nil {
		return nil, err
	}
	prior, err := candidates.Choose(limited, split.Train, parts, task, d.Body, readouts, cfg.candidates(d.Channels[len(task.States):], late), b)
	if err != nil {
		return nil, err
	}
	partial := endedIn("", limited, "the fits of the prior dynamics")
	data, folded, err := frame(d, cfg, prior, split.Train, parts, stride)
	if err != nil {
		return nil, err
	}
	linearStd, err := calibration.LinearStd(parts, task, noiseKnots)
	if err != nil {
		return nil, err
	}
	b.Work("folds", b.Weights)

	seed := func(i int) uint64 { return cfg.Seed*1000 + uint64(i) }
	trials := selection.Trials{Folds: folded, On: on, Budget: b}
	core, choice, err := trials.ChooseCore(limited, set, options, seed)
	if err != nil {
		return nil, err
	}
	partial = endedIn(partial, limited, "the choice of the core")
	data.Frame, folded = data.Frame.WithBasis(choice.Chosen.Basis), folded.WithBasis(choice.Chosen.Basis)
	trials.Folds = folded

	var seeds []uint64
	for i := range cfg.Members {
		seeds = append(seeds, seed(100+i))
	}
	ensemble, err := nets.Train(limited, data, core.Apply(set), seeds, b)
	if err != nil {
		return nil, err
	}
	partial = cmp.Or(partial, ensemble.Partial)
	posterior := set.Posterior
	if partial != "" {
		posterior.Rows = budget.ReducedRows(posterior.Rows)
		b.Remain(b.Calibrate*float64(len(conditionsOf(readouts, data.Frame.Prior.History))) + 2*b.Posterior*float64(len(ensemble.Members)))
	}

	choice, err = trials.ChooseTemperature(limited, choice, ensemble.Members[0], posterior, cfg.Folds.Temperature)
	if err != nil {
		return nil, err
	}
	partial = endedIn(partial, limited, "the choice of the likelihood temperature")
	posterior.Temperature = choice.Chosen.Temperature
	if partial != "" && errors.Is(budget.Reason(limited), budget.ErrUsed) && len(folded.Folds) > 0 {
		if posterior.Rows, err = affordableRows(folded, ensemble, posterior, readouts, b); err != nil {
			return nil, err
		}
	}

	a := assembly{data: d, late: late, cfg: cfg, task: task, ensemble: ensemble, posterior: posterior, readouts: readouts, linearStd: linearStd}
	res := &Result{Split: split, Prior: prior.Shape.Candidates, Stack: prior.Stack, Choice: choice, Partial: partial, LatencyGain: late.Gain, Curves: curves(ensemble)}
	if err := a.calibrateByFolds(res, folded, conditionsOf(readouts, data.Frame.Prior.History), b); err != nil {
		return nil, err
	}
	if len(window.Cut(split.Held, task.Horizon, stride)) > 0 && evaluate.Scorable(split.Held, task.Horizon) {
		if err := a.evaluate(ctx, res, data, stride, b); err != nil {
			return nil, err
		}
	}
	if len(split.Held) > 0 {
		whole := completing(partial, ctx, limited)
		spec, err := prior.Refit(whole, d.Flights, b)
		if err != nil {
			return nil, err
		}
		data = nets.NewData(data.Frame.WithPrior(spec), d.Flights, stride)
		partial = endedIn(partial, whole, "the fit of the prior dynamics to all flights")
		res.Partial = partial
	}
	if err := a.export(res, data, b); err != nil {
		return nil, err
	}
	res.Motion = prior.EquationOfMotion()
	res.Elapsed = b.Elapsed()
	return res, nil
}

// readoutsOf returns how many readouts of the input there are: without inputs there is no plan.
func readoutsOf(task window.Task) int {
	if task.Inputs > 0 {
		return model.Readouts
	}
	return 1
}

// split returns what is held out, and the parts of the cross-validation of the rest. What a side does not train on is estimated by
// filters that have not seen it.
func (d *Data) split(cfg Config, task window.Task) (split window.Split, parts []window.Fold, err error) {
	split = window.HoldOut(d.Flights, cfg.Holdout, task.Horizon, cfg.Seed)
	parts = window.Folds(split.Train, task.Horizon, foldCount)
	split.Held, err = estimation.Own(split.Held, split.Train, d.Filter, task)
	for i := range parts {
		if p := &parts[i]; err == nil {
			p.Held, err = estimation.Own(p.Held, p.Train, d.Filter, task)
		}
	}
	return split, parts, err
}

// frame measures the frame of all nets on the known flights, and returns these as data,
// with the folds.
func frame(d *Data, cfg Config, prior *candidates.Prior, known []window.Flight, parts []window.Fold, stride float64) (nets.Data, calibration.Folds, error) {
	whole, folds := prior.Spec()
	H := cfg.Horizon.Seconds()
	frame, err := rows.NewFrame(d.Channels, known, window.Cut(known, H, stride), rows.Settings{
		Horizon: H, Knots: cfg.Knots, Basis: cfg.options().Bases[0], NoiseKnots: noiseKnots, ConstantNoise: cfg.Noise == "constant", Prior: whole,
	})
	if err != nil {
		return nets.Data{}, calibration.Folds{}, err
	}
	data := nets.NewData(frame, known, stride)
	out := calibration.Folds{Windows: cfg.Folds.Windows, Filter: d.Filter, Whole: len(parts) > 0 && parts[0].Whole, Strata: ood.Starts(&frame.Inputs.Lift, known, data.Windows).Strata()}
	out.Times, out.Steps = calibration.ScoredTimes(H, known), calibration.TrajectorySteps(H, known)
	for i, part := range parts {
		out.Folds = append(out.Folds, calibration.NewFold(nets.NewData(frame.WithPrior(folds[i]), part.Train, stride), part.Held))
	}
	return data, out, nil
}

func curves(e nets.Ensemble) (all [][]nets.Point) {
	for _, net := range e.Members {
		all = append(all, net.Curve)
	}
	return all
}

// latency returns when the inputs act; where there is no time for it nothing is known.
func (d *Data) latency(ctx context.Context, b *budget.Adaptation) (*latency.Result, error) {
	late, err := latency.Estimate(ctx, d.Flights, d.Channels)
	b.Work("latency of the inputs", b.Latency)
	if ctx.Err() != nil {
		return &latency.Result{}, nil
	}
	return late, err
}

// endedIn returns why a training is partial: the reason so far, else that ctx ended in a stage.
func endedIn(partial string, ctx context.Context, stage string) string {
	if partial == "" && ctx.Err() != nil {
		return fmt.Sprintf("%v during %s", budget.Reason(ctx), stage)
	}
	return partial
}

// completing returns the context of what completes a training: the time limit does not cut a
// whole one.
func completing(partial string, ctx, limited context.Context) context.Context {
	if partial == "" {
		return ctx
	}
	return limited
}

// conditionsOf returns those of so many readouts, and where history is read those without it.
func conditionsOf(readouts int, read history.Spec) (out []model.Condition) {
	for _, noHistory := range []bool{false, true} {
		for r := range readouts {
			if !noHistory || read.Rows() > 0 {
				out = append(out, model.Readout(r).Condition(noHistory))
			}
		}
	}
	return out
}

// affordableRows returns the rows that posteriors can be conditioned on in the rest of
// the budget, by the time that one fold takes with few.
func affordableRows(folded calibration.Folds, ensemble nets.Ensemble, posterior nets.Conditioning, readouts int, b *budget.Adaptation) (int, error) {
	few := posterior
	few.Rows = min(posterior.Rows, budget.LeastRows)
	began := time.Now()
	if err := calibration.Try(folded, ensemble.Members[0], few); err != nil {
		return 0, err
	}
	// The folds, the model that is evaluated and the one that is exported, in each readout.
	times := float64(readouts * (len(folded.Folds) + 2*len(ensemble.Members)))
	return min(posterior.Rows, b.Affordable(time.Since(began), few.Rows, times)), nil
}

// Progress is the progress of a training.
type Progress = budget.Progress

// Report returns the contents of the report of a training: logs and files are the names
// that were read and written, the model first.
func Report(d *Data, cfg Config, res *Result, logs, files []string) (*report.Report, error) {
	return summary.Report(res, summary.Training{
		Vehicle: d.Vehicle, Problems: d.found(), DataHash: d.Hash, Settings: cfg.TOML(), Budget: time.Duration(cfg.Budget), Logs: logs, Files: files,
	})
}

package main

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/predictors"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// adaptFlags are the values of the flags of the study "adapt".
type adaptFlags struct {
	predictors.Folders
	model, models string
	sets          []string
	seeds         int
	changes       string // part of the names of those that are flown
	checks        checkLog
}

// recordedVariant is the variant of rows of recordings.
const recordedVariant = "recorded"

func adaptStudy() *study.Study {
	o := adaptFlags{seeds: 3}
	return &study.Study{
		Name: "adapt", Summary: []string{"ok", "rmse", "coverage", "width", "recovered_s", "trained_ratio"}, Tables: adaptTables,
		Short: "Errors and intervals with adaptation and live calibration under payload, wear and gusts",
		Long: `adapt trains small models of a simulated pendulum and a simulated quadrotor, and replays flights of a changed
robot causally: with nothing learned at the start, after 20 s of the unchanged robot, and the unchanged robot
after 20 s of the changed one. It does the same with public recordings, and with flights later than those trained on. Ratios
are those of dgm-eval --adapt: intervals with the factor of live trust, over predictions without adaptation and without
that factor. Permanent changes are compared with a model trained on flights of the changed robot.

In a lie, a faulty or hostile sender falsifies the samples of an unchanged robot for 20 s. It is ok if from 2 s on, during and after the lie,
the error in every 2 s is at most 1.05 times that without adaptation, and the intervals return to 1.2 times their width within 10 s after it.

A change is ok if error and width have the required ratios, 95 % intervals cover 93 to 98 %, and from 3 s after the change
reverts the error is at most 1.05 times that without adaptation. A recording is ok if its error is at most 1.01
times that without adaptation. The exit code is 1 if one is not ok.`,
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.model, "model", "", "model of the pendulum or the quadrotor to fly, instead of those trained now")
			f.StringVar(&o.models, "models", "", "folder that keeps trained models; models in it are not trained again")
			f.StringSliceVar(&o.sets, "sets", adaptSets(), "simulated robots and recordings, separated by commas")
			f.StringVar(&o.changes, "changes", "", "only changes of simulated robots whose `name` contains it, such as lie")
			f.StringVar(&o.checks.path, "checks", "", "`file` to write every comparison of live trust to, a table for python/studies/conformal.py")
			f.IntVar(&o.seeds, "seeds", o.seeds, "flights of each change of a simulated robot")
			o.AddFlags(cmd)
		},
		Units: o.units,
		Failed: func(rows []*study.Row) error {
			return errors.Join(o.checks.err, notOK("adaptation does not follow %d of %d changes")(rows))
		},
	}
}

// adaptSets returns the names of the simulated robots and the recordings.
func adaptSets() (names []string) {
	for _, s := range adaptSystems() {
		names = append(names, s.plant.Name)
	}
	return append(names, predictors.Later()...)
}

// units returns the changes of all chosen systems, or of those that the model in a file fits,
// and the chosen recordings.
func (o *adaptFlags) units() (units []study.Work, err error) {
	if o.seeds < 1 {
		return nil, cli.Usage("--seeds is %d, and must be 1 or more", o.seeds)
	}
	sets, err := study.Chosen("--sets", o.sets, adaptSets())
	if err != nil {
		return nil, err
	}
	var given *model.Model
	if o.model != "" {
		if given, err = model.ReadFile(o.model); err != nil {
			return nil, err
		}
	}
	for _, s := range adaptSystems() {
		if slices.Contains(sets, s.plant.Name) && (given == nil || len(s.plant.States) == given.K && len(s.plant.Inputs) == given.P) {
			units = append(units, o.simulated(&s, given)...)
		}
	}
	for _, name := range predictors.Later() {
		if slices.Contains(sets, name) && given == nil {
			units = append(units, study.Work{Key: study.Key{Set: name, Variant: recordedVariant, Seed: 1}, Run: func(ctx context.Context, u *study.Unit) error {
				return o.recorded(ctx, name, u)
			}})
		}
	}
	units = slices.DeleteFunc(units, func(w study.Work) bool { return !strings.Contains(w.Key.Variant, o.changes) })
	if o.changes != "" && len(units) == 0 {
		return nil, cli.Usage("--changes %q is in the name of none", o.changes)
	}
	if len(units) == 0 {
		return nil, cli.Usage("--model %s has %d states and %d inputs; a pendulum has 2 and 1, a quadrotor 12 and 4", o.model, given.K, given.P)
	}
	return units, nil
}

// simulated returns the changes of a system, flown with a model or with one that is trained
// once.
func (o *adaptFlags) simulated(s *adaptSystem, given *model.Model) (units []study.Work) {
	once := func(m **model.Model, name string, u *study.Unit, train func() (*model.Model, error)) (err error) {
		if *m == nil {
			u.Report("a model is trained")
			*m, err = o.kept(name, train)
		}
		return err
	}
	for _, c := range s.changes {
		var ofChanged *model.Model
		for seed := range o.seeds {
			units = append(units, study.Work{Key: study.Key{Set: strings.TrimSpace(s.plant.Name + " " + o.model), Variant: c.name, Seed: seed + 1}, Run: func(ctx context.Context, u *study.Unit) error {
				if err := once(&given, s.plant.Name, u, func() (*model.Model, error) { return s.train(ctx, s.robot()) }); err != nil {
					return err
				}
				return s.measure(ctx, given, &c, func() (*model.Model, error) {
					err := once(&ofChanged, s.plant.Name+" "+c.name, u, func() (*model.Model, error) { return s.train(ctx, s.changed(&c)) })
					return ofChanged, err
				}, uint64(seed), u.Row, &o.checks)
			}})
		}
	}
	for _, l := range lies() {
		for seed := range o.seeds {
			units = append(units, study.Work{Key: study.Key{Set: strings.TrimSpace(s.plant.Name + " " + o.model), Variant: "lie: " + l.name, Seed: seed + 1}, Run: func(ctx context.Context, u *study.Unit) error {
				if err := once(&given, s.plant.Name, u, func() (*model.Model, error) { return s.train(ctx, s.robot()) }); err != nil {
					return err
				}
				return s.lied(ctx, given, &l, uint64(seed), u.Row, &o.checks)
			}})
		}
	}
	return units
}

// recorded trains on a recording and runs its later flights through.
func (o *adaptFlags) recorded(ctx context.Context, name string, u *study.Unit) error {
	f, err := o.Flights(ctx, name, 1)
	if err != nil {
		return err
	}
	if f == nil {
		return cli.Usage("%s is not here; --data names the folder of the recordings", name)
	}
	m, err := o.kept(name, func() (*model.Model, error) {
		u.Report("a model is trained")
		cfg := trainer.Quick()
		cfg.Horizon = f.Settings.Horizon
		return trainServed(ctx, f.Train, cfg)
	})
	if err != nil {
		return err
	}
	a, err := evaluate.Adapt(ctx, m, f.Test, o.checks.options(m, nil, name, recordedVariant))
	if err != nil {
		return err
	}
	putAdapted(u.Row, a)
	if err := putHeld(ctx, m, f.Test, u.Row); err != nil {
		return err
	}
	u.Put("recording", f.Title).Put("horizon_s", m.Horizon).Put("ok", a.RMSE <= 1.01)
	return nil
}

// kept returns a model from the folder of models, or trains it and puts it there.
func (o *adaptFlags) kept(name string, train func() (*model.Model, error)) (*model.Model, error) {
	path := filepath.Join(o.models, strings.NewReplacer(" ", "-", ":", "").Replace(name)+".dgm")
	if o.models == "" {
		return train()
	}
	if m, err := model.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	if err := os.MkdirAll(o.models, 0o755); err != nil { // before a training that would be lost
		return nil, err
	}
	m, err := train()
	if err != nil {
		return nil, err
	}
	b, err := m.Encode()
	if err != nil {
		return nil, err
	}
	return m, os.WriteFile(path, b, 0o644)
}

// recovered is the time at which the mean CRPS of the flights of a change is nearly what it is in the end.
func recovered(g study.Group) string {
	var from, crps []float64
	for _, r := range g {
		from = r.Numbers("since_s")
		of := r.Numbers("since_crps")
		if crps == nil {
			crps = slices.Repeat([]float64{1}, len(of))
		}
		for i, v := range of {
			crps[i] *= math.Pow(v, 1/float64(len(g)))
		}
	}
	if len(from) == 0 {
		return ""
	}
	return strconv.FormatFloat(evaluate.Recovered(from, crps), 'g', -1, 64)
}

func adaptTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	of := func(name string) []*study.Row {
		return study.Group(rows).Where(func(r *study.Row) bool { return r.Has(name) })
	}
	columns := func(first []study.Column, number func(head, name string) study.Column, more ...study.Column) []study.Column {
		return slices.Concat(first, []study.Column{
			number("error ×", "rmse"), number("CRPS ×", "crps"), number("input held: error ×", "held_rmse"), number("CRPS ×", "held_crps"), number("width ×", "width"), study.MeanOf("in 95 %, before", "before", 3), number("after", "coverage"), study.LeastOf("worst", "worst"),
		}, more, []study.Column{number("factor alone: CRPS ×", "factor_crps"), number("width ×", "factor_width"), number("in 95 %", "factor_coverage"), measured})
	}
	one := func(head, name string) study.Column { return study.MeanOf(head, name, 3) }
	return []study.Table{
		{
			Name: "adapt-lies", Title: "Samples that are not true", Groups: study.GroupBy(of("lie"), study.BySet),
			Columns: []study.Column{
				study.TextOf("simulated robot", "system"), study.TextOf("for 20 s", "lie"), study.RangeOf("error ×, worst 2 s from 2 s on", "worst_rmse"), study.RangeOf("after it", "after_rmse"),
				study.RangeOf("in 95 %, worst 2 s", "lie_coverage"), study.RangeOf("factor alone", "factor_lie_coverage"), study.RangeOf("intervals returned, s", "returned_s"), study.RangeOf("factor alone", "factor_returned_s"), measured,
			},
		},
		{
			Name: "adapt", Title: "Changes of the robot", Groups: study.GroupBy(of("change"), study.BySet),
			Columns: columns([]study.Column{study.TextOf("simulated robot", "system"), study.TextOf("change", "change")}, study.RangeOf,
				study.Column{Head: "recovered, s", Cell: recovered}, study.RangeOf("each flight", "recovered_s"), study.RangeOf("error × after it reverts", "reverted_rmse"), study.RangeOf("error over that of a model of the changed robot", "trained_ratio"), study.RangeOf("from 5 s on", "learned_trained_ratio")),
		},
		{
			Name: "adapt-recorded", Title: "Flights later than those trained on", Groups: study.GroupBy(of("recording"), study.BySet),
			Columns: columns([]study.Column{study.TextOf("recording", "recording")}, one),
		},
	}, nil
}

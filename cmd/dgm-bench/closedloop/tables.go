// Package closedloop flies robots by plans that are made on models of them: the attitude-tracking
// task of safe-control-gym, fields of obstacles, and the swing-up of a pendulum.
package closedloop

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

func tables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	all := study.Group(rows)
	inField := func(r *study.Row) bool { return r.Has("flights") }
	solve := []study.Column{study.MeanOf("plan, ms, p50", "solve_p50_ms", 2), study.MeanOf("p99", "solve_p99_ms", 2), study.MeanOf("samples", "training_samples", 0)}
	spread := func(head, name string) study.Column {
		return study.Column{Head: head, Cell: func(g study.Group) string {
			v := g.Of(name)
			return fmt.Sprintf("%.4f (%.4f-%.4f)", study.Mean(v), slices.Min(v), slices.Max(v))
		}}
	}
	tracking := study.Table{
		Name: "closed-loop", Title: "Closed loop: figure of eight",
		Groups: study.GroupBy(all.Where(func(r *study.Row) bool { return r.Has("tracking_rmse_m") }), study.BySet),
		Columns: append([]study.Column{
			study.TextOf("reference", "scenario"), study.TextOf("plans on", "planner"), spread("tracking RMSE, m", "tracking_rmse_m"), spread("generalisation RMSE, m", "generalisation_rmse_m"),
			study.MeanOf("in 9 s", "rmse_9_m", 4), study.MeanOf("in 15 s", "rmse_15_m", 4), study.ShareOf("left the bounds", "violations"), study.Count("seeds"),
		}, solve...),
	}
	fields := all.Where(inField)
	avoiding := study.Table{
		Name: "closed-loop-obstacles", Title: "Closed loop: fields of obstacles",
		Groups: study.GroupBy(fields, study.BySet),
		Columns: append([]study.Column{
			study.TextOf("field", "scenario"), study.TextOf("planner", "planner"), study.MeanOf("collided", "violations", 3), study.MeanOf("promised", "promised", 2), study.MeanOf("allowed, +2σ", "allowed", 3),
			study.MeanOf("arrived", "arrived", 3), study.MeanOf("seconds", "seconds", 2), study.MeanOf("flights", "flights", 0), study.MeanOf("factor", "factor", 2),
		}, solve...),
	}
	swinging := study.Table{
		Name: "closed-loop-swing-up", Title: "Closed loop: swing-up of a pendulum",
		Groups: study.GroupBy(all.Where(func(r *study.Row) bool { return r.Set == swingUp }), study.BySet),
		Columns: append([]study.Column{
			study.TextOf("plans on", "planner"), study.ShareOf("upright", "upright"), study.MeanOf("after, s", "seconds", 2), study.MeanOf("then off by, rad", "held_rad", 4),
			study.Count("seeds"), study.MeanOf("swing-ups each", "swings", 0),
		}, solve...),
	}
	var out []study.Table
	if len(tracking.Groups) > 0 {
		out = append(out, tracking)
	}
	if len(swinging.Groups) > 0 {
		out = append(out, swinging)
	}
	if len(avoiding.Groups) > 0 {
		err := picture(&avoiding, fields.Where(func(r *study.Row) bool { return r.Set == obstaclesLoaded }))
		return append(out, avoiding), err
	}
	return out, nil
}

// picture draws one field with a payload as the planners flew it.
func picture(t *study.Table, rows study.Group) error {
	colors := map[string]plot.Color{plain: plot.Alert, wide: plot.Velocity, intervalsAdapting: plot.Model}
	var lines []plot.Line
	for _, r := range rows {
		if c, ok := colors[r.Variant]; ok {
			lines = append(lines, plot.Line{Name: r.Variant, X: r.Numbers("path_x"), Y: r.Numbers("path_z"), Color: c})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	far := 0.0
	for _, l := range lines {
		far = max(far, slices.Max(l.X))
	}
	for i, o := range field(planar(), shown) {
		disc := plot.Line{Color: plot.Soft, Width: 1.2}
		if i == 0 {
			disc.Name = "obstacle with the radius of the vehicle: no path may enter it"
		}
		for a := range 49 {
			s, c := math.Sincos(2 * math.Pi * float64(a) / 48)
			disc.X, disc.Y = append(disc.X, o.Centre[0]+o.Radius*c), append(disc.Y, o.Centre[1]+o.Radius*s)
		}
		lines = append(lines, disc)
	}
	return t.Draw("planning", plot.Chart{
		Title: "A field of obstacles, with a payload put on in flight", XLabel: plot.WithUnit("x", "m"), YLabel: plot.WithUnit("height z", "m"), XMax: far, Width: 760, Height: 310, Equal: true,
		Description: "Paths of three planners through eight gaps between discs, from left to right.",
	}, lines...)
}

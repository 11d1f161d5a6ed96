// Package closedloop flies robots by plans that are made on models of them: the attitude-tracking
// task of safe-control-gym, fields of obstacles, and the swing-up of a pendulum.
package closedloop

import (
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
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
		out = append(out, avoiding)
	}
	return out, nil
}

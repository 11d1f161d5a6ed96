package predictors

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// RobotsStudy returns the rows of python/studies/robots, which are only stored: simulated robots on manoeuvres that are not in their training.
func RobotsStudy() *study.Study {
	return &study.Study{Name: "robots", Tables: robotTables, Needs: []string{"robot"}}
}

// robotTables shows a line for each robot, and one for each change.
func robotTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	var robots, changes []*study.Row
	for _, r := range rows {
		if strings.HasSuffix(r.Variant, "/change") {
			changes = append(changes, r)
		} else {
			robots = append(robots, r)
		}
	}
	return []study.Table{{
		Name: "robots", Title: "Simulated robots on new manoeuvres", Groups: study.GroupBy(robots, study.Single),
		Columns: []study.Column{
			study.TextOf("robot", "robot"), study.TextOf("plant", "plant"), study.TextOf("test", "test"), study.TextOf("equation", "equation"), study.MeanOf("error", "geo", 3),
			study.MeanOf("at 0.5 s", "geo_last", 3), study.MeanOf("without the equation", "geo_without", 3), study.MeanOf("ridge", "geo_ridge", 3), study.MeanOf("ridge at 0.5 s", "geo_ridge_last", 3),
			list("in 95 %, by horizon", "coverage95_by_horizon"), list("in 50 %", "coverage50_by_horizon"), worst, study.MeanOf("training, s", "cpu_seconds", 0),
		},
	}, {
		Name: "robots-changes", Title: "Changes of simulated robots that are named", Groups: study.GroupBy(changes, study.Single),
		Columns: []study.Column{
			study.TextOf("robot", "robot"), study.TextOf("change", "change"), {Head: "named right within 3 s", Cell: func(g study.Group) string {
				return fmt.Sprintf("%.0f of %.0f flights", g[0].Number("named"), g[0].Number("of"))
			}},
		},
	}}, nil
}

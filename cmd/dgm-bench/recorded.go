package main

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// recordedStudy shows results on public recordings of robots. They are made by dgm-bridge,
// dgm-train and dgm-eval, as the page of results describes; here they are only stored.
func recordedStudy() *study.Study {
	return &study.Study{Name: "recorded", Tables: recordedTables}
}

func recordedTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	// Numbers as they were measured, without more digits than were written down.
	exact := func(head, name string) study.Column {
		return study.Column{Head: head, Cell: func(g study.Group) string {
			if g[0].Has(name) {
				return fmt.Sprint(g[0].Number(name))
			}
			return "no input" // to be held
		}}
	}
	return []study.Table{{
		Name: "recorded", Title: "Recorded robots", Groups: study.GroupBy(rows, study.Single),
		Columns: []study.Column{
			study.TextOf("recording", "recording"), exact("horizon, s", "horizon_s"), exact("error, plan", "error_plan"), exact("error, hold", "error_hold"), exact("constant velocity", "error_constant_velocity"), exact("linear model", "error_linear"),
			{Head: "in 95 %, by horizon", Cell: func(g study.Group) (text string) {
				for _, v := range g[0].Numbers("coverage95_by_horizon") {
					text += fmt.Sprintf("%.3f ", v)
				}
				return strings.TrimSpace(text)
			}},
			exact("training, s", "training_seconds"), exact("memory, MB", "training_mb"), exact("model, kB", "model_kb"), measured,
		},
	}}, nil
}

package dynamics

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// MostPlanRows bounds the rows of a plan of a document.
const MostPlanRows = 4096

// DocumentOf returns the programs of a model in all its conditions, at its own times, for plans of so many rows that divide
// the horizon: what exporters write in other languages. Outputs are displacement, std, obs_std and ood. See
// estimator/program/PROGRAM-FORMAT.md for what it says about the model.
func DocumentOf(m *model.Model, planRows int) (*program.Document, error) {
	if planRows < 1 || planRows > MostPlanRows {
		return nil, fmt.Errorf("%d rows of a plan are outside 1…%d", planRows, MostPlanRows)
	}
	times := m.EqualTimes(m.Points)
	d := &program.Document{About: map[string]any{
		"model": m.ID, "vehicle": m.Vehicle, "horizon": m.Horizon, "times": floats(times), "displacement": m.Displacement,
		"plan_rows": 0, "history": floats(m.History.Edges), "input_mean": floats(m.Inputs.InputMean),
		"left_out": "adaptation in flight, filter of measurements, covariance of the start",
	}}
	var states, inputs []any
	for i, c := range m.Channels {
		at := map[string]any{"name": c.Name, "unit": c.Unit, "period": c.Period}
		if i < m.K {
			states = append(states, at)
		} else {
			inputs = append(inputs, at)
		}
	}
	d.About["states"], d.About["inputs"] = states, inputs
	if !m.Displacement {
		d.About["origin"] = floats(m.Origin)
	}
	conditions := []model.Condition{model.Plan.Condition(false)}
	if m.P > 0 {
		conditions = append(conditions, model.Hold.Condition(false))
		d.About["plan_rows"] = planRows
	}
	if m.History.Rows() > 0 {
		for _, c := range conditions {
			conditions = append(conditions, c.Readout().Condition(true))
		}
	}
	for _, c := range conditions {
		d.Programs = append(d.Programs, program.Named{Name: ConditionName(m, c), Program: Compile(m, Spec{
			Condition: c, Times: times, PlanRows: planRows, PlanStep: m.Horizon / float64(planRows), Outputs: []string{Displacement, Std, ObsStd, OOD},
		})})
	}
	return d, nil
}

// ConditionName returns the name of a condition's program in a document: plan or hold, and where the model reads
// history and the query has none, plan-without-history or hold-without-history.
func ConditionName(m *model.Model, c model.Condition) string {
	if int(c) >= model.Readouts {
		return c.Readout().String() + "-without-history"
	}
	return c.Readout().String()
}

// floats returns little-endian float64.
func floats(v []float64) []byte {
	b := make([]byte, 8*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
	}
	return b
}

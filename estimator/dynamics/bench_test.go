package dynamics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// BenchmarkProgram is what a program costs beside the predictors: values of one query and of sixteen plans.
func BenchmarkProgram(b *testing.B) {
	size := artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 20, Horizon: 0.5, Equation: 2}
	small := size
	small.K, small.P, small.Points = 5, 2, 56
	stack := size
	stack.Nets = 3
	for i := range 20 {
		stack.History = append(stack.History, 0.01*float64(i+1))
	}
	for _, c := range []struct {
		name string
		size artificial.Size
		rows int
	}{{"5x56", small, 20}, {"12x20", size, 20}, {"stack", stack, 20}} {
		m := artificial.New(c.size, 1)
		rng := rand.New(rand.NewPCG(1, 2))
		plan := make([]float64, c.rows*m.P)
		for i := range plan {
			plan[i] = rng.NormFloat64()
		}
		q := estimator.Query{X0: make([]float64, m.K), Plan: plan, History: make([]float64, m.History.Rows()*(m.K+m.P))}
		fast, err := estimator.NewFast(m, nil)
		if err != nil {
			b.Fatal(err)
		}
		dst := fast.NewPrediction()
		b.Run(c.name+"/fast", func(b *testing.B) {
			for b.Loop() {
				fast.Predict(dst, &q)
			}
		})
		spec := dynamics.Spec{Condition: model.Plan.Condition(false), Times: m.EqualTimes(m.Points), PlanRows: c.rows, PlanStep: m.Horizon / float64(c.rows), Nodes: 32}
		for _, outputs := range [][]string{{dynamics.Displacement}, {dynamics.Displacement, dynamics.Std, dynamics.ObsStd, dynamics.OOD}} {
			spec.Outputs = outputs
			p := dynamics.Compile(m, spec)
			run(b, fmt.Sprint(c.name, "/double/", len(outputs)), m, p, &q, program.New[float64](p, program.Options{}), 1)
			run(b, fmt.Sprint(c.name, "/single/", len(outputs)), m, p, &q, program.New[float32](p, program.Options{}), 1)
			run(b, fmt.Sprint(c.name, "/plans/", len(outputs)), m, p, &q, program.New[float32](p, program.Options{Lanes: 16, ByLane: []string{dynamics.Plan}}), 16)
		}
	}
}

func run[T program.Float](b *testing.B, name string, m *model.Model, p *program.Program, q *estimator.Query, machine *program.Machine[T], lanes int) {
	b.Run(name, func(b *testing.B) {
		feed(m, p, machine, q)
		machine.Start()
		b.ReportAllocs()
		for b.Loop() {
			if lanes == 1 {
				machine.Start()
			}
			machine.Run()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*lanes), "µs/prediction")
	})
}

func BenchmarkTangents(b *testing.B) {
	size := artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 20, Horizon: 0.5, Equation: 2, Nets: 3}
	for i := range 20 {
		size.History = append(size.History, 0.01*float64(i+1))
	}
	for _, points := range []int{20, 100} {
		size.Points = points
		m := artificial.New(size, 1)
		q := estimator.Query{X0: make([]float64, m.K), Plan: make([]float64, 20*m.P), History: make([]float64, m.History.Rows()*(m.K+m.P))}
		spec := dynamics.Spec{Condition: model.Plan.Condition(false), Times: m.EqualTimes(m.Points), PlanRows: 20, PlanStep: m.Horizon / 20, Outputs: []string{dynamics.Displacement}}
		p := dynamics.Compile(m, spec)
		for _, c := range []struct {
			name string
			o    program.Options
		}{{"x", program.Options{Tangents: []string{dynamics.X, dynamics.Past}, Seeds: 12}}, {"plan", program.Options{Tangents: []string{dynamics.Plan}, Seeds: 80}}, {"adjoint", program.Options{Adjoint: true}}} {
			machine := program.New[float32](p, c.o)
			feed(m, p, machine, &q)
			b.Run(fmt.Sprint(points, "/", c.name), func(b *testing.B) {
				for b.Loop() {
					machine.Value()
					if c.o.Seeds > 0 {
						machine.Tangent()
					} else {
						machine.ClearAdjoints()
						machine.Adjoint()
					}
				}
			})
		}
	}
}

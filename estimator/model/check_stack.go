package model

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// maxComponents and maxEquations bound a stack and the equations in a component.
const (
	maxComponents = 8
	maxEquations  = 16
)

func (m *Model) checkStack(c *checker) {
	c.right("history", m.History.Check())
	c.that(len(m.Stack) <= maxComponents, "stack", "%d components, at most %d", len(m.Stack), maxComponents)
	for i := range m.Stack {
		if c.err != nil {
			return
		}
		m.checkComponent(c, &m.Stack[i], fmt.Sprintf("stack[%d]", i), i == 0)
	}
	m.checkSums(c)
}

func (m *Model) checkAdaptation(c *checker) {
	if len(m.Adaptation.Rate) == 0 {
		return
	}
	c.length("adaptation.rate", m.Adaptation.Rate, m.K)
	c.finite("adaptation.rate", m.Adaptation.Rate)
	c.each("adaptation.rate", m.Adaptation.Rate, func(v float64) bool { return v >= 0 }, "%v is negative")
	if e := &m.Adaptation.Equation; e.Degree > 0 && c.err == nil {
		m.checkEquation(c, "adaptation.equation", e)
	}
}

func (m *Model) checkRidge(c *checker) {
	if len(m.Ridge.Direct.Levels) == 0 || c.err != nil {
		return
	}
	c.right("ridge.edges", m.Ridge.History.Check())
	c.lift("ridge.lift", &m.Ridge.Direct.Lift, m.K, false)
	c.right("ridge", m.Ridge.Direct.Check(m.K, m.P, m.Ridge.History.Rows()))
}

func (m *Model) checkComponent(c *checker, p *Component, path string, first bool) {
	c.that(p.Kind <= Direct, path+".kind", "%d is unknown", p.Kind)
	c.that(m.Displacement || p.Kind == Velocity, path+".kind", "belongs to a model of displacements")
	if p.Kind == Equation {
		c.that(len(p.Members) >= 1 && len(p.Members) <= maxEquations, path+".members", "%d equations, expected 1…%d", len(p.Members), maxEquations)
	} else {
		c.that(len(p.Members) == 0, path+".members", "belongs to an equation")
	}
	for i := range p.Members {
		m.checkEquation(c, fmt.Sprintf("%s.members[%d]", path, i), &p.Members[i])
	}
	if p.Kind == Direct && c.err == nil {
		c.lift(path+".direct.lift", &p.Direct.Lift, m.K, false)
		c.right(path+".direct", p.Direct.Check(m.K, m.P, m.History.Rows()))
	}
	c.that(!p.Residual || p.Kind == Direct && !first, path+".residual", "belongs to a direct map that is added to an equation of motion")
	c.finite(path+".near", []float64{p.Near})
	c.finite(path+".far", []float64{p.Far})
	c.that(p.Near >= 0 && (p.Near > 0 || p.Far == 0), path+".near", "%v must be positive", p.Near)
	c.that(p.Far == 0 || p.Far > p.Near, path+".far", "%v is not beyond near, %v", p.Far, p.Near)
	if first {
		c.that(len(p.Weights) == 0, path+".weights", "the first component has none")
		c.that(p.Far == 0, path+".far", "the first component does not fade")
		return
	}
	readouts := 1
	if m.P > 0 {
		readouts = Readouts
	}
	c.that(len(p.Weights) >= readouts && len(p.Weights) <= Conditions, path+".weights", "%d conditions, expected %d…%d", len(p.Weights), readouts, Conditions)
	for i, w := range p.Weights {
		field := fmt.Sprintf("%s.weights[%d]", path, i)
		c.length(field, w, m.K*len(m.NoiseKnots))
		c.each(field, w, func(v float64) bool { return v >= 0 && v <= 1 }, "a weight of %v is outside 0…1")
	}
}

// checkSums checks that the weights of all components are at most 1 together.
func (m *Model) checkSums(c *checker) {
	if c.err != nil || len(m.Stack) < 2 {
		return
	}
	for condition := range Condition(Conditions) {
		for j := range m.K * len(m.NoiseKnots) {
			sum := 0.0
			for i := 1; i < len(m.Stack); i++ {
				if w, ok := ForCondition(m.Stack[i].Weights, condition); ok && !m.Stack[i].Residual {
					sum += w[j]
				}
			}
			c.that(sum <= 1+1e-9, "stack", "weights of %v together at condition %d, number %d: at most 1", sum, condition, j)
		}
	}
}

func (m *Model) checkEquation(c *checker, field string, r *priordynamics.Model) {
	c.finite(field+".step", []float64{r.Step})
	c.finite(field+".body.omega", []float64{r.Body.Omega})
	c.lift(field+".lift", &r.Lift, m.K, true)
	if len(r.Net.Layers) > 0 {
		c.net(field, &r.Net, r.Lift.Dim()+m.P, m.K)
	}
	if c.err != nil {
		return
	}
	c.right(field, r.Check(m.K, m.P))
	c.that(m.Horizon <= maxRoll*r.Step, field+".step", "%g s is too short for a horizon of %g s", r.Step, m.Horizon)
}

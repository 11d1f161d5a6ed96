package stack

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Candidate is one prior dynamics, fitted to all flights and without what each fold holds
// out.
type Candidate struct {
	Name  string
	Whole model.Component
	Folds []model.Component

	Physical  bool   // few physical parameters: it is weighed against all others together, channel by channel; the last candidate
	Residuals string // (optional) name of a candidate: this one is a direct map of what that leaves, and is added to it
}

// residuals reports whether a candidate is a map of residuals.
func (c *Candidate) residuals() bool { return c.Residuals != "" }

// OfResiduals returns the candidate of a direct map as one of the residuals of another.
func (c Candidate) OfResiduals(of *Candidate) Candidate {
	c.Residuals, c.Whole.Residual, c.Folds = of.Name, true, slices.Clone(c.Folds)
	for i := range c.Folds {
		c.Folds[i].Residual = true
	}
	return c
}

// named returns the index of the candidate of a name; −1 without one.
func named(candidates []Candidate, name string) int {
	return slices.IndexFunc(candidates, func(c Candidate) bool { return c.Name == name })
}

// extrapolates reports whether a candidate stays of the size of the motion where nothing was
// measured: constant velocity, and linear equations, with or without nets, which are
// bounded.
func (c *Candidate) extrapolates() bool {
	switch c.Whole.Kind {
	case model.Direct:
		return false
	case model.Equation:
		return c.Whole.Members[0].Degree <= 1
	}
	return true
}

// Leverages between which a component that does not extrapolate fades, unless folds show otherwise: training windows have
// about 1, and hardly ever more than near.
const near, far = 300.0, 3000.0

// fade lets a component that does not extrapolate fade from a leverage on.
func (c *Candidate) fade(from float64) {
	if c.extrapolates() {
		return
	}
	to := from / near * far
	c.Whole.Near, c.Whole.Far = from, to
	c.Folds = slices.Clone(c.Folds)
	for i := range c.Folds {
		c.Folds[i].Near, c.Folds[i].Far = from, to
	}
}

// faded returns the factor of a component that fades, at a leverage, see model.Component.
func faded(leverage float64) float64 {
	return math.Min(math.Max(math.Log(far/leverage)/math.Log(far/near), 0), 1)
}

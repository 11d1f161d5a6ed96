package dynamics

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Spec is what a program predicts.
type Spec struct {
	Condition model.Condition
	Times     []float64 // T, s after the start
	PlanRows  int       // rows of the plan; 0 with the readout hold and without inputs
	PlanStep  float64   // s, of a row
	MeansOnly bool      // the out-of-distribution score has no part of the posterior's variance
	Nodes     int       // (optional) the most times at which variances of random features are evaluated, between which they are interpolated; 0 = at all
	Outputs   []string  // names of outputs; what none of them needs is left out
}

// Names of inputs.
const (
	X    = "x"
	Past = "past"
	Plan = "plan"
)

// Names of outputs, and their shapes.
const (
	Displacement = "displacement" // K×T: mean less the start, or less the origin in the paper's form; state units
	Std          = "std"          // K×T, of the state
	ObsStd       = "obs_std"      // K×T, of a measurement of it
	Factor       = "factor"       // K×T, of the variances, by calibration
	Covariates   = "covariates"   // (covariates·K)×T, see model.Covariate
	Prior        = "prior"        // K×T, displacement of the prior dynamics
	Distance     = "distance"     // of the start from the training states
	Leverage     = "leverage"     // of start, history and plan
	InputScore   = "input_score"
	OOD          = "ood"
	RMSRatio     = "rms_ratio" // 1×T
)

// Compile returns the program of a model.
func Compile(m *model.Model, s Spec) *program.Program { return compile(m, s, nil) }

// CompileMeans returns the program of a model that reads means of the input in place of a plan, whose rows and step need
// not be known.
func CompileMeans(m *model.Model, s Spec) (*program.Program, *Means) {
	from := &Means{}
	return compile(m, s, from), from
}

// CompilePrior returns the program of the prior dynamics of a model alone, with means of the input as CompileMeans.
func CompilePrior(m *model.Model, s Spec) (*program.Program, *Means) {
	from := &Means{}
	c := newCompiler(m, s, from)
	c.Output(Prior, c.stack().displacement)
	c.Prune()
	return c.Program, from
}

// newCompiler returns a compiler with the inputs of a program.
func newCompiler(m *model.Model, s Spec, from *Means) *compiler {
	c := &compiler{Program: &program.Program{}, m: m, s: s, times: s.Times, past: program.None}
	c.x = c.Input(X, m.K, 1)
	if rows := m.History.Rows(); rows > 0 && int(s.Condition) < model.Readouts {
		c.past = c.Input(Past, rows*(m.K+m.P), 1)
	}
	switch {
	case m.P > 0 && from != nil:
		c.input = signal{c: c, from: from}
	case m.P > 0:
		rows, step := s.PlanRows, s.PlanStep
		if s.Condition.Readout() == model.Hold || rows == 0 {
			rows, step = 1, m.Horizon
		}
		c.input = newSignal(c, c.Input(Plan, m.P, rows), rows, step)
	}
	return c
}

func compile(m *model.Model, s Spec, from *Means) *program.Program {
	c := newCompiler(m, s, from)
	ratio := usesRMS(m)
	if ratio {
		c.times = slices.Clone(s.Times)
		for _, tau := range m.NoiseKnots {
			c.times = append(c.times, tau*m.Horizon)
		}
	}
	st := c.stack()
	known := st
	if ratio {
		st = c.first(st, len(s.Times))
	}
	c.nodes = NodesOf(m, c.times, s.Nodes)
	e := c.ensemble()
	d := c.distances(st, e)
	v := c.intervals(st, known, e, d)
	for name, r := range map[string]program.Reg{
		Displacement: v.displacement, Std: v.std, ObsStd: v.obs, Factor: v.factor, Covariates: v.covariates, Prior: st.displacement,
		Distance: d.distance, Leverage: d.leverage, InputScore: d.input, OOD: d.score, RMSRatio: v.ratio,
	} {
		if slices.Contains(s.Outputs, name) && r != program.None {
			c.Output(name, r)
		}
	}
	slices.SortFunc(c.Outputs, func(a, b program.Port) int {
		return slices.Index(s.Outputs, a.Name) - slices.Index(s.Outputs, b.Name)
	})
	c.Prune()
	return c.Program
}

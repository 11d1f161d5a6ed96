package dynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// enter appends coordinates v (n×any) that an ellipsoid bounds together:
//
//	v · exp(−½ log max(1, |E v|²))
func enter(p *program.Program, e priordynamics.Ellipsoid, v program.Reg) program.Reg {
	if len(e) == 0 {
		return v
	}
	n := p.Rows(v)
	E, rest := make([]float64, n*n), e
	for i := range n {
		copy(E[i*n:], rest[:i+1])
		rest = rest[i+1:]
	}
	squares := p.Function(program.Square, p.Affine(n, nil, program.Part{X: v, M: E}))
	square := p.Clamp(p.Affine(1, nil, program.Part{X: squares, M: same(n, 1)}), []float64{1}, []float64{math.Inf(1)})
	by := p.Function(program.Exp, p.Affine(n, nil, program.Part{X: p.Function(program.Log, square), M: same(n, -0.5)}))
	return p.Times(v, by)
}

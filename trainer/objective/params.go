package objective

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Params are all trained numbers, in one slice, with views of its parts. A
// gradient has the same type and layout.
type Params struct {
	Flat     []float64
	Map      feature.Map // its Core, Head and LogAmp are views of Flat
	Dynamics mlp.Net     // lifted state and input → f (K), then s (K), sD = log(1 + e^s)
	LogSigma []float64   // K×Q: log σ of channel k at noise knot q, output units
	Groups   []Group
}

// Group names a stretch of Flat.
type Group struct {
	Name     string
	From, To int
}

// Bind moves the parameters of a map and a dynamics net into one new slice with
// room for k×noiseKnots noise levels.
func Bind(m feature.Map, dynamics mlp.Net, noiseKnots int) *Params {
	n := m.Core.Params() + m.Head.Params() + len(m.LogAmp) + dynamics.Params() + m.K*noiseKnots
	p := &Params{Flat: make([]float64, n), Map: m, Dynamics: dynamics}
	p.Map.Core.Layers = append([]mlp.Layer(nil), m.Core.Layers...)
	p.Map.Head.Layers = append([]mlp.Layer(nil), m.Head.Layers...)
	p.Dynamics.Layers = append([]mlp.Layer(nil), dynamics.Layers...)
	rest := p.Flat
	mark := func(name string, left []float64) []float64 {
		from := 0
		if len(p.Groups) > 0 {
			from = p.Groups[len(p.Groups)-1].To
		}
		p.Groups = append(p.Groups, Group{name, from, n - len(left)})
		return left
	}
	rest = mark("core", p.Map.Core.Bind(rest))
	rest = mark("head", p.Map.Head.Bind(rest))
	rest = mark("dynamics", p.Dynamics.Bind(rest))
	copy(rest, m.LogAmp)
	p.Map.LogAmp = rest[: 2*m.K : 2*m.K]
	rest = mark("amplitude", rest[2*m.K:])
	p.LogSigma = rest
	mark("log sigma", nil)
	return p
}

// Like returns parameters of the same layout, all zero: a gradient.
func (p *Params) Like() *Params {
	g := Bind(p.Map, p.Dynamics, len(p.LogSigma)/p.Map.K)
	clear(g.Flat)
	return g
}

// Range returns the stretch of the named group; it panics for an unknown name.
func (p *Params) Range(name string) (from, to int) {
	for _, g := range p.Groups {
		if g.Name == name {
			return g.From, g.To
		}
	}
	panic(unknownGroup)
}

const unknownGroup = "objective: no group of parameters has this name"

package predictors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Sizes of PETS.
const (
	petsSteps     = 8000
	petsBatch     = 128
	petsRate      = 3e-3
	petsDecay     = 1e-4
	petsParticles = 10  // of each member
	petsBeta      = 0.5 // power of the variance that rows are weighed by (Seitzer et al. 2022): with none, the mean is poor where the noise is large
)

// pets is an ensemble of nets that predict mean and variance of one step (Chua et al.
// 2018, "Deep reinforcement learning in a handful of trials using probabilistic dynamics
// models"), sampled: every particle keeps its member, and draws noise at every step.
//
// A net's output is the mean μ of (increment − kinematics)/scale and s, with
// log variance −2 + 7 tanh(s/7), within −9 and 5.
type pets struct {
	equation *prior.Model // kinematics and coordinates of the nets
	scale    []float64    // K
	nets     []mlp.Net
	tapes    []*mlp.Tape
	readout  model.Readout
	times    []float64

	x, v, kinematics []float64 // particles×K, particles×(L+P), particles×K
	u                []float64 // P
	psi              []float64
	last, now        moments
}

// logVariance returns the log variance of an output, and its derivative.
func logVariance(s float64) (v, dv float64) {
	t := math.Tanh(s / 7)
	return 7*t - 2, 1 - t*t
}

// transitions are single steps: coordinates (n×(L+P)) and, in units of scale, what
// the kinematics leave of the increments (n×K).
type transitions struct {
	n    int
	v, y []float64
}

func fitPETS(ctx context.Context, d *data, equation *prior.Model, flights []window.Flight, readout model.Readout) (predict, error) {
	K := len(d.task.States)
	p := &pets{equation: equation, scale: make([]float64, K), readout: readout, times: d.of.horizons, u: make([]float64, d.task.Inputs), psi: make([]float64, equation.Terms())}
	data := p.transitions(flights, d.task)
	p.nets = make([]mlp.Net, netMembers)
	failures := make([]error, netMembers)
	cores.Each(netMembers, func(i int) { p.nets[i], failures[i] = trainMember(ctx, data, K, petsSteps, uint64(i+1)) })
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	p.reserve()
	return p.predict, nil
}

// reserve takes the memory of the particles.
func (p *pets) reserve() {
	K := len(p.scale)
	for i := range p.nets {
		p.tapes = append(p.tapes, mlp.NewTape(&p.nets[i], petsParticles, false))
	}
	p.x, p.v, p.kinematics = make([]float64, len(p.nets)*petsParticles*K), make([]float64, petsParticles*p.nets[0].In()), make([]float64, K)
	p.last, p.now = newMoments(K), newMoments(K)
}

// transitions measures the single steps of flights, and sets the scale.
func (p *pets) transitions(flights []window.Flight, task window.Task) *transitions {
	m, K := p.equation, len(task.States)
	out := &transitions{}
	v, next, increment := make([]float64, m.Lift.Dim()+task.Inputs), make([]float64, K), make([]float64, K)
	for _, at := range window.Cut(flights, m.Step, 0) {
		f := &flights[at.Flight]
		x, t := f.State(at.Start), f.T[at.Start]
		if !f.StateAt(next, t+m.Step) {
			continue
		}
		f.InputMean(p.u, t, t+m.Step)
		p.coordinates(v, increment, x, p.u)
		for k := range K {
			e := next[k] - x[k] - increment[k]
			out.y = append(out.y, e)
			p.scale[k] += e * e
		}
		out.v = append(out.v, v...)
		out.n++
	}
	for k, s := range p.scale {
		p.scale[k] = math.Sqrt(s/float64(max(out.n, 1))) + 1e-300
	}
	for j := range out.y {
		out.y[j] /= p.scale[j%K]
	}
	return out
}

// coordinates writes those of a net (L+P) and the increment of the kinematics (K).
func (p *pets) coordinates(v, increment, x, u []float64) {
	p.equation.Coordinates(v, nil, x, u)
	p.equation.Monomials(p.psi, v)
	clear(increment)
	for j, c := range p.psi {
		for k, w := range p.equation.Weights[j*len(x) : (j+1)*len(x)] {
			increment[k] += w * c
		}
	}
}

// petsNet returns a net with zero parameters.
func petsNet(in, K int) mlp.Net {
	return mlp.New([]int{in, 64, 64, 2 * K}, []mlp.Activation{mlp.Tanh, mlp.Tanh, mlp.Linear})
}

// trainMember minimises, in so many steps, the mean of ½ (y − μ)² e^−v + ½ v, v the log variance, each
// term weighed by e^βv, which is not differentiated.
func trainMember(ctx context.Context, data *transitions, K, steps int, seed uint64) (mlp.Net, error) {
	in := len(data.v) / data.n
	net, grad := petsNet(in, K), petsNet(in, K)
	params, flat := make([]float64, net.Params()), make([]float64, net.Params())
	net.Bind(params)
	grad.Bind(flat)
	rng := rand.New(rand.NewPCG(seed, 0x70657473))
	net.Glorot(rng)
	rows := min(petsBatch, data.n)
	tape, adjoint := mlp.NewTape(&net, rows, false), objective.NewNetAdjoint(&net, rows, false, false)
	v, y, bar := make([]float64, rows*in), make([]float64, rows*K), make([]float64, rows*2*K)
	adam := optimise.NewAdam(len(params))
	adam.Beta2 = 0.999
	rate := optimise.Cosine{From: petsRate, To: petsRate / 1000, WarmUp: steps / 50, Steps: steps}
	loop := optimise.Loop{
		Steps: steps, Rate: rate.At, MaxFailures: 10, Groups: []optimise.Group{{Params: params, Grad: flat, Optimiser: adam}},
		Evaluate: func(int) optimise.Outcome {
			for i := range rows {
				at := rng.IntN(data.n)
				copy(v[i*in:(i+1)*in], data.v[at*in:])
				copy(y[i*K:(i+1)*K], data.y[at*K:])
			}
			net.Forward(tape, rows, v, nil)
			out := tape.Out()
			for i := range rows {
				for k := range K {
					j := i*2*K + k
					logVar, slope := logVariance(out[j+K])
					e, precision := y[i*K+k]-out[j], math.Exp(-logVar)
					weight := math.Exp(petsBeta*logVar) / float64(rows*K)
					bar[j] = -weight * e * precision
					bar[j+K] = 0.5 * weight * (1 - e*e*precision) * slope
				}
			}
			clear(flat)
			adjoint.Run(&net, &grad, tape, bar, nil)
			if math.IsNaN(optimise.Clip(flat, 5)) {
				return optimise.Failed
			}
			return optimise.Descend
		},
		Moved: func(_ int, r float64) {
			for j := range params {
				params[j] -= r * petsDecay * params[j]
			}
		},
	}
	_, err := loop.Run(ctx)
	return net, err
}

// moments are mean and standard deviation (K) of the particles' displacements.
type moments struct{ mean, std []float64 }

func newMoments(K int) moments { return moments{make([]float64, K), make([]float64, K)} }

// of takes those of particles x (n×K) from a start.
func (m moments) of(x, start []float64) {
	K := len(start)
	clear(m.mean)
	clear(m.std)
	for i := 0; i < len(x); i += K {
		for k, v := range start {
			update(&m.mean[k], &m.std[k], x[i+k]-v, i/K)
		}
	}
	for k, s := range m.std {
		m.std[k] = math.Sqrt(s / float64(len(x)/K))
	}
}

// update adds number i to a mean and a sum of squared differences from it (Welford 1962).
func update(mean, squares *float64, v float64, i int) {
	v = math.Max(-overflow, math.Min(overflow, v))
	d := v - *mean
	*mean += d / float64(i+1)
	*squares += d * (v - *mean)
}

// predict samples a window. Between steps the moments are interpolated.
func (p *pets) predict(mean, std []float64, w *replay.Window) error {
	K, step := len(p.scale), p.equation.Step
	rng := rand.New(rand.NewPCG(uint64(w.Start), 0x70617274))
	u := w.Signal(p.readout)
	for i := 0; i < len(p.x); i += K {
		copy(p.x[i:], w.X0)
	}
	clear(p.now.mean)
	clear(p.now.std)
	next := 0
	for i := 0; next < len(p.times); i++ {
		p.last, p.now = p.now, p.last
		p.step(u, float64(i)*step, rng)
		p.now.of(p.x, w.X0)
		for ; next < len(p.times) && p.times[next] <= float64(i+1)*step*(1+1e-9); next++ {
			part := p.times[next]/step - float64(i)
			for k := range K {
				mean[next*K+k] = p.last.mean[k] + part*(p.now.mean[k]-p.last.mean[k])
				std[next*K+k] = p.last.std[k] + part*(p.now.std[k]-p.last.std[k])
			}
		}
	}
	return nil
}

// step moves all particles by one step from time t on.
func (p *pets) step(u channel.Signal, t float64, rng *rand.Rand) {
	K, in := len(p.scale), p.nets[0].In()
	if u != nil {
		u.Mean(p.u, t, t+p.equation.Step)
	}
	for i := range p.nets {
		x := p.x[i*petsParticles*K : (i+1)*petsParticles*K]
		for r := range petsParticles {
			here := x[r*K : (r+1)*K]
			p.coordinates(p.v[r*in:(r+1)*in], p.kinematics, here, p.u)
			for k, c := range p.kinematics {
				here[k] += c
			}
		}
		p.nets[i].Forward(p.tapes[i], petsParticles, p.v, nil)
		for j, out := range slices.Collect(slices.Chunk(p.tapes[i].Out(), 2*K)) {
			for k := range K {
				logVar, _ := logVariance(out[K+k])
				x[j*K+k] += p.scale[k] * (out[k] + math.Exp(0.5*logVar)*rng.NormFloat64())
			}
		}
	}
}

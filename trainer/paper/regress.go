package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// Regression holds the settings by which a net is fitted to targets without noise.
type Regression struct {
	Steps, Batch int
	Rate, Last   float64 // learning rate: highest, last
}

// regress fits a net to y (N×O) at x (N×I) by least squares with weights w (N×O), by
// SOAP on batches. It stops where ctx ends; ok is false where a gradient is not finite.
// done is called at every step.
func regress(ctx context.Context, net *mlp.Net, x, y, w []float64, set Regression, done func(step int), rng *rand.Rand) (ok bool) {
	theta := make([]float64, net.Params())
	net.Bind(theta)
	// Parts of a batch are fixed: sums do not depend on the number of processors.
	const parts = 4
	size := (set.Batch + parts - 1) / parts
	var gradients [parts]*netGradient
	for i := range gradients {
		gradients[i] = newNetGradient(net, size)
	}
	order, next := rng.Perm(len(x)/net.In()), 0
	shapes := make([][2]int, len(net.Layers))
	for i, l := range net.Layers {
		shapes[i] = [2]int{l.In + 1, l.Out} // weights, and the biases below them
	}
	grad, rows := make([]float64, len(theta)), make([]int, parts*size)
	loop := optimise.Loop{
		Steps: set.Steps, Rate: optimise.Cosine{From: set.Rate, To: set.Last, WarmUp: 30, Steps: set.Steps}.At,
		Groups: []optimise.Group{{Params: theta, Grad: grad, Optimiser: optimise.NewSOAP(shapes)}},
		Evaluate: func(step int) optimise.Outcome {
			for i := range rows {
				if next == len(order) {
					rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
					next = 0
				}
				rows[i] = order[next]
				next++
			}
			cores.Each(parts, func(part int) { gradients[part].weighted(net, x, y, w, rows[part*size:(part+1)*size]) })
			clear(grad)
			for _, d := range gradients {
				for i, g := range d.flat {
					grad[i] += g / float64(len(rows)*net.Out())
				}
			}
			if norm := dot(grad, grad); math.IsNaN(norm) || math.IsInf(norm, 0) {
				return optimise.Failed
			}
			done(step)
			return optimise.Descend
		},
	}
	_, err := loop.Run(ctx)
	return err == nil || err == ctx.Err()
}

// netGradient is the memory of one evaluation of a net with its gradient.
type netGradient struct {
	x, bar  []float64 // rows×In; rows×Out, adjoint of the output
	tape    *mlp.Tape
	adjoint *objective.NetAdjoint
	grad    mlp.Net
	flat    []float64 // of grad, as Bind orders the parameters
}

func newNetGradient(net *mlp.Net, rows int) *netGradient {
	grad, flat := copyNet(net)
	return &netGradient{
		x: make([]float64, rows*net.In()), bar: make([]float64, rows*net.Out()), grad: grad, flat: flat,
		tape: mlp.NewTape(net, rows, false), adjoint: objective.NewNetAdjoint(net, rows, false, false),
	}
}

// weighted sets the gradient to that of half the sum of w·(output − y)² over some rows of x (N×In), y and w (N×Out).
func (d *netGradient) weighted(net *mlp.Net, x, y, w []float64, rows []int) {
	I, O := net.In(), net.Out()
	for i, r := range rows {
		copy(d.x[i*I:(i+1)*I], x[r*I:(r+1)*I])
	}
	net.Forward(d.tape, len(rows), d.x, nil)
	out := d.tape.Out()
	for i, r := range rows {
		for o := range O {
			d.bar[i*O+o] = w[r*O+o] * (out[i*O+o] - y[r*O+o])
		}
	}
	d.backward(net)
}

// backward sets the gradient from bar, the net having been evaluated on the tape.
func (d *netGradient) backward(net *mlp.Net) {
	clear(d.flat)
	d.adjoint.Run(net, &d.grad, d.tape, d.bar, nil)
}

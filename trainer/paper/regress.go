package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// Regression says how a net is fitted to targets that hold no noise.
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
	O := net.Out()
	// Parts of a batch are fixed: sums do not depend on the number of processors.
	const parts = 4
	size := (set.Batch + parts - 1) / parts
	var ds [parts]*netGradient
	for i := range ds {
		ds[i] = newNetGradient(net, size)
	}
	order, at := rng.Perm(len(x)/net.In()), 0
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
				if at == len(order) {
					rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
					at = 0
				}
				rows[i] = order[at]
				at++
			}
			cores.Each(parts, func(part int) { ds[part].weighted(net, x, y, w, rows[part*size:(part+1)*size]) })
			clear(grad)
			for _, d := range ds {
				for i, g := range d.grad {
					grad[i] += g / float64(len(rows)*O)
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
	x, ybar []float64   // rows×In; rows×Out, adjoint of the output
	y, a    [][]float64 // per layer, rows×Out: output; adjoint before the activation
	grad    []float64   // as Bind orders the parameters
	work    matmul.Work
}

func newNetGradient(net *mlp.Net, rows int) *netGradient {
	d := &netGradient{x: make([]float64, rows*net.In()), ybar: make([]float64, rows*net.Out()), grad: make([]float64, net.Params())}
	for i := range net.Layers {
		d.y = append(d.y, make([]float64, rows*net.Layers[i].Out))
		d.a = append(d.a, make([]float64, rows*net.Layers[i].Out))
	}
	return d
}

// weighted sets grad to that of half the sum of w·(output − y)² over some rows of x (N×In), y and w (N×Out).
func (d *netGradient) weighted(net *mlp.Net, x, y, w []float64, rows []int) {
	I, O := net.In(), net.Out()
	for i, r := range rows {
		copy(d.x[i*I:(i+1)*I], x[r*I:(r+1)*I])
	}
	d.forward(net, len(rows))
	out := d.y[len(d.y)-1]
	for i, r := range rows {
		for o := range O {
			d.ybar[i*O+o] = w[r*O+o] * (out[i*O+o] - y[r*O+o])
		}
	}
	d.backward(net, len(rows))
}

// forward evaluates the net at x.
func (d *netGradient) forward(net *mlp.Net, rows int) {
	x := d.x
	for i := range net.Layers {
		l := &net.Layers[i]
		y := d.y[i][:rows*l.Out]
		d.work.Affine(matmul.Matrix(rows, l.Out, y), matmul.Matrix(rows, l.In, x), matmul.Matrix(l.In, l.Out, l.W), l.B)
		l.Act.Activate(y)
		x = y
	}
}

// backward sets grad from ybar.
func (d *netGradient) backward(net *mlp.Net, rows int) {
	ybar := d.ybar
	end := len(d.grad)
	for i := len(net.Layers) - 1; i >= 0; i-- {
		l := &net.Layers[i]
		a := d.a[i]
		l.Act.Derivative(a[:rows*l.Out], d.y[i], ybar[:rows*l.Out])
		x := d.x
		if i > 0 {
			x = d.y[i-1]
		}
		gb := d.grad[end-len(l.B) : end]
		end -= len(l.B)
		gw := d.grad[end-len(l.W) : end]
		end -= len(l.W)
		clear(gb)
		matmul.AddRows(gb, matmul.Matrix(rows, l.Out, a))
		d.work.Mul(matmul.Matrix(l.In, l.Out, gw), 1, true, matmul.Matrix(rows, l.In, x), false, matmul.Matrix(rows, l.Out, a), 0)
		if i > 0 {
			d.work.Mul(matmul.Matrix(rows, l.In, d.a[i-1]), 1, false, matmul.Matrix(rows, l.Out, a), true, matmul.Matrix(l.In, l.Out, l.W), 0)
			ybar = d.a[i-1]
		}
	}
}

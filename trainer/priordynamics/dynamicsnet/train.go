package dynamicsnet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// ErrTooFew is the error where there are not enough windows.
var ErrTooFew = errors.New("too few whole windows")

// fewest is the number of windows that nets are trained on.
const fewest = 100

// Train returns the equation with a net of its own for every seed, as far as they came
// when ctx ended. Nets that the equation has are replaced. It is an error if the flights
// have too few whole windows, or a net diverges.
func Train(ctx context.Context, equation *priordynamics.Model, flights []window.Flight, task window.Task, set Settings, seeds []uint64) ([]priordynamics.Model, error) {
	d, err := prepare(equation, flights, task, set)
	if err != nil {
		return nil, err
	}
	out, failures := make([]priordynamics.Model, len(seeds)), make([]error, len(seeds))
	cores.Each(len(seeds), func(i int) { out[i], failures[i] = d.train(ctx, set, seeds[i]) })
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return out, nil
}

// data is what nets in an equation are trained on.
type data struct {
	equation     priordynamics.Model // its net has zero parameters
	steps, paths *paths.Paths        // of one step, and of the horizon
}

func prepare(equation *priordynamics.Model, flights []window.Flight, task window.Task, set Settings) (*data, error) {
	nodes := max(1, int(math.Floor(task.Horizon/equation.Step+1e-6)))
	d := &data{
		equation: *equation, steps: paths.Gather(&equation.Body, flights, task, equation.Step, 1, set.Match.Windows),
		paths: paths.Gather(&equation.Body, flights, task, equation.Step, nodes, set.Shoot.Windows),
	}
	if d.paths.N < fewest {
		return nil, fmt.Errorf("%w: %d of %g s, fewer than the %d that nets are trained on; record longer", ErrTooFew, d.paths.N, task.Horizon, fewest)
	}
	d.equation.Net = set.net(equation, len(task.States))
	d.equation.NetScale = leftOver(&d.equation, d.steps)
	return d, nil
}

// net returns one with zero parameters.
func (s *Settings) net(m *priordynamics.Model, states int) mlp.Net {
	widths := append([]int{m.Lift.Dim() + len(m.UMean)}, s.Hidden...)
	return mlp.New(append(widths, states), append(slices.Repeat([]mlp.Activation{s.Activation}, len(s.Hidden)), mlp.Linear))
}

// leftOver returns the rms (K) of what the equation of m leaves of single steps.
func leftOver(m *priordynamics.Model, steps *paths.Paths) []float64 {
	bare := *m
	bare.NetScale = make([]float64, steps.K)
	r, b, out := newRollout(&bare, 1, 1), newBatch(steps, 1), make([]float64, steps.K)
	for i := range steps.N {
		b.take(steps, []int{i})
		r.forward(b)
		for k, d := range r.nodes[1].d {
			out[k] += (d - b.y[k]) * (d - b.y[k])
		}
	}
	for k := range out {
		out[k] = math.Sqrt(out[k]/float64(steps.N)) + 1e-12*steps.RMS[k]
	}
	return out
}

// train returns the equation with a net. That ctx ends is no error.
func (d *data) train(ctx context.Context, set Settings, seed uint64) (priordynamics.Model, error) {
	m, grad := d.equation, set.net(&d.equation, d.steps.K)
	m.Net = set.net(&m, d.steps.K)
	n := m.Net.Params()
	t := &member{params: make([]float64, n), grad: make([]float64, n), net: grad, clip: set.Clip}
	m.Net.Bind(t.params)
	t.net.Bind(t.grad)
	rng := rand.New(rand.NewPCG(seed, 0x64796e616d696373))
	m.Net.Glorot(rng)
	clear(m.Net.Layers[len(m.Net.Layers)-1].W)
	for i := range m.Net.Layers {
		l := &m.Net.Layers[i]
		t.decays = append(t.decays, slices.Repeat([]float64{1}, len(l.W))...)
		t.decays = append(t.decays, make([]float64, len(l.B))...)
	}
	first := set.Match
	if first.Steps == 0 {
		first = set.Shoot
	}
	// The mean of a rate that falls along half a cosine is half the highest one.
	decay := set.Decay / (0.5 * first.Rate * float64(max(1, first.Steps)))
	for _, part := range []struct {
		data *paths.Paths
		size Stage
	}{{d.steps, set.Match}, {d.paths, set.Shoot}} {
		if part.size.Steps == 0 {
			continue
		}
		rows := min(part.size.Batch, part.data.N)
		s := newStage(newRollout(&m, part.data.Nodes, rows), part.data, rows, rng)
		if err := t.descend(ctx, s, part.size, decay); err != nil && ctx.Err() == nil {
			return m, fmt.Errorf("the net in the difference equation: %w", err)
		}
	}
	return m, nil
}

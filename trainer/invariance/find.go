// Package invariance finds the positions on which nothing depends: a vehicle moves alike wherever it is. Then no component reads them, and
// a robot that is somewhere else than in its training is no other robot.
//
// For each position two ridge regressions predict the displacements of all states, on flights that were left out: one reads the other states,
// the input over the horizon and products of these, the other one the position too, by its powers up to the third and its products with the other states. Where
// the second is not better for any state in most folds, nothing depends on the position. That is the hypothesis of less: what flights do not show is not assumed.
//
// Of a vehicle, whose equations of motion do not have its place, it takes much more to say that it depends on the place: a controller flies by
// the position, so that where the regression lacks something the position shows it, on the trajectories of the training. A mooring, or an input
// that is a position to fly to, leaves a small part of the error.
package invariance

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	windows  = 3000 // of the flights at most
	blocks   = 3    // of the horizon, with a mean input each
	penalty  = 1e-3
	matters  = 0.9  // of the mean square with the position over that without: less, and a state depends on it
	moored   = 0.25 // the same of a vehicle's place
	products = 24   // coordinates of which products are taken
)

// units of positions.
var units = []string{"m", "mm", "cm", "km", "ft"}

// lengths returns the states that are tried: those in a unit of length that are not declared invariant.
func lengths(states []channel.Channel) (out []int) {
	for k, c := range states {
		if c.Period == 0 && !c.Invariant && slices.Contains(units, channel.CanonicalUnit(c.Unit)) {
			out = append(out, k)
		}
	}
	return out
}

// Find returns the lengths among the states on which nothing depends over the horizon, s. places are the states that say where a vehicle is.
func Find(flights []window.Flight, states []channel.Channel, places map[int]bool, horizon float64) (out []int) {
	tried := lengths(states)
	folds := window.Folds(flights, horizon, 4)
	if len(tried) == 0 || len(folds) < 2 {
		return nil
	}
	d := newDesign(states, flights[0].P, tried, horizon)
	if d.lift.Dim() == 0 { // a length alone: something must move it
		return nil
	}
	ratios := d.ratios(folds, tried)
	for i, k := range tried {
		limit := matters
		if places[k] {
			limit = moored
		}
		if ratios != nil && !slices.ContainsFunc(ratios[i], func(folds []float64) bool { return median(folds) <= limit }) {
			out = append(out, k)
		}
	}
	return out
}

// ratios returns, for each position, state and fold, the mean square with the position over that without; nil where there are too few windows.
func (d *design) ratios(folds []window.Fold, tried []int) [][][]float64 {
	out := make([][][]float64, len(tried))
	for i := range out {
		out[i] = make([][]float64, d.K)
	}
	for _, f := range folds {
		s, ok := d.sample(f)
		if !ok {
			return nil
		}
		without := d.errors(s, nobody)
		for i, position := range tried {
			with := d.errors(s, position)
			if without == nil || with == nil {
				return nil
			}
			for k := range d.K {
				ratio := with[k] / without[k]
				if math.IsNaN(ratio) {
					return nil
				}
				out[i][k] = append(out[i][k], ratio)
			}
		}
	}
	return out
}

// median of the folds: in one of them the position may be out of what the others show.
func median(folds []float64) float64 {
	slices.Sort(folds)
	return (folds[(len(folds)-1)/2] + folds[len(folds)/2]) / 2
}

// nobody is the position of the regression that reads none.
const nobody = -1

// design makes rows of regressors and displacements.
type design struct {
	K, P      int
	horizon   float64
	lift      channel.Lift // of the states that are not tried
	z         []float64    // its coordinates
	mean, std []float64    // of the coordinates, then of the states
	input     []float64
}

func newDesign(states []channel.Channel, inputs int, tried []int, horizon float64) *design {
	free := slices.Clone(states)
	for _, k := range tried {
		free[k].Invariant = true
	}
	lift := channel.NewLift(free)
	return &design{K: len(states), P: inputs, horizon: horizon, lift: lift, z: make([]float64, lift.Dim()), input: make([]float64, inputs)}
}

// sample is a fold's windows.
type sample struct {
	window.Fold
	train, held []window.Window
}

// sample cuts a fold and measures the scales on what it trains on; ok is false where there are too few windows.
func (d *design) sample(f window.Fold) (s sample, ok bool) {
	s = sample{f, window.Thin(window.Cut(f.Train, d.horizon, 0), windows), window.Thin(window.Cut(f.Held, d.horizon, 0), windows)}
	if len(s.train) < 50 || len(s.held) < 10 {
		return s, false
	}
	d.scale(f.Train, s.train)
	return s, true
}

// errors returns the mean square of each state's displacement over the horizon on what a fold leaves out, nil where there are too few windows.
func (d *design) errors(s sample, position int) []float64 {
	V := d.columns(position)
	g := leastsquares.New(V, d.K, nil)
	row := make([]float64, V+d.K)
	for _, w := range s.train {
		if d.fill(row, &s.Train[w.Flight], w.Start, position) {
			g.Add(row)
		}
	}
	W, c, ok := g.Solve(V, penalty)
	if !ok {
		return nil
	}
	out, n := make([]float64, d.K), 0
	for _, w := range s.held {
		if !d.fill(row, &s.Held[w.Flight], w.Start, position) {
			continue
		}
		n++
		for k := range out {
			e := row[V+k] - c[k]
			for j, v := range row[:V] {
				e -= W[k*V+j] * v
			}
			out[k] += e * e
		}
	}
	if n < 10 {
		return nil
	}
	for k := range out {
		out[k] = math.Max(out[k]/float64(n), math.SmallestNonzeroFloat64)
	}
	return out
}

// scale measures the coordinates and the states on training windows.
func (d *design) scale(flights []window.Flight, at []window.Window) {
	n := d.lift.Dim() + d.K
	d.mean, d.std = make([]float64, n), slices.Repeat([]float64{1}, n)
	z, sum, square := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, w := range at {
		x := flights[w.Flight].State(w.Start)
		d.lift.Apply(z[:d.lift.Dim()], x)
		copy(z[d.lift.Dim():], x)
		for i, v := range z {
			sum[i] += v
			square[i] += v * v
		}
	}
	for i := range z {
		d.mean[i] = sum[i] / float64(len(at))
		if v := square[i]/float64(len(at)) - d.mean[i]*d.mean[i]; v > 1e-12*(1+d.mean[i]*d.mean[i]) {
			d.std[i] = math.Sqrt(v)
		}
	}
}

// linear is the number of coordinates without products: those of the other states, and the mean inputs.
func (d *design) linear() int { return d.lift.Dim() + blocks*d.P }

func (d *design) columns(position int) int {
	n := min(d.linear(), products)
	V := d.linear() + n*(n+1)/2
	if position != nobody {
		V += 3 + n
	}
	return V
}

// fill writes regressors and displacements of a window; ok is false where a state is missing.
func (d *design) fill(row []float64, f *window.Flight, start, position int) (ok bool) {
	L := d.lift.Dim()
	x := f.State(start)
	d.lift.Apply(d.z, x)
	z := row[:0]
	for i, v := range d.z {
		z = append(z, (v-d.mean[i])/d.std[i])
	}
	for b := range blocks {
		h := d.horizon / blocks
		f.InputMean(d.input, f.T[start]+float64(b)*h, f.T[start]+float64(b+1)*h)
		z = append(z, d.input...)
	}
	n := min(len(z), products)
	for i := range n {
		for j := range i + 1 {
			z = append(z, z[i]*z[j])
		}
	}
	if position != nobody {
		p := (x[position] - d.mean[L+position]) / d.std[L+position]
		z = append(z, p, p*p, p*p*p)
		for i := range n {
			z = append(z, p*z[i])
		}
	}
	return f.Displacement(row[len(z):], start, d.horizon)
}

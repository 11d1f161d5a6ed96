package calibration

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Trajectories are scored at the samples next to so many equal steps of the horizon, from windows that start so
// many times in a horizon, at most as many of a fold. Errors are smooth over a step of them.
const (
	trajectorySteps  = 40
	trajectoryStarts = 5
	mostTrajectories = 600
)

// TrajectorySteps returns the times ahead at which whole trajectories are scored, s.
func TrajectorySteps(H float64, flights []window.Flight) (out []float64) {
	for i := range trajectorySteps {
		out = append(out, H*float64(i+1)/trajectorySteps)
	}
	return window.AtSamples(out, H, flights)
}

// trajectory is the errors of one held-out window over their calibrated standard deviation.
type trajectory struct {
	fold, flight int
	weight       float64     // every flight counts the same
	largest      float64     // |error| over all channels and steps
	z            [][]float64 // by scored time: K, Winsorised; NaN = not measured
}

// trajectories returns those of the folds, predicted by their models with the calibration, but for folds that are beyond the
// data of the others.
func (f *Folds) trajectories(of []*heldErrors, condition model.Condition, m *Model) []trajectory {
	var out []trajectory
	count := map[[2]int]float64{}
	for i, e := range of {
		if len(m.beyond) > 0 && m.beyond[i] {
			continue
		}
		for _, t := range e.trajectories(condition, m, min(mostTrajectories, f.Windows/len(of)), f) {
			t.fold = i
			count[[2]int{i, t.flight}]++
			out = append(out, t)
		}
	}
	for i := range out {
		out[i].weight = 1 / count[[2]int{out[i].fold, out[i].flight}]
	}
	return out
}

// widening returns by what factor standard deviations are larger at τ for another flight than
// folds show that hold out blocks of the same flights: it is no reason for narrower tubes.
func (f *Folds) widening(tau float64) float64 {
	if f.Whole {
		return 1
	}
	return math.Sqrt(1 + square(f.anotherFlight(tau, nil)))
}

// trajectories returns those of a fold, at most so many; none where the model has no finite predictions.
func (e *heldErrors) trajectories(condition model.Condition, c *Model, most int, f *Folds) (out []trajectory) {
	if e.model == nil {
		return nil
	}
	m := *e.model
	for range condition + 1 {
		m.NetworkWeight, m.Calibration = append(m.NetworkWeight, c.NetworkWeight), append(m.Calibration, c.Intervals)
	}
	times, factor, scored := f.Steps, make([]float64, len(f.Steps)), make([]int, len(f.Times))
	for i, t := range times {
		factor[i] = f.widening(t / m.Horizon)
	}
	for i, t := range f.Times {
		scored[i] = floats.NearestIdx(times, t)
	}
	p, err := estimator.NewFast(&m, times)
	if err != nil {
		return nil
	}
	windows := window.Thin(window.Cut(e.flights, m.Horizon, m.Horizon/trajectoryStarts), max(1, most))
	dst, readout, K := p.NewPrediction(), condition.Readout(), m.K
	measured, compared := replay.New(K, times), window.Compared(e.flights) // the tube is of both, the state and a measurement
	var q estimator.Query
	rows := window.PlanRows(e.flights, m.Horizon)
	for w := range replay.Each(e.flights, windows, times) {
		w.Query(&q, &m, readout, rows)
		if condition == readout.Condition(true) {
			q.History = nil
		}
		if !p.Predict(dst, &q) || dst.NoHistory && condition == readout.Condition(false) {
			continue
		}
		measured.Read(&compared[windows[w.Number].Flight], w.Start)
		t := trajectory{flight: w.Flight.Segment, largest: largest(dst, q.X0, w.Measured, measured.Measured, factor)}
		for _, at := range scored {
			row := make([]float64, K)
			for k := range row {
				j := at*K + k
				row[k] = (q.X0[k] + w.Measured[j] - dst.Mean[j]) / dst.Std[j]
			}
			t.z = append(t.z, row)
		}
		out = append(out, t)
	}
	return out
}

// largest returns the largest |error| of a prediction, from x0 (K), over its standard deviation: of the state, as far from x0, and of a
// measurement (T×K), NaN = not measured, of each time by a factor more.
func largest(of *estimator.Prediction, x0, state, measured, factor []float64) (most float64) {
	K := len(x0)
	for j, mean := range of.Mean {
		for _, z := range [...]float64{(x0[j%K] + state[j] - mean) / of.Std[j], (x0[j%K] + measured[j] - mean) / of.ObsStd[j]} {
			if z = math.Abs(z) * factor[j/K]; z > most { // not NaN
				most = z
			}
		}
	}
	return most
}

// joint returns how the errors go together under a calibration; no levels = nothing was
// measured.
func (f *Folds) joint(of []*heldErrors, condition model.Condition, m *Model) (out model.Joint) {
	all := f.trajectories(of, condition, m)
	if len(all) == 0 {
		return out
	}
	out.Flights = wholeFlights(f, of)
	out.Tube = tube(all, out.Flights)
	winsorise(all)
	share := independence(all, len(of))
	for i, t := range f.Times {
		out.Levels = append(out.Levels, t/f.Folds[0].Data.Frame.Inputs.Horizon)
		out.Correlation = append(out.Correlation, shrunk(correlation(all, i, -1), share))
	}
	return out
}

// tube returns the factor for each of model.TubeLevels: the quantile of the largest errors of
// trajectories, flights weighing the same. The score of the next flight is larger than all in
// the share 1/(n+1) of cases (conformal prediction in two layers, Dunn, Wasserman and Ramdas
// 2022). With too few flights for that it is the plain quantile with a margin: one standard
// error over flights of the log of their quantiles.
func tube(all []trajectory, flights int) (out []float64) {
	of, inOrder := map[[2]int][]weighted{}, [][2]int(nil)
	var sizes []weighted
	for i := range all {
		t := &all[i]
		id := [2]int{t.fold, t.flight}
		if of[id] == nil {
			inOrder = append(inOrder, id)
		}
		of[id] = append(of[id], weighted{t.largest, 1})
		sizes = append(sizes, weighted{t.largest, t.weight})
	}
	least := leastTube
	for _, level := range model.TubeLevels {
		if model.TubeExact(level, flights) {
			least = math.Max(least, quantile(sizes, level*float64(flights+1)/float64(flights)*(1-1e-9)))
		} else {
			var logs []float64
			for _, id := range inOrder {
				logs = append(logs, logQuantile(of[id], level))
			}
			_, margin := Mean(logs)
			least = math.Max(least, quantile(sizes, level)*math.Exp(margin))
		}
		out = append(out, least)
	}
	return out
}

// leastTube is the least factor of a tube.
const leastTube = 1e-3

// mostErrors is how many standard deviations one error counts with.
const mostErrors = 3

// winsorise divides the errors of each channel and time by their spread and bounds them.
func winsorise(all []trajectory) {
	for i := range all[0].z {
		for k := range all[0].z[i] {
			var sizes []weighted
			for j := range all {
				if z := all[j].z[i][k]; !math.IsNaN(z) {
					sizes = append(sizes, weighted{math.Abs(z), all[j].weight})
				}
			}
			spread := math.Max(quantile(sizes, 0.9)/1.6449, 1e-9)
			for j := range all {
				z := &all[j].z[i][k]
				*z = math.Min(math.Max(*z/spread, -mostErrors), mostErrors)
			}
		}
	}
}

// correlation returns that of the errors about 0 at a scored time, without a fold. Of
// channels that are never measured together it is 0.
func correlation(all []trajectory, at, without int) *mat.SymDense {
	K := len(all[0].z[at])
	out := mat.NewSymDense(K, nil)
	for a := range K {
		out.SetSym(a, a, 1)
		for b := range a {
			ab, aa, bb := 0.0, 0.0, 0.0
			for i := range all {
				if t := &all[i]; t.fold != without && !math.IsNaN(t.z[at][a]+t.z[at][b]) {
					ab += t.weight * t.z[at][a] * t.z[at][b]
					aa += t.weight * t.z[at][a] * t.z[at][a]
					bb += t.weight * t.z[at][b] * t.z[at][b]
				}
			}
			if aa > 0 && bb > 0 {
				out.SetSym(a, b, ab/math.Sqrt(aa*bb))
			}
		}
	}
	return out
}

// shares of the identity that a correlation is shrunk by, and that without folds to choose.
var shares = []float64{0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 0.9}

const usualShare = 0.35

// independence returns the share of the identity with which the correlations of folds are
// likeliest by those of the others.
func independence(all []trajectory, folds int) float64 {
	best, most := usualShare, math.Inf(-1)
	if folds < 2 || len(all[0].z[0]) < 2 {
		return best
	}
	sums := make([]float64, len(shares))
	for at := range all[0].z {
		for fold := range folds {
			raw := correlation(all, at, fold)
			for i, share := range shares {
				sums[i] += logDensity(all, at, fold, shrink(raw, share))
			}
		}
	}
	for i, v := range sums {
		if v > most {
			best, most = shares[i], v
		}
	}
	return best
}

// logDensity returns the sum of the log densities of the complete errors of a fold.
func logDensity(all []trajectory, at, fold int, r *mat.SymDense) (sum float64) {
	var c mat.Cholesky
	if !c.Factorize(r) {
		return math.Inf(-1)
	}
	K := r.SymmetricDim()
	for i := range all {
		if t := &all[i]; t.fold == fold && !slices.ContainsFunc(t.z[at], math.IsNaN) {
			x, y := mat.NewVecDense(K, t.z[at]), mat.NewVecDense(K, nil)
			if c.SolveVecTo(y, x) != nil {
				return math.Inf(-1)
			}
			sum -= 0.5 * t.weight * (c.LogDet() + mat.Dot(x, y))
		}
	}
	return sum
}

func shrink(r *mat.SymDense, share float64) *mat.SymDense {
	K := r.SymmetricDim()
	out := mat.NewSymDense(K, nil)
	for a := range K {
		out.SetSym(a, a, 1)
		for b := range a {
			out.SetSym(a, b, (1-share)*r.At(a, b))
		}
	}
	return out
}

// worstCondition bounds the condition number of a correlation.
const worstCondition = 1e4

// shrunk returns a correlation, shrunk by the share and further until it is well conditioned,
// below the diagonal by rows.
func shrunk(r *mat.SymDense, share float64) (out []float64) {
	var c mat.Cholesky
	s := shrink(r, share)
	for share < 1 && !(c.Factorize(s) && c.Cond() < worstCondition) {
		share = math.Min(1, 1.5*share+1e-3)
		s = shrink(r, share)
	}
	out = []float64{}
	for a := range r.SymmetricDim() {
		for b := range a {
			out = append(out, s.At(a, b))
		}
	}
	return out
}

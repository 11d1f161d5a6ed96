package priordynamics

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Candidate is a shape that was tried, with its score on data that it was not
// fitted to: the geometric mean of RMSE over that of holding the last value.
type Candidate struct {
	Shape
	Score float64 // +Inf: could not be fitted
}

const (
	folds     = 3
	foldShots = 120 // windows that a fold is fitted to while shapes are compared
	foldSteps = 15  // iterations of L-BFGS then
)

// better is what a larger candidate must have over the smaller ones before it:
// less than this share of their error.
const better = 0.97

// Effort bounds a fit of roll-outs.
type Effort struct {
	Windows    int // that it is fitted to, spread evenly
	Iterations int // of L-BFGS
}

// Choose tries a few shapes by cross-validation over whole blocks of time; body
// declares laws, or nothing. The chosen one comes first. When ctx ends, it is the best
// of those that were tried, one at least. tell hears of every one before it is tried:
// how many were, and of how many. The error says why none could be fitted.
func Choose(ctx context.Context, flights []window.Flight, states []channel.Channel, body priordynamics.Body, p int, H float64, tell func(done, of int)) ([]Candidate, error) {
	var tried []Candidate
	best := -1
	all := shapes(flights, states, body, p, H)
	for i, shape := range all {
		tell(i, len(all))
		leader := math.Inf(1)
		if best >= 0 {
			leader = tried[best].Score
		}
		c := Candidate{Shape: shape, Score: validate(ctx, flights, states, p, H, shape, leader)}
		tried = append(tried, c)
		if best < 0 || c.Score < better*tried[best].Score {
			best = len(tried) - 1
		}
		if ctx.Err() != nil {
			break
		}
	}
	if best < 0 || math.IsInf(tried[best].Score, 1) {
		return tried, errors.New("no difference equation could be fitted: the data do not excite the channels enough")
	}
	tried[0], tried[best] = tried[best], tried[0]
	return tried, nil
}

// Fit fits one shape: regression, then shooting, as far as it came when ctx ended.
func Fit(ctx context.Context, flights []window.Flight, states []channel.Channel, p int, H float64, shape Shape, e Effort) (*priordynamics.Model, error) {
	m, err := regress(flights, states, p, shape)
	if err != nil {
		return nil, err
	}
	s := gather(flights, len(states), p, shape.Step, nodesOf(H, shape.Step), e.Windows, &shape.Body)
	if s.n < 10 {
		s = gather(flights, len(states), p, shape.Step, nodesOf(H, shape.Step), e.Windows, nil)
	}
	if s.n < 10 {
		return nil, fmt.Errorf("only %d whole windows of %g s to fit the difference equation to", s.n, H)
	}
	minimise(m, s, e.Iterations, func() bool { return ctx.Err() != nil })
	return m, nil
}

func nodesOf(H, step float64) int { return max(1, int(math.Floor(H/step+1e-6))) }

// shapes lists the candidates, small ones first: three degrees, three lengths of
// a step.
func shapes(flights []window.Flight, states []channel.Channel, body priordynamics.Body, p int, H float64) []Shape {
	var out []Shape
	n := 0
	for i := range flights {
		n += flights[i].N()
	}
	dt := sampling(flights)
	var steps []float64
	for _, parts := range []float64{10, 25, 50} {
		step := math.Max(1, math.Round(H/parts/dt)) * dt
		if step <= H && (len(steps) == 0 || step < steps[len(steps)-1]) {
			steps = append(steps, step)
		}
	}
	for degree := 1; degree <= 3; degree++ {
		m := priordynamics.Model{Lift: channel.NewLift(states), UMean: make([]float64, p), Degree: degree}
		if degree > 1 && (m.Terms() > n/10 || m.Terms() > 400) {
			break
		}
		for _, step := range steps {
			out = append(out, Shape{Step: step, Degree: degree, Ridge: 1e-5, Body: body})
			if degree > 1 {
				out = append(out, Shape{Step: step, Degree: degree, Ridge: 1e-3, Body: body})
			}
		}
	}
	return out
}

// grid holds the horizons, as shares of H, at which candidates are compared.
var grid = []float64{0.05, 0.1, 0.2, 0.4, 0.7, 1}

// hopeless is how far behind the best a candidate may be after its first fold
// and still be tried on the others.
const hopeless = 1.3

// validate returns the score of a shape on blocks that it was not fitted to. It
// stops after a fold that is hopelessly behind.
func validate(ctx context.Context, flights []window.Flight, states []channel.Channel, p int, H float64, shape Shape, best float64) float64 {
	sum, n := 0.0, 0.0
	scale := moves(flights, window.Cut(flights, H, H/10), H)
	for _, fold := range window.Folds(flights, H, folds) {
		m, err := Fit(ctx, fold.Train, states, p, H, shape, Effort{foldShots, foldSteps})
		if err != nil {
			return math.Inf(1)
		}
		score, windows := follow(m, fold.Held, window.Cut(fold.Held, H, H/10), H, scale)
		sum += score * windows
		n += windows
		if math.Exp(sum/n) > hopeless*best {
			break
		}
	}
	if n == 0 || math.IsNaN(sum) {
		return math.Inf(1)
	}
	return math.Exp(sum / n)
}

// moves returns the rms displacement over windows, at the horizons of the grid
// (grid×K): what holding the last value errs by.
func moves(flights []window.Flight, windows []window.Window, H float64) []float64 {
	K := flights[0].K
	square, n, y := make([]float64, len(grid)*K), make([]float64, len(grid)*K), make([]float64, K)
	for _, w := range windows {
		for i, share := range grid {
			flights[w.Flight].Displacement(y, w.Start, share*H)
			for k, v := range y {
				if !math.IsNaN(v) {
					square[i*K+k] += v * v
					n[i*K+k]++
				}
			}
		}
	}
	for j := range square {
		square[j] = math.Sqrt(square[j]/math.Max(n[j], 1)) + 1e-300
	}
	return square
}

// follow returns how well the roll-outs follow the windows: the mean over flights,
// weighed by their windows, which it counts too, of the mean over horizons and
// channels of log(RMSE/scale). An equation that runs away on one stretch, as one of
// many terms does where the rest of the data did not prepare it, is worse on that
// stretch, not on all.
func follow(m *priordynamics.Model, flights []window.Flight, windows []window.Window, H float64, scale []float64) (score, n float64) {
	K := flights[0].K
	square, count := make([]float64, len(grid)*K), make([]float64, len(grid)*K)
	roll := priordynamics.New(m, K, H)
	y, got := make([]float64, K), make([]float64, K)
	var u window.Input
	for at := 0; at < len(windows); {
		clear(square)
		clear(count)
		f := &flights[windows[at].Flight]
		from := at
		for ; at < len(windows) && windows[at].Flight == windows[from].Flight; at++ {
			start := windows[at].Start
			u = window.Input{Flight: f, Start: start}
			roll.Run(f.State(start), &u)
			for i, share := range grid {
				f.Displacement(y, start, share*H)
				roll.At(got, nil, share*H)
				for k, v := range y {
					if !math.IsNaN(v) {
						square[i*K+k] += (got[k] - v) * (got[k] - v)
						count[i*K+k]++
					}
				}
			}
		}
		sum := 0.0
		for j, s := range square {
			sum += 0.5 * math.Log(s/math.Max(count[j], 1)/(scale[j]*scale[j])+floor) / float64(len(square))
		}
		score += sum * float64(at-from)
		n += float64(at - from)
	}
	return score / math.Max(n, 1), n
}

package trust

import "math"

// levels are the probabilities with which whole trajectories stay inside of tubes.
var levels = [...]float64{0.5, 0.9, 0.95}

// Tube holds the factor of each of the levels; 0 = not known.
type Tube [len(levels)]float64

// tubes adapts the factors of tubes, see the package. Scores are the largest |error| over its
// standard deviation of a trajectory, as the probability that the model's factors give them:
// models and conditions differ in their factors.
type tubes struct {
	checks  float64
	covered Tube // running share of trajectories within what was published
	alpha   Tube
	scores  scores
	decided int64 // ns, when the last separate trajectory ended
}

func (t *tubes) reset() {
	*t = tubes{decided: never}
	for l, p := range levels {
		t.alpha[l] = 1 - p
	}
	t.scores.ring().reset(func(p float64) float64 { return p })
}

// path is what is known of the trajectory of a waiting prediction.
type path struct {
	model, published Tube
	largest, last    float64 // error, and age of the measurement that came last, s
	samples          int
}

// leastSamples is how many measurements make a trajectory.
const leastSamples = 5

// follow adds a measurement to the trajectory of a prediction of the whole horizon.
func (m *Monitor) follow(w *waiting, age float64, x []float64) {
	last := m.until[len(m.until)-1]
	if w.path.model[0] == 0 || w.rows < len(m.cfg.Times) || age <= 0 || age > last*(1+slack) || !m.at(w, age) {
		return
	}
	w.path.samples++
	w.path.last = age
	for k, mean := range m.mean {
		if z := math.Abs(m.off(k, x[k]-mean)) / m.std[k]; z > w.path.largest { // not NaN
			w.path.largest = z
		}
	}
}

// ended scores the trajectory of a prediction whose horizon has passed.
func (m *Monitor) ended(w *waiting) {
	p, t := &w.path, &m.tubes
	if p.samples < leastSamples || p.last < m.from[len(m.from)-1] {
		return
	}
	t.checks++
	share := max(1/t.checks, 1./memory)
	separate := w.t > t.decided
	for l, level := range levels {
		miss := indicator(p.largest > p.published[l])
		t.covered[l] += share * (1 - miss - t.covered[l])
		if separate {
			t.alpha[l] += learning * (1 - level - miss)
		}
	}
	if separate {
		t.decided = w.t + int64(p.last*1e9)
	}
	t.scores.ring().add(float32(min(p.model.probability(p.largest), 1e6)))
}

// Tube returns the factors for a prediction of which the model's are given.
func (m *Monitor) Tube(of Tube) Tube {
	t := &m.tubes
	if of[0] == 0 || t.checks == 0 {
		return of
	}
	out, least := of, 0.0
	for l := range levels {
		v := of.factor(t.scores.ring().above(t.alpha[l]))
		out[l] = max(min(max(v, lowest*of[l]), highest*of[l]), least)
		least = out[l]
	}
	return out
}

// probability returns that of a smaller error than so many standard deviations, linear between
// the factors; beyond the last it grows in proportion, above 1.
func (f Tube) probability(z float64) float64 { return between(z, f, levels) }

// factor is the inverse of probability.
func (f Tube) factor(p float64) float64 { return between(p, levels, f) }

// between maps x by the line through 0 and the points, to its end in proportion to the last.
func between(x float64, from, to Tube) float64 {
	a, b := 0.0, 0.0
	for l := range from {
		if x <= from[l] && from[l] > a {
			return b + (x-a)/(from[l]-a)*(to[l]-b)
		}
		a, b = from[l], to[l]
	}
	return b * x / a
}

package trust

import "math"

// lengths are how many of the last scores each window has, all powers of two.
var lengths = [...]int{8, 32, 128, recent}

const (
	allScores = 8 + 32 + 128 + recent
	experts   = len(lengths) + 1
)

// Settings of the mixture of experts.
const (
	mixRate  = 0.2  // η, of the losses in the weights
	mixShare = 0.02 // of the prior that returns to the weights at each check
	mostLoss = 20.  // what one loss counts at most
	steeper  = 4.   // of the model's own intervals, by what α is below nominal
)

// mixPrior is what each window, and at last the model's own intervals, weigh at the start.
var mixPrior = [experts]float64{0.1, 0.1, 0.1, 0.6, 0.1}

// spread is the factor over the root mean square of the last 8 scores: of eight normal errors 2.306 is right (Student's distribution of eight
// degrees of freedom), and checks that overlap need 1.15 times that.
const spread = 2.65

// mixture is the factor as a mixture of experts: the root mean square of the last 8 scores, of which the largest would be a quantile of much noise, the
// quantiles of the last 32, 128 and 256, and the factor 1. Each weighs by its
// interval score (Gneiting & Raftery 2007, equation 43) in the checks that were, by exponential weights with fixed share (Herbster & Warmuth 1998):
// after a change the short windows are right, else the long ones.
type mixture struct {
	order, sorted [allScores]float32
	next          [len(lengths)]int
	weights       [experts]float64
}

func (m *mixture) ring(i int) ring {
	from := 0
	for _, n := range lengths[:i] {
		from += n
	}
	to := from + lengths[i]
	return ring{m.order[from:to], m.sorted[from:to], &m.next[i]}
}

func (m *mixture) reset() {
	m.longest().reset(normal)
	var all [recent]float64
	m.restore(m.longest().append(all[:0]), nil)
}

// longest returns the ring that has all scores.
func (m *mixture) longest() ring { return m.ring(len(lengths) - 1) }

// factors writes the factor of each expert, that a share alpha of the scores is above.
func (m *mixture) factors(dst *[experts]float64, alpha float64) {
	dst[0] = bounded(spread * m.ring(0).rms() * normal(1-alpha))
	for i := 1; i < len(lengths); i++ {
		dst[i] = bounded(m.ring(i).above(alpha))
	}
	dst[experts-1] = max(1, 1+steeper*(nominal-alpha))
}

func bounded(factor float64) float64 { return min(max(factor, lowest), highest) }

// above returns the geometric mean of the experts' factors.
func (m *mixture) above(alpha float64) float64 {
	var f [experts]float64
	m.factors(&f, alpha)
	return m.mean(&f)
}

func (m *mixture) mean(f *[experts]float64) float64 {
	sum := 0.0
	for i, w := range m.weights {
		sum += w * math.Log(f[i])
	}
	return bounded(math.Exp(sum))
}

// add weighs the experts by a score, which none of them has seen, and gives it to the windows.
func (m *mixture) add(score float64) {
	var f, loss [experts]float64
	m.factors(&f, nominal)
	mean, least, sum := m.mean(&f), math.Inf(1), 0.0
	for i, q := range f {
		loss[i] = min((q+max(score-q, 0)/nominal)/mean, mostLoss)
		least = min(least, loss[i])
	}
	for i, l := range loss {
		w := &m.weights[i]
		*w = ((1-mixShare)**w + mixShare*mixPrior[i]) * math.Exp(mixRate*(least-l))
		sum += *w
	}
	for i := range m.weights {
		m.weights[i] /= sum
	}
	for i := range lengths {
		m.ring(i).add(float32(score))
	}
}

// restore sets all scores from the oldest on, and weights where there are any.
func (m *mixture) restore(all []float64, weights []float64) (ok bool) {
	for i, n := range lengths {
		if !m.ring(i).set(all[len(all)-n:]) {
			return false
		}
	}
	m.weights = mixPrior
	if len(weights) == 0 {
		return true
	}
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0 && w <= 1) {
			return false
		}
		m.weights[i] = w
		sum += w
	}
	return math.Abs(sum-1) < 1e-6
}

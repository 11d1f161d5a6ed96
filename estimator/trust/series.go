package trust

import "math"

// series is what is known of one channel in one bucket.
type series struct {
	checks       float64 // all that were made
	coverage     float64 // running shares and mean
	recalibrated float64
	nees         float64

	alpha  float64
	factor float64 // q
	scores mixture
	alarm  alarm
}

// memory is the length of a running mean, in checks.
const memory = 400

// mostSquared bounds what one squared error contributes.
const mostSquared = 1e6

func (s *series) reset(limit float64) {
	*s = series{alpha: nominal, factor: 1, alarm: alarm{limit: limit}}
	s.scores.reset()
}

// add adds a check: the error in standard deviations of a measurement, and the
// factor that was published with the prediction.
func (s *series) add(z, published float64, separate bool) {
	score := math.Abs(z) / width
	s.checks++
	w := max(1/s.checks, 1./memory)
	mean := func(m *float64, v float64) { *m += w * (v - *m) }
	mean(&s.coverage, indicator(score <= 1))
	mean(&s.recalibrated, indicator(score <= published))
	mean(&s.nees, min(z*z, mostSquared))
	s.scores.add(min(score, 1e6))
	if separate {
		s.alpha = min(max(s.alpha+learning*(nominal-indicator(score > published)), leastAlpha), mostAlpha)
		s.alarm.add(score > 1)
	}
	s.factor = s.scores.above(s.alpha)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// alternatives are the miss rates p1 that the test detects.
var alternatives = [...]float64{0.2, 0.4, 0.8}

// alarm is the sequential test of one series.
type alarm struct {
	limit    float64                    // c
	r        [len(alternatives)]float64 // R for each alternative
	on       bool
	evidence float64 // while on: that the intervals cover
}

// add adds a separate check.
func (a *alarm) add(miss bool) {
	if a.on {
		a.evidence = max(a.evidence, 1) * ratio(miss, nominal)
		if a.evidence >= cleared {
			*a = alarm{limit: a.limit}
		}
		return
	}
	mean := 0.
	for i, p1 := range alternatives {
		a.r[i] = (1 + a.r[i]) * ratio(miss, p1)
		mean += a.r[i] / float64(len(alternatives))
	}
	if mean >= a.limit {
		*a = alarm{limit: a.limit, on: true}
	}
}

// ratio is the likelihood ratio of a miss rate p1 against the band.
func ratio(miss bool, p1 float64) float64 {
	if miss {
		return p1 / band
	}
	return (1 - p1) / (1 - band)
}

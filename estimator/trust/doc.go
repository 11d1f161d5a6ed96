// Package trust compares predictions with what is then measured: running coverage and
// squared error, a sequential test that detects intervals which cover too little, and
// a factor on the standard deviations that restores the coverage.
//
// Its input is predictions and measurements with their times; it reads no clock,
// message or file. The same calls give the same numbers, bit for bit.
//
// # What is compared
//
// The horizon is divided into buckets; a series is one channel in one bucket. A
// prediction made at t is checked once in each bucket, by the measurement nearest to
// the bucket's end: mean and obs_std are interpolated to the time of the
// measurement, never the measurement, whose noise an average would lower. Errors of
// a wrong model grow faster over the horizon than their standard deviation; so the
// factors at the ends of the buckets are interpolated between them. A bucket that
// ends at h is checked about four times in h, and of these checks those whose
// prediction was made after the check before was decided are called separate: each
// of their outcomes was open when the last was known.
//
// # The test
//
// Let p be the probability of a miss, of |measured − mean| > 1.96 obs_std, in a
// separate check, given everything before it. The null hypothesis is p ≤ p0 = 0.10.
// For any p1 > p0 the likelihood ratio
//
//	e = p1/p0 at a miss, (1 − p1)/(1 − p0) at a hit
//
// has expectation ≤ 1 under it. So R ← (1 + R)·e (Shiryaev 1963, Roberts 1966) has
// the property that R − n is a supermartingale: the first time that R ≥ c comes
// after at least c checks in expectation (Pollak 1985 for the optimality; the
// bound needs optional stopping only, and neither independence nor a model of p).
// The statistic is the mean of three R, for p1 = 0.2, 0.4 and 0.8, which has the same
// property. With J series whose separate checks come every h_j seconds,
//
//	c_j = J·T/h_j
//
// gives at most one false alarm in T seconds on average, over all series. At a miss
// rate p above p0 the alarm comes after about log(c)/(p log(p1/p0) +
// (1 − p) log((1 − p1)/(1 − p0))) checks: 40 for p = 0.5 and T = 100 h.
//
// An alarm ends when the mirrored ratio, 0.05 against 0.10, has reached 20: as much
// evidence that the intervals cover.
//
// # The factor
//
// Adaptive conformal inference (Gibbs & Candès 2021, equation 2): with the score
// s = |measured − mean|/(1.96 obs_std) and the factor q that was published with the
// prediction,
//
//	α ← α + γ (0.05 − [s > q])        q = quantile of the last 256 scores at 1 − α
//
// α is updated at separate checks only, for which the feedback is not delayed, so
// that their proposition 4.1 applies: after n of them the share of misses differs
// from 0.05 by at most (max(α1, 1 − α1) + γ)/(γ n), whatever the robot does. It
// requires intervals that cover everything at α ≤ 0. Here q is then twice the largest
// of the scores, and always within [0.5, 10]; so the share is kept unless errors
// double within 256 checks again and again, or need more than a factor of ten. The
// scores come from all checks and begin as those of a true normal distribution.
//
// # Tubes
//
// Of a prediction of the whole horizon the score is the largest |error| over obs_std of all
// channels and all measurements until its end. The factor of a tube of probability p follows by
// the same rule, with 1 − p in the place of 0.05, at the ends of trajectories that do not
// overlap; and the scores are compared as the probability that the model's factors give
// them, linear between these, so that a plan in the place of a held input changes nothing. Factors
// stay within 0.5 and 10 of the model's.
package trust

const (
	nominal  = 0.05 // misses of an interval of 95 %
	width    = 1.959963984540054
	band     = 0.10 // p0, misses that are tolerated
	learning = 0.01 // γ
	recent   = 256  // scores kept
	lowest   = 0.5  // the factor's bounds
	highest  = 10.
	cleared  = 20. // evidence that ends an alarm
)

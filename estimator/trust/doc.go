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
//	α ← α + γ (0.05 − [s > q])        q = Π qᵢ(1 − α)^wᵢ
//
// α is updated at separate checks only, for which the feedback is not delayed, and kept within 0.03 and 0.25. As long as it does not
// reach that bound, after n checks the share of misses differs from 0.05 by (α1 − α)/(γ n), whatever the robot does (their
// proposition 4.1). At the lower bound errors grow faster than the experts follow, or need more than the factor's own bound, 10; what is missed
// there is not made up for: made up for, a lie of 20 s left intervals of twice their width for a minute. Without the upper bound a
// robot at rest, whose errors are smaller than any factor, would leave the intervals too narrow for minutes after it has taken off.
//
// q is the weighted geometric mean of five experts: 2.65 times the root mean square of the last 8 scores, the quantiles at 1 − α of the last 32, 128 and 256, and
// 1, the model's own intervals. Each weighs by its interval score in the checks that were, with fixed share (Herbster & Warmuth
// 1998): short windows follow a change within two seconds, there and back, and the long one has the least noise between changes.
// Strongly adaptive methods (SAOCP, Bhatnagar et al. 2023) combine experts of all lengths in the same way. The
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
	learning = 0.01 // γ, of tubes, too
	recent   = 256  // scores kept

	leastAlpha = 0.03 // bounds of α
	mostAlpha  = 0.25
	lowest     = 0.5 // the factor's bounds
	highest    = 10.
	cleared    = 20. // evidence that ends an alarm
)

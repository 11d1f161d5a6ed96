package datacheck

import "math"

// The thresholds of all detectors. Times are in seconds; a ratio without a unit is
// relative to what the channel usually does.
const (
	// Recording groups.
	enoughTime    = 3.0  // s and
	enoughSamples = 300  // samples, from which on a segment shows by itself what is usual
	sameRate      = 1.25 // ratio of intervals that count as one rate

	// Series.
	longestHole = 5.5     // usual intervals that a track continues across
	farFromEnd  = 1.0     // s without a good value, for a track to be the first or last one
	sketched    = 1 << 16 // values that a quantile is taken from at most

	// Problems.
	maxListed = 12 // places of a problem that its text lists

	// Stamps and rates.
	gapFactor    = 5      // usual intervals that are a gap, as for windows
	strayStamps  = 20     // samples after which a disturbed clock is a step, not stray stamps
	fastestRate  = 1.1e-4 // s: shorter or longer intervals are rare for a robot,
	slowestRate  = 0.4    // s, and usual where the unit of time is wrong by 1000,
	manySamples  = 10     // unless a horizon has so many
	slowSampling = 0.052  // s: of a robot that is sampled more slowly much is not seen; 20 Hz with jitter is not,
	fastEnough   = 20     // unless a horizon has so many samples

	// Missing and wrong values.
	fewSamples = 5   // in a row count as not measured: windows interpolate across them
	briefShare = 0.1 // of the horizon: so do those of a hole this long

	// Frozen values.
	shortestFreeze = 4    // equal values in a row
	oftenFrozen    = 0.1  // share of the samples: a channel frozen more often is slow, not broken
	muchFrozen     = 0.02 // share of the samples: a channel that is frozen more often is to be mended before more is recorded
	frozenLogOdds  = 15   // −ln of the chance of a run of equal values
	noiseReach     = 25   // samples on either side of a run, by which noise is known
	motionReach    = 20   // samples on either side of a run, by which usual changes are known

	// Clipped values.
	shortestClip  = 3 // samples at the extreme in a row: two are a rounded peak
	fewestClipped = 5 // samples in all: fewer are chance

	// States that look like angles.
	unitTurn   = 0.15  // of a turn: so far from one may be the jump of an angle that turns fast
	bareTurn   = 0.05  // the same, of a channel without a unit
	manyTurns  = 3     // in radians, of what may be degrees
	farOutside = 1.5   // periods: values that span more are not wrapped
	largeSteps = 0.15  // share of steps of more than half a period in either direction: no angle moves so
	rareValues = 0.005 // of the values at either end do not count for what a channel spans

	// Bursts.
	burstGap     = 0.1  // s: kinks closer than this, or
	burstSamples = 6    // samples, are one burst
	longestBurst = 1.5  // s: a pair of opposite steps farther apart is motion
	kinkFloor    = 0.15 // of the motion in half a second: a smaller kink does no harm

	// Single spikes: stricter than bursts in shape, so that they may be smaller.
	spikeKinks    = 8    // times the usual roughness
	spikeQuantile = 0.8  // of the roughness that is usual, however many spikes there are
	spikeApart    = 5    // times as far off as the neighbours are off each other
	spikeFloor    = 0.05 // of the motion in half a second
	spikeReach    = 2    // neighbours on either side
	spikeLevels   = 4    // steps of the sensor's resolution

	// Responses to commands.
	promptJump    = 0.02 // of its range, and
	promptSteps   = 4    // times its usual large step: a larger one of an input is a jump
	promptAhead   = 2    // samples ahead of it, and
	promptSamples = 5    // samples or
	promptTime    = 0.15 // s behind it, in which a response begins
	pushTime      = 1.0  // s, in which a robot gets to a new speed
	promptChance  = 0.01 // that places are there without one
	promptRest    = 20   // samples, of which at most one changes inputs that rest
	longestTop    = 0.3  // s at an extreme, under inputs that rest: longer, it was commanded

	// Stretches that are too smooth.
	shortestSmooth = 4    // samples on one curve with their neighbours
	longestFilled  = 0.25 // s, a straight stretch that windows may cross
	smoothLogOdds  = 16   // −ln of the chance of a smooth run
	onGrid         = 0.02 // steps of the sensor: so near to a whole number of them a value is on its grid
	gridShare      = 0.9  // of the samples, that are on the grid of a sensor that has one
	filledShare    = 0.02 // of the samples, from which on filling in is worth a note
	rateApart      = 2    // times as far as usual apart, a position and its rate, integrated, still agree

	// Ends that diverge.
	divergePace  = 5   // times the fastest that is usual
	divergeShare = 0.2 // of a track at most: more is how the robot moves
	turnApart    = 0.2 // of how far an angle turns: its rate, integrated, is nearer than this

	// A channel and its derivative.
	pairLag         = 0.1  // s over which they are compared
	unitPiece       = 10.0 // s over which the factor between them is one
	unitRows        = 10   // comparisons, fewer do not show a factor
	unitCorrelation = 0.8  // nor does a correlation below this
	unitLow         = 0.75 // to
	unitHigh        = 1.33 // times the integral of the derivative: the units are the same
	unitRatio       = 2.0  // between factors that are not those of one unit

	// A unit that changes from one sample to the next.
	rescaledNear    = 0.5  // s on either side that show how much a channel changes
	rescaledFar     = 3.0  // s that show it where the channel is near zero
	rescaledLeast   = 20   // values on either side, at least
	rescaledLike    = 6.0  // ratio to a factor between units of what it changes, over the near ones
	rescaledAlike   = 2.0  // the same, of each quantile over the far ones
	rescaledStep    = 1.5  // times its largest step nearby: so near to where it was, in the other unit, it continues
	rescaledPrecise = 0.01 // of its value: the same
	rescaledOthers  = 3.0  // factor by which other channels may change there, by their median
	rescaledMoves   = 0.5  // part of the factor, as logarithms, by which none of them may

	// A change of scale.
	scalePiece  = 5.0 // s over which the pace of a channel is taken
	scaleLag    = 0.1 // s, its pace is how far it moves in this time
	scaleSides  = 2   // pieces before and after a change, at least
	scaleSpread = 4.0 // ratio of paces within a side that is steady
	scaleNear   = 1.4 // ratio to a known factor that is still that factor
	scaleOthers = 3.0 // factor by which other channels may change with it

	// Swapped channels.
	swapJump    = 6.0   // times the usual large step of a channel: no state jumps so far by itself
	largeStep   = 0.995 // quantile of the steps that is called large
	mostSwaps   = 4     // of two channels in one segment; more are how they move
	fewestSteps = 50    // steps that show what is usual
	nearOther   = 2     // large steps: how near to the other channel's value a swapped one continues

	// Changes that the dynamics do not explain.
	halfRow   = 0.1  // s, half of the time over which a change is looked at
	pushScore = 20   // times the usual residual
	fitRows   = 4000 // rows of the regression at most
	fitRounds = 3    // each without the rows that the last one did not explain
	maxBase   = 12   // coordinates up to which all their products are used
	ridge     = 1e-6 // keeps equal features from having large opposite weights

	// Attitude.
	steep      = 80 * math.Pi / 180 // of pitch: beyond it roll and yaw turn about nearly one axis
	climbing   = 60 * math.Pi / 180 // of pitch: beyond it they turn fast
	steepApart = 0.5                // s: steep stretches closer than this are one

	// Gravity in an accelerometer, in means of restBlock.
	gravityBlocks  = 20   // of them at least
	gravityWidth   = 0.5  // of their median size: wider, and there is more than gravity
	gravityTilt    = 0.03 // standard deviation of the share of gravity along an axis that shows where it points
	gravityFollows = 0.8  // correlation: it follows
	gravityFree    = 0.4  // it does not
	gravityNear    = 0.5  // of g: a slope that is its own

	// Rest.
	restBlock   = 0.5  // s, or manySamples
	restMove    = 0.02 // of the channel's range within a block is rest,
	restShare   = 0.7  // of the log, from which on rest is worth a note
	longestRest = 2.0  // s of rest at either end of a segment that may stay

	restShareOfMove = 0.25 // and of what it moves by in a block in which it moves
)

// Package datacheck looks at a flight log before anything is learned from it
// and says what is wrong, where, and how to mend it.
//
// It owns the list of what can be wrong with telemetry (the kinds) and the
// judgement of what a trainer must leave out. It reads a log in memory, changes
// nothing, and needs no settings: every threshold is a multiple of what the
// channel itself does in the rest of the log.
//
// # How things are found
//
//   - Stamps (stamps.go): repeated, backwards, gaps, and steps of the clock. A
//     clock step is told from a gap by the state: across a true gap the robot
//     has moved on, across a step of the clock it has not.
//   - Frozen (frozen.go): a run of one value that, at the pace at which the
//     channel changes just before and after, could not happen by chance, and
//     for which there is a second reason: the value jumps when it comes back,
//     other channels keep moving, or the sensor's noise never repeats a value.
//     A coarse sensor of a robot at rest is not frozen.
//   - Clipped (clipped.go): flat tops at the extreme of a channel that arrive
//     faster than a rounded-off peak could.
//   - Outliers (outlier.go): samples off the line between their neighbours by
//     many times what is usual, grouped into spikes and bursts; a step that
//     stays is not one. Tails (smooth.go, runaway.go): a start or an end that
//     is too smooth to have been measured, or that runs away.
//   - Straight stretches inside (smooth.go): values that somebody put between
//     two samples, that is, lost samples filled in.
//   - Swapped channels (swapped.go): at one sample two states of one unit leap, each to
//     where the other was, and go on from there.
//   - Derivatives (pairs.go): a channel and its measured derivative must agree.
//   - Dynamics (dynamics.go): a plain regression says what acceleration the
//     state and the inputs explain. Where the robot was pushed by something
//     that is not in the log, nothing explains it.
//
// Work is O(n log n) in the samples, with a fixed factor per channel.
package datacheck

// Package datacheck looks for what is wrong in a flight log before anything is learned
// from it, and reports what it is, where, and its remedy.
//
// It owns the kinds of problems and the decision which values training leaves out: the
// result is a list of problems, for people, and a mask over samples and channels, for the
// windows. It reads a log in memory, changes nothing, and needs no settings: every
// threshold is a multiple of what the channel itself does in the rest of the log
// (thresholds.go).
//
// # Detectors
//
// Each file is named for what its detector finds. A detector reads a recording (several
// segments of a log, by columns) or a series (one channel of a recording), reports
// findings and marks the samples that those after it, and training, leave out. Check
// lists them in their order.
//
//   - Stamps: repeated, backwards, gaps, and steps of the clock. Across a gap the robot
//     has moved on, across a step of the clock it has not.
//   - Frozen values: a run of one value that, at the rate at which the channel changes
//     around it, is too long for chance, and for which there is a second reason: the
//     value jumps at its end, other channels keep moving, or the noise of the sensor
//     never repeats a value. A coarse sensor of a robot at rest is not frozen.
//   - Clipped values: flat tops at the extreme of a channel that it reaches faster than a
//     rounded peak.
//   - Spikes and bursts: samples off the line between their neighbours by many times what
//     is usual. A step that stays is none.
//   - Extrapolated ends and filled gaps: a stretch that is too smooth to have been
//     measured, or an end that moves faster than the channel ever does.
//   - Swapped channels: two states of one unit jump at one sample, each to where the
//     other was.
//   - Derivatives: a channel and its measured derivative must agree.
//   - Outside forces: a linear regression on state and inputs does not explain a change of
//     velocity.
//
// Work is O(n log n) in the samples, with a fixed factor per channel.
package datacheck

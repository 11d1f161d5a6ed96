// Package datacheck looks for what is wrong in a flight log before anything is learned
// from it, and reports what it is, where, and its remedy.
//
// It owns the kinds of problems and the decision which values training leaves out: the
// result is a list of problems, for people, and a mask over samples and channels, for the
// windows. It reads a log in memory, changes nothing, and needs no settings: every
// threshold is a multiple of what the channel itself does in the rest of the log
// (thresholds.go).
//
// Each file is named for what its detector finds. A detector reads a recording (several
// segments of a log, by columns) or a series (one channel of a recording), reports
// findings and marks the samples that those after it, and training, leave out. Check
// lists them in their order.
//
// Two reasons are needed for a finding where one could be how the robot moves: a frozen
// value is a run too long for chance, and it jumps at its end, or other channels keep
// moving, or the noise of the sensor never repeats a value, and neither a second
// measurement confirms it nor the channel comes to rest by one step of its sensor; a clock
// that stepped has a gap in its stamps, and the states go on without one; swapped channels
// jump at one sample, and each to where the other was.
//
// Work is O(n log n) in the samples, with a fixed factor per channel.
package datacheck

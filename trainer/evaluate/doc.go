// Package evaluate judges a model on flights: it replays them through the
// predictor that flies, window by window, and scores mean and intervals against
// what was measured, beside the simple predictors of package baseline.
//
// Conventions, the same for every model and baseline:
//
//   - Errors are of the displacement x(t0+h) − x(t0), so angles are continuous
//     from the window's start.
//   - Of an attitude there is also the error that counts, the angle between the two
//     (Attitude).
//   - x(t0+h) is interpolated linearly between samples, never across a gap.
//   - With the readout plan, the recorded input over the horizon comes with the
//     state, averaged into rows of equal length; with hold, the input of t0 is
//     held. The linear baseline sees the same choice.
//   - Intervals are those of a measurement (ObsStd), because what they are held
//     against is measured. With Truth they are those of the state (Std), for logs
//     whose channels are exact.
//   - With Shake the start states are worse than measured, for model and baselines
//     alike, and the covariance comes with them, as it would on the robot.
//   - Coverage comes with a block-bootstrap interval over time, because windows
//     overlap: blocks are twice the longest horizon scored.
package evaluate

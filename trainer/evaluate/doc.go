// Package evaluate scores a model on flights: it replays them through the onboard
// predictor, window by window, and compares mean and intervals with what was
// measured, beside the baselines and the model's prior dynamics alone.
//
// Conventions, the same for every model and baseline:
//
//   - Errors are of the displacement x(t0+h) − x(t0), so angles are continuous
//     from the window's start.
//   - An attitude also has an attitude error, the rotation angle between prediction
//     and measurement (Attitude).
//   - x(t0+h) is interpolated linearly between samples, never across a gap.
//   - With the readout plan, the recorded input over the horizon comes with the
//     state, averaged into rows of equal length; with hold, the input of t0 is
//     held. The linear baseline gets the same input.
//   - Intervals are those of a measurement (ObsStd), because they are compared with
//     measurements. With Truth they are those of the state (Std), for logs whose
//     channels are exact.
//   - With StartNoise the start states are noisier than measured, for model and
//     baselines alike, and the covariance comes with them, as on the robot.
//   - Coverage has a block-bootstrap interval over time, because windows overlap:
//     blocks are twice the longest horizon scored.
package evaluate

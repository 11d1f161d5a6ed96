// Package ridge predicts the displacement of every channel at every horizon directly, by
// one ridge regression each: no roll-out and no model of the dynamics. It is the strongest
// simple predictor of recorded robots, which a learned model is compared with.
//
// With the start x0 at t0, the horizon h and the input u, the columns are
//
//	z(x0)                         lifted and standardised state (channel.Lift)
//	u(t0)                         P
//	ū over each fifth of [0, h]   5·P, with the readout plan only; nothing after h is read
//	x(t0−jΔ) − x0, u(t0−jΔ)       K+P for each j = 1 … n, the history
//	products of all but history   where there are at most 24 of them, and folds prefer it
//
// and the target is x(t0+h) − x0 less what constant velocity predicts. Δ is the median
// interval of the training flights. States of the history are interpolated linearly between
// samples up to t0 and inputs are held, so that stamps may jitter and another recording may
// have another rate.
//
// History never crosses a gap or the beginning of a flight. A level is a fit with n earlier
// samples; a window uses the longest level that its flight has history for.
//
// Penalty and degree of each channel and horizon are those with the least mean square error
// on folds (window.Folds), geometric mean over folds, so that one in which every fit
// extrapolates does not decide alone. The standard deviation is the one whose 95 % interval
// covers 95 % of the errors on these folds, the same for all windows.
package ridge

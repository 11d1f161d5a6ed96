// Package ridge fits direct linear maps (estimator/direct) by ridge regression: one for
// each channel, time ahead, readout and amount of history.
//
// The target is (x(t0+t) − x(t0))/t less the measured derivative, so that windows count
// alike at all times ahead. History never crosses a gap or the beginning of a flight: a
// level is fitted to the windows that have its rows of history.
//
// Candidates of each channel and time differ in penalty, in degree, and in how many of the long
// rows of history they read: how old the samples are that the next flight's motion follows from
// differs between flights. The weights are the mean of theirs, each with a share by its mean square
// error on what the folds hold out, geometric mean over folds, so that one in which every fit
// extrapolates does not decide alone. Of penalties that no fold distinguishes the largest alone has a
// share: small ones err many times as much on manoeuvres that the folds do not have. For the same reason a channel does not read
// the level of a state on which no fold shows it to depend. Every fold's own
// map, fitted without what the fold holds out, is kept beside the map of all flights: calibration and
// weights read it.
package ridge

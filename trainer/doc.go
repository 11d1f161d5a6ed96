// Package trainer turns flight logs into a model. Its folders are the stages; each
// takes plain values and returns one:
//
//	datacheck       a log → the mask of samples and channels to train on
//	window          a log and its mask → flights, hold-out, folds, windows
//	priordynamics   flights → a difference equation
//	candidates      flights and folds → the stack of prior dynamics, the prior mean
//	rows, nets      windows → scaled rows → an ensemble of nets
//	selection       trials on folds → core, basis, likelihood temperature
//	calibration     errors on folds → weights and factors of mean and intervals
//	ood             windows → from how far away on a state is out of distribution
//	evaluate        a model and held-out flights → tables of scores
//	summary, report all of these → the report
//
// replay takes windows of flights to predictors, baseline and ridge fit predictors to beat,
// budget holds the time limit and the progress of a training; objective, posterior and optimise are the
// mathematics of nets.
//
// # The recipe
//
//  1. Hold data out for the table: whole segments where there are five, else
//     blocks of time.
//  2. Choose a difference equation by cross-validation and fit its roll-outs. It is the
//     prior mean, and the dynamics starts from it. A secondary linear model is blended in
//     as far as folds agree that it helps.
//  3. Train the nets on what that leaves, in units of it: a gated kernel of
//     (time, start state, input knots) with a linear basis beside it, no learned
//     mean, noise by horizon, derivatives matched to the dynamics.
//  4. Choose core, basis and activation by a fold the nets were not trained on, and the
//     likelihood temperature by all folds, conditioning anew and keeping the nets; Voronoi
//     strata of states weigh the same, and of temperatures within one standard error the
//     smallest is taken.
//  5. Fit the calibration model: network weight, scale factors by channel and horizon,
//     and the exponents with which intervals grow with the distance from the training
//     states and with the predicted motion.
//  6. Find the distance from which on a state is out of distribution.
//  7. Evaluate on the held-out data; then condition on everything and export.
package trainer

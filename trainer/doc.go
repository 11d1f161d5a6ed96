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
//	ood             windows → the limits of the out-of-distribution score
//	evaluate        a model and held-out flights → tables of scores
//	summary, report all of these → the report
//
// replay runs predictors over windows of flights. baseline and ridge fit the baselines.
// budget has the time limit and the progress of a training. objective, posterior and optimise are the
// mathematics of nets.
//
// # The recipe
//
//  1. Hold data out for the table: whole segments if there are at least five, else
//     blocks of time.
//  2. Choose a difference equation by cross-validation and fit its roll-outs. It is the
//     prior mean and the initial dynamics. A secondary linear model is blended in with a
//     weight by folds.
//  3. Train the nets on the scaled residuals: a gated kernel of
//     (time, start state, input knots) plus a linear basis, no learned
//     mean, noise by horizon, derivatives matched to the dynamics.
//  4. Choose core, basis and activation on a held-out fold, and the
//     likelihood temperature on all folds, with new posteriors of the same nets. Voronoi
//     strata of states have equal weights. Of temperatures within one standard error the
//     smallest is used.
//  5. Fit the calibration model: network weight, scale factors by channel and horizon,
//     and the exponents with which intervals grow with the distance from the training
//     states and with the predicted motion.
//  6. Find the distance above which a state is out of distribution.
//  7. Evaluate on the held-out data; then condition on all data and export.
package trainer

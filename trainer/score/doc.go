// Package score scores predicted distributions: Gaussian log likelihood, CRPS,
// coverage of central intervals with its bootstrap interval, root mean square
// error, probability integral transform.
//
// Every score of a point takes the measured (or true) value x, the predicted
// mean m and standard deviation s. A prediction with s ≤ 0, or with anything not
// finite, is not scored: Check reports it. Higher log likelihood and lower CRPS
// are better; both reward intervals that are right and narrow.
//
// Sources: Gneiting & Raftery 2007, "Strictly proper scoring rules, prediction,
// and estimation", for CRPS; Politis & Romano 1992 for the circular block
// bootstrap; Dawid 1984 for the probability integral transform.
package score

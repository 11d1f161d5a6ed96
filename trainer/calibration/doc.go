// Package calibration makes 95 % intervals of a model cover 95 % of unseen data, by
// errors on data that the posterior was not conditioned on: cross-validation with the
// nets as they are.
//
// The calibration model of a readout is, by channel k and horizon t,
//
//	mean_k(t) = prior_k(t) + w_k(t) network_k(t)
//	std_k(t)  ← std_k(t) · s_k(t) · (distance/near)^a · motion(t)^b
//
// with the network weight w, the scale factor s, the distance of the start from the
// training states (near ≤ distance ≤ far) and the running RMS displacement of the
// prediction over the typical one, within bounds (half of b above the typical one).
// Where all training states are far away, the posterior's own variance, made from
// features that fit the data, does not rise enough.
//
// The weight of the secondary linear model and the standard deviation of the linear
// baseline come from the same folds.
package calibration

// Package calibration makes 95 % intervals of a model cover 95 % of unseen data, by
// errors on data that the posterior was not conditioned on: cross-validation with the
// nets as they are. It is one non-homogeneous Gaussian regression (EMOS, Gneiting et al.
// 2005) for each condition: by channel k and time t,
//
//	mean_k(t) = prior_k(t) + w_k(t) network_k(t)
//	log std_k(t) ← log std_k(t) + a_k(t) + Σ_j b_jk x_jk(t)
//
// with the network weight w and the covariates x of model.Covariate: the distance of the
// start from the training states, the leverage of state, history and plan, the predicted
// motion, the posterior's share in the variance, how far the components of the prior
// dynamics are apart, and the roughness of the channel's history. a and b maximise the likelihood with a robust tail. b is each channel's
// own, unless folds that are left out are clearly likelier with one for all channels, or with a
// prior, as that of other robots (choose). Last, a is raised so that
// 95 % intervals cover 95 % (quantiles).
//
// Where folds hold out whole flights, their errors have the flight effect, the mean error
// of one flight, in them; where they hold out blocks of the same flights, they do not. A prior
// for what another flight adds is larger there (anotherFlight), and intervals cover 95 % of the errors
// of all blocks, instead of a block in the mean.
//
// The model that is judged on held-out flights adds its errors on these, as one more fold,
// to the calibration of the exported model, which knows them (Errors.Add).
//
// The limits of the out-of-distribution score come from the same errors, and so does how they go
// together (joint.go): the correlation of the channels at the scored times and the largest error of
// a trajectory, which makes tubes.
package calibration

// Package estimator predicts: from a model, a measured state and the input to come it
// computes the distribution of the state over a horizon.
//
// It has no I/O, clock or log, and after New it allocates nothing. Batch alone has
// goroutines, which end before its Predict returns. Everything around it (messages,
// deadlines, links) is in package node.
//
// A model is compiled to programs by package dynamics, where each formula of this page stands once: batches and gradients
// are evaluated by these. Single predictions and Jacobians have two predictors. Predictor is the reference, in double precision, which
// trainer, evaluation and self-checks use. Fast is the one of the onboard runtime: the
// same formulas for sixteen points at once in single precision, tested against the
// reference.
//
// # Stable packages
//
// Other programs may build on estimator, estimator/model, estimator/wire,
// estimator/flightlog and estimator/node: what these export changes only with a note in
// the format's or protocol's table of changes. All other packages serve them and may
// change at any time; what nothing outside of estimator needs is under
// estimator/internal.
//
// # Formulas
//
// Member e of the ensemble gives, in output units and for channel k,
//
//	mean_e = prior + mu + phi·w      v_e = ‖L⁻¹ phi‖²      prior = (rollout of the prior dynamics)/Scale
//
// Equations of the prior dynamics read what acts of the inputs, see package actuator. Then
//
//	mean = avg mean_e      var = avg v_e + avg (mean_e − mean)²      var ← max(var, avg_b (m_b − mean)²) over the refits b
//
// and with σ²(t) the noise of the horizon, R the sensor's variance, J = ∂x(t)/∂x0:
//
//	Std²    = var + max(0, σ²(t) − R) + max(0, diag J (P0 − R) Jᵀ)
//	ObsStd² = Std² + min(R, σ²(t))
//
// because in the windows form both ends of a displacement are measured and
// disturbances add up over the horizon. Where a filter estimates a state, σ²(t) is of the state alone, since
// training aims at the state given the whole flight: Std² = var + σ², ObsStd² = Std² + R. In the paper's form x0 is exact and σ is
// the sensor alone: Std² = var, ObsStd² = var + σ². A calibration factor multiplies
// var and σ², and the part with P0 only where it is above 1.
//
// The derivative of the mean by a number u of the plan has three parts: of the posterior,
// through the knots q, which are linear in the plan; of the components, through the mean
// input ū of their steps or blocks; and of the factors f by which they fade, through the
// input at the start and the mean, or change of the mean, that is farthest outside of its range (direct.RangeFactor):
//
//	∂mean/∂u = η Σ_q ∂m/∂q ∂q/∂u + Σ_j w_j f_j ∂(d_j − d_0)/∂u + ∂d_0/∂u + Σ_j w_j (d_j − d_0) ∂f_j/∂u
//
// It is exact at all times, and 0 where the input is later, and so is that by x0. A Fast takes
// those of a difference equation by the derivatives at its nodes: exactly, to single precision,
// where the input does not change within a step. The J of Std is that of a Fast in both.
//
// The gradient of a scalar cost goes back through the program of the model: see package program.
//
// # Covariance
//
// The error of state k at time t is the sum of what the model does not know and of J (x̂0 − x0),
// what it carries on of the start. The first part, of the posterior, the ensemble and the
// disturbances together, is what folds show: held-out errors over the calibrated standard
// deviation have the correlation R(t) of model.Joint. The second has the covariance J P0 Jᵀ, of
// which the prediction counts in Std what is more than in the starts of the folds. With S that
// part, scaled to the variances that it adds, and B what it leaves,
//
//	Cov(t) = B R(t) B + S      S_kl = s_k s_l (J P0 Jᵀ)_kl      S_kk = max(1, factor) max(0, diag J (P0 − R) Jᵀ)_kk
//	B_kk = √(Std_k² − S_kk)
//
// so that its diagonal is Std², and it is positive semidefinite, as a sum of such. Sensors
// are independent: the covariance of a measurement has ObsStd² on its diagonal.
//
// Of a model without R, a state whose derivative is a state has the error that follows from
// that state's: the integral of the same Wiener process, integrated once more. n and m
// integrals ∫(t−s)^n/n! dW at the same time have the correlation √((2n+1)(2m+1))/(n+m+1), which
// does not depend on t. Other states are independent then.
//
// Trajectories are draws of Cov at every time. In time the first part goes as those integrals g
// do, mixed at each time by M with M C Mᵀ = R, C the correlation of g; the second is J times one
// draw of the start.
package estimator

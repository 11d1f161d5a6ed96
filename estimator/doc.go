// Package estimator predicts the distribution of a robot's state over a horizon, from a model,
// a measured state and the future input.
//
// It has no I/O, clock or log, and after New it allocates nothing. Only Batch has
// goroutines, which end before its Predict returns. Package node has everything around it
// (messages, deadlines, links).
//
// Package dynamics, which has each formula of this page once, compiles a model to programs. Batches and gradients
// evaluate these programs. Single predictions and Jacobians have two predictors. Predictor is the reference, in double precision;
// trainer, evaluation and self-checks use it. Fast is the one of the onboard runtime: the
// same formulas for sixteen points at once in single precision, tested against the
// reference.
//
// # Stable packages
//
// Other programs may build on estimator, estimator/model, estimator/wire,
// estimator/flightlog and estimator/node. A change of their exported API is noted in
// the format's or protocol's table of changes. All other packages serve them and may
// change at any time; packages that only estimator needs are under
// estimator/internal.
//
// # Formulas
//
// Member e of the ensemble gives, in output units and for channel k,
//
//	mean_e = prior + mu + phi·w      v_e = ‖L⁻¹ phi‖²      prior = (rollout of the prior dynamics)/Scale
//
// Equations of the prior dynamics read the inputs after dead time and lag, see package actuator. Then
//
//	mean = avg mean_e      var = avg v_e + avg (mean_e − mean)²      var ← max(var, avg_b (m_b − mean)²) over the refits b
//
// and with σ²(t) the noise of the horizon, R the sensor's variance, J = ∂x(t)/∂x0:
//
//	Std²    = var + max(0, σ²(t) − R) + Σ_j (w_j f_j)² e_j (c_j − m_j) + max(0, diag J (P0 − R) Jᵀ)
//	ObsStd² = Std² + min(R, σ²(t))
//
// because in the windows form both ends of a displacement are measured and
// disturbances add up over the horizon. c_j is the displacement of a direct map by itself, m_j that within the bounds of the levels that read less
// history, which c_j is beyond by e_j. If a filter estimates a state, σ²(t) is the noise of the state without its sensor, since
// the training target is the state given the whole flight: Std² = var + σ², ObsStd² = Std² + R. In the paper's form x0 is exact and σ is
// the noise of the sensor: Std² = var, ObsStd² = var + σ². A calibration factor multiplies
// var and σ², and the part with P0 only if the factor is above 1.
//
// The derivative of the mean by a number u of the plan has three parts. The posterior depends on u
// through the knots q, which are linear in the plan. The components depend on u through the mean
// input ū of their steps or blocks. Their range factors f depend on u through the
// input at the start and the mean, or change of the mean, that is farthest outside of its range (direct.RangeFactor):
//
//	∂mean/∂u = η Σ_q ∂m/∂q ∂q/∂u + Σ_j w_j f_j ∂(d_j − d_0)/∂u + ∂d_0/∂u + Σ_j w_j (d_j − d_0) ∂f_j/∂u
//
// It is exact at all times, and 0 for later inputs; the derivative by x0 is exact, too. A Fast computes
// that of a difference equation from the derivatives at its nodes. It is exact, to single precision,
// if the input does not change within a step. Both predictors use a Fast's J for Std.
//
// The gradient of a scalar cost is propagated back through the program of the model: see package program.
//
// # Covariance
//
// The error of state k at time t is the sum of the model's error and of the propagated error of the start,
// J (x̂0 − x0). The model's error (posterior, ensemble and disturbances together) is estimated on
// folds: held-out errors over the calibrated standard
// deviation have the correlation R(t) of model.Joint. The error of the start has the covariance J P0 Jᵀ.
// Std contains its excess over the starts of the folds. Let S be
// that excess, scaled to the variances that it adds, and B the diagonal of the remaining standard deviations:
//
//	Cov(t) = B R(t) B + S      S_kl = s_k s_l (J P0 Jᵀ)_kl      S_kk = max(1, factor) max(0, diag J (P0 − R) Jᵀ)_kk
//	B_kk = √(Std_k² − S_kk)
//
// Its diagonal is Std², and it is positive semidefinite, as a sum of two such matrices. Sensors
// are independent: the covariance of a measurement has ObsStd² on its diagonal.
//
// In a model without R, the error of a state whose derivative is a state is the integral of
// that state's error: the same Wiener process, integrated once more. The integrals
// ∫(t−s)^n/n! dW and ∫(t−s)^m/m! dW have the correlation √((2n+1)(2m+1))/(n+m+1), which
// does not depend on t. Other states are then independent.
//
// Trajectories are draws of Cov at every time. Over time the model's error follows those integrals g,
// mixed at each time by M with M C Mᵀ = R, where C is the correlation of g. The error of the start is J times one
// draw of the start.
package estimator

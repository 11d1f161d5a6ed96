// Package filter estimates the state of a robot from measurements by an extended Kalman
// filter, the same in training and on board.
//
// It has no I/O, clock or log, and allocates nothing after New. A sample may contain any subset of
// the channels, and samples may come at any rate. Between samples the state follows a Process; without
// known dynamics it is a Kinematic process:
//
//	x⁻ = f(x, u, Δt)      P⁻ = F P Fᵀ + Q(Δt)      F = ∂f/∂x
//
// A sample updates one channel after the other, which equals a joint update because sensors are
// independent. With h the unit vector of the channel, R the variance of its sensor and
// S = hᵀ P h + R (Jazwinski 1970, Stochastic Processes and Filtering Theory, chapter 7):
//
//	ν = y − hᵀ x      x ← x + P h ν / S      P ← P − P h hᵀ P / S
//
// The row of the channel is computed as hᵀ P R / S, which avoids cancellation. If after a sample a
// variance is not positive or a correlation exceeds 1, the filter restarts.
//
// If Config.Adapts, R follows a sensor whose noise is another one than that of the configuration, by the slope of the likelihood
// with the difference of successive innovations in place of these, which slow errors of the process do not raise:
//
//	R ← R exp(R/Sᵢ ((νᵢ − νᵢ₋₁)²/(Sᵢ + Sᵢ₋₁) − 1)/200)
//
// While innovations of a channel have a correlation above ½ the process errs, and R returns to that of the configuration.
//
// A measurement with ν² > Gate² S is an outlier: it is counted and not used. The filter restarts,
// and returns the reason, after a number of outliers in a row, after a gap, and if a number is not
// finite.
package filter

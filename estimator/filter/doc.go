// Package filter estimates the state of a robot from what is measured of it: an extended Kalman
// filter, one and the same in training and on board.
//
// It has no I/O, clock or log, and allocates nothing after New. A sample may hold any subset of
// the channels, samples may come at any rate. Between samples the state follows a Process, which
// a Kinematic one is where no dynamics are known:
//
//	x⁻ = f(x, u, Δt)      P⁻ = F P Fᵀ + Q(Δt)      F = ∂f/∂x
//
// A sample updates channel after channel, which is the same as all at once, as sensors are
// independent. With h the unit vector of the channel, R the variance of its sensor and
// S = hᵀ P h + R (Jazwinski 1970, Stochastic Processes and Filtering Theory, chapter 7):
//
//	ν = y − hᵀ x      x ← x + P h ν / S      P ← P − P h hᵀ P / S
//
// whose row of the channel is written as hᵀ P R / S, which does not cancel. After every sample all
// variances are positive and all correlations within 1, or the filter begins anew.
//
// A measurement with ν² > Gate² S is an outlier: it is counted and not used, unless as many in a
// row are that the filter is what must be wrong. Then, after a gap, and where a number is no
// longer finite, the filter begins anew, and says why.
package filter

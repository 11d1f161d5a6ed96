// Package dynamics compiles a model to programs: each component of the stack, the features, the posterior and the
// calibration are written here, once.
//
// Every formula stands in the file of its name, in the order of the package estimator's page of formulas:
//
//	formula                                                            file
//	input over the horizon: means and values of a plan                 signal.go
//	what acts of the input: v = u + (w − u) exp(−(t − d − b)/τ)        actuators.go, package actuator
//	z = (lift(x) − mean)/std, angles by sine and cosine                lift.go
//	x⁺ = x + Wᵀψ(v) + s∘net(v), and what is between the nodes          equation.go, monomials.go
//	kinematic relations of a rigid body                                body.go
//	equation of motion of a planar chain                               chain.go
//	equations of motion with physical parameters                       package motion
//	d(t) = t (v0 + Σ ω(t) column(t)), leverage, range of the inputs    direct.go, leverage.go
//	d = d_0 + Σ w_j f_j (d_j − d_0) + w_r f_r d_r, fades, spread       stack.go, fade.go
//	mean = mu + φ·w, v = ‖L⁻¹φ‖²                                       ensemble.go, exact.go
//	std² = factor (v + σ² − R) …                                       calibration.go, interval.go
//	out-of-distribution score                                          ood.go
//
// A program is of one condition (readout, with or without history), of fixed times and of plans of so many rows. Its
// inputs are
//
//	x      K×1             the state at the start
//	past   rows·(K+P)×1    the history, newest first: states less x, then inputs
//	plan   P×rows          the input, held from row to row; with the readout hold one row
//
// and its outputs have a column for every time.
package dynamics

// Package adapt learns in flight how the robot differs from the training
// data, and corrects predictions. It reads no clock, message or file, allocates nothing
// after New, and the same calls give the same numbers, bit for bit.
//
// # Parameters
//
// θ = (b, g, d, m) changes the first difference equation of a model, see
// priordynamics.Adaptation: a bias of the rate of every state, a gain of every input, a
// damping of every state whose rate no relation determines, and the mass of a flying rigid body. A bias is the present value: over a prediction
// it decays with a time constant of 0.35 of the horizon H, like an unexplained force. The mean of
// a prediction is that of a stack of components, one of which is the equation. θ adds
//
//	Δ(t; θ) = roll-out(θ)(t) − roll-out(0)(t)
//
// It needs no net and no training, and kinematic relations propagate a change of a velocity
// to the position. Without data θ follows an Ornstein-Uhlenbeck process:
//
//	θ ← a θ      P ← a P a + (1 − a²) P0      a = exp(−Δt/τ)
//
// with τ = 400 s, and standard deviations of 0.6 (b, in the usual rates), 0.15 (g), 0.12 (d) and 0.2 (m) in P0.
//
// # Learning
//
// Eight windows begin in a horizon H. At the ends of five buckets (0.04, a tenth, a quarter, half
// and the whole of H) the model predicts again from the start state of a window, with
// the input recorded since; plans do not count. The third
// and fourth bucket are evaluated for every second window, the last for every fourth. With y the measurement
// there and S the sensitivity of the roll-out at the present θ, every channel is one measurement
// of an extended Kalman filter:
//
//	e = y − mean − Δ(θ)      R = obs² · 4 · max(1, h/interval) · max(1, z²/9)
//
// It is dropped if z² = e²/(obs² + S P Sᵀ) > 36. Every dropped row adds a 25th of P0 to the
// diagonal of P, at most up to P0, because a change of the robot persists. The covariance is
// updated in Joseph's form; with the additions of the process it stays symmetric and positive.
//
// # History
//
// The direct map of a stack reads the history of the changed robot, and so follows the
// change in part. Δ therefore has a second part. The effect of θ on the history is rolled out backwards in
// time, Δ(−s; θ), and its contribution through the direct map, which is linear in the history, is subtracted:
//
//	Δ(t; θ) = roll-out(θ)(t) − roll-out(0)(t) − w(t) t Σ ω(t) Δ(−s; θ)
//
// Then θ is the change itself: a motor that has lost a fifth has a gain of −20 %.
//
// # Gains of inputs
//
// A gain changes an input, in history and plan, for all components. If a gain is beyond three standard
// deviations and θ counts, the model also predicts from the inputs times 1 + g, and Δ is relative to that prediction. The
// experts are relative to the mean without adaptation; the contribution of the gains to a roll-out converts between both. The
// prediction from changed inputs is published if it has had the better log scores in windows since the gain is known.
//
// # Gate
//
// Each series (a channel in a bucket under a readout) has five experts: the mean without adaptation; the same
// with a regression of its errors; with half of Δ; with Δ; and with Δ and a regression of its
// residuals. A regression is linear in 5 and the coordinates of the equation, standardised and
// bounded, of the start state of a window and of the mean input up to the end of the bucket. Its coefficients
// follow an Ornstein-Uhlenbeck process of 400 s with the standard deviation of a measurement, and a Kalman
// filter learns them from errors of variance 100 max(1, h/interval) obs². The experts are weighted by fixed share
// (Herbster & Warmuth 1998) with the log scores of Student's distribution with 5 degrees of freedom,
// each for its prediction at the start of the window. A score counts 0.5 for the next
// longer bucket of its channel, 0.5² for the one after it. Scores of windows that begin half as often
// count twice. The mixture's mean and variance are published:
//
//	mean + Σ w μ      obs² + wΔ min(S P Sᵀ, obs²) + Σ w (μ − Σ w μ)²
//
// Here w are the weights by the last score, before fixed share, μ the experts minus the unadapted mean, and wΔ the share of
// Δ in Σ w μ. So the prediction of an unchanged robot does not change.
//
// A prediction under a plan and one under the input that is held have different errors: in the second those of the input are large, and a pilot or a
// controller may already compensate for what θ adds. So each readout has series of its own. Those of the held input are evaluated for
// every fourth window, from the same start, with the input at the start. θ is not learned from them. A query without a plan is corrected by them.
//
// Log scores bound the loss over a flight, but not over two seconds in which an error of a sensor or a sender changes faster than the
// weights. So for each series only a share s of the mixture is published. It is computed from sums over the last two horizons, of the errors
// without adaptation e and the mixture's change of the mean at the start of the window m, both over the standard deviation of a measurement:
//
//	s* = (λ + Σ e m)/(λ + Σ m²)      s = 1.5 s* − 1.4 √(max(Σ (e − s* m)² − 4 n, 0)/(λ + Σ m²))      within 0 and 1, λ = 4
//
// s* is the coefficient of the regression of forecast encompassing (Harvey, Leybourne & Newbold 1998), shrunk to 1: small changes are published
// whole. If an amount explains the change, the remaining errors have the size of a measurement's, and s is 1. If more than two standard deviations
// remain, the cause is unknown, and a recently right change of the mean may next be wrong: less is published.
package adapt

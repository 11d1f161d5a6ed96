// Package adapt learns in flight how the robot of today differs from that of the training
// data, and corrects predictions by it. It reads no clock, message or file, allocates nothing
// after New, and the same calls give the same numbers, bit for bit.
//
// # Parameters
//
// θ = (b, g, d) changes the first difference equation of a model, see
// priordynamics.Adaptation: a bias of the rate of every state, a gain of every input, a
// damping of every state whose rate no relation determines. A bias is the present one: over a prediction
// it fades with a time constant of 0.35 of the horizon H, as a force fades that no state or input explains. The mean of
// a prediction is that of a stack of components, of which the equation is one. What θ adds is
//
//	Δ(t; θ) = roll-out(θ)(t) − roll-out(0)(t)
//
// so it needs no net and no training, and kinematic relations take a change of a velocity
// into the position. Without data θ follows an Ornstein-Uhlenbeck process:
//
//	θ ← a θ      P ← a P a + (1 − a²) P0      a = exp(−Δt/τ)
//
// with τ = 400 s, and standard deviations of 0.6 (b, in the usual rates), 0.15 (g) and 0.12 (d) in P0.
//
// # Learning
//
// Eight windows begin in a horizon H. At the ends of five buckets (0.04, a tenth, a quarter, half
// and the whole of H) the model predicts again from the state at which a window began, under
// the input that was recorded since: what was planned and not flown does not count. The third
// and fourth bucket are read of every second window, the last of every fourth. With y measured
// there and S the sensitivity of the roll-out at the present θ, every channel is one measurement
// of an extended Kalman filter:
//
//	e = y − mean − Δ(θ)      R = obs² · 4 · max(1, h/interval) · max(1, z²/9)
//
// dropped where z² = e²/(obs² + S P Sᵀ) > 36; every such row adds a 25th of P0 to the
// diagonal of P, at most up to P0, because a change of the robot repeats itself. The covariance is
// updated in Joseph's form; with the additions of the process it stays symmetric and positive.
//
// # History
//
// The direct map of a stack reads history, which is that of the changed robot: it follows the
// change in part. So Δ has a second part. What θ has done to the history is rolled out against
// time, Δ(−s; θ), and what the direct map, linear in it, makes of that is taken away:
//
//	Δ(t; θ) = roll-out(θ)(t) − roll-out(0)(t) − w(t) t Σ ω(t) Δ(−s; θ)
//
// Then θ is what has changed, and can be read: a motor that has lost a fifth shows −20 %.
//
// # Inputs that act
//
// A gain is a change of an input, in history and plan, for all components alike. Where one is beyond three standard
// deviations and θ counts, the model predicts from the inputs times 1 + g, too, and Δ begins there; back to
// the mean without adaptation, which the experts are relative to, leads what the gains add to a roll-out. It is published if what
// is made of it has had the better log scores in windows since the gain is known.
//
// # Gate
//
// Each series (a channel in a bucket) has five experts: the mean without adaptation, the same
// with a regression of its errors, with half of Δ, with Δ, and with Δ and a regression of what that
// leaves. A regression is linear in 5 and the coordinates of the equation, standardised and
// bounded: of the state at which a window begins and of the mean input up to the end of the bucket. Its coefficients
// follow an Ornstein-Uhlenbeck process of 400 s with the standard deviation of a measurement, and a Kalman
// filter learns them from errors of variance 100 max(1, h/interval) obs². The experts are weighted by fixed share
// (Herbster & Warmuth 1998) of the log scores of Student's distribution with 5 degrees of freedom,
// each by what it would have predicted when the window began; a score counts 0.5 for the next
// longer bucket of its channel, 0.5² for that after it. What windows that begin half as often score
// counts twice. Published is the mixture's mean and variance:
//
//	mean + Σ w μ      obs² + wΔ min(S P Sᵀ, obs²) + Σ w (μ − Σ w μ)²
//
// with w the weights by the last score, before fixed share, μ the experts less the unadapted mean, and wΔ the share of
// Δ in Σ w μ. So a prediction of a robot that has not changed stays what it was.
//
// Log scores bound what a flight loses, not what two seconds of it do, in which a sensor or a sender is wrong in a way that changes faster than
// weights. So a share s of the mixture is published, of each series, by the sums of the last two horizons over errors without adaptation e and
// what the mixture moved the mean by when the window began, m, both over the deviation of a measurement:
//
//	s* = (λ + Σ e m)/(λ + Σ m²)      s = 1.5 s* − 1.2 √(max(Σ (e − s* m)² − 4 n, 0)/(λ + Σ m²))      within 0 and 1, λ = 4
//
// s* is the coefficient of a regression, that of forecast encompassing (Harvey, Leybourne & Newbold 1998), shrunk to 1: small moves are published
// whole. Where adaptation has an amount for the change, errors are left of the size of a measurement's, and s is 1. Where more than two deviations are
// left it does not know the cause, and what moved the mean rightly of late may be wrong next: less is published.
package adapt

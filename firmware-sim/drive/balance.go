package drive

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Balance keeps the cartpole's pole upright while it drives the cart between
// random places. With the force
//
//	F = a (M + m sin²θ) − m l ω² sin θ + m g sin θ cos θ + c v
//
// the cart's acceleration is a, and the pole obeys l dω/dt = g sin θ − a cos θ.
// Linearised, a = k1 (pos − goal) + k2 v + k3 θ + k4 ω puts all four poles of the
// loop at −λ when
//
//	k1 = λ⁴ l/g   k2 = 4λ³ l/g   k3 = 6λ² l + g + k1 l   k4 = 4λ l + k2 l
//
// (comparing the coefficients of (s + λ)⁴).
type Balance struct {
	src                seed.Source
	g, big, small, l   float64
	friction           float64
	k1, k2, k3, k4     float64
	goal               Steps
	shake              Wander
	smoothGoal, follow float64
}

const (
	balancePole  = 2.5  // λ, 1/s
	balanceReach = 0.8  // m, how far from zero the cart is sent
	balanceShake = 0.6  // m/s², standard deviation of a random part of the acceleration
	balanceMax   = 10.0 // N, the motor's limit
)

// NewBalance returns the controller for ticks of tick seconds; it uses the
// default parameters of the plant, not its actual ones.
func NewBalance(p *plant.Plant, tick float64, src *seed.Source) *Balance {
	v := p.Values()
	b := &Balance{
		src: *src, g: v[0], big: v[1], small: v[2], l: v[3], friction: v[4],
		goal: NewSteps(2, 5, tick), shake: NewWander(1.5, tick),
		follow: -math.Expm1(-tick / 0.3),
	}
	const r = balancePole
	b.k1 = r * r * r * r * b.l / b.g
	b.k2 = 4 * r * r * r * b.l / b.g
	b.k3 = 6*r*r*b.l + b.g + b.k1*b.l
	b.k4 = 4*r*b.l + b.k2*b.l
	return b
}

// Command sets u[0] to the force, N.
func (b *Balance) Command(u, x []float64) {
	b.smoothGoal += b.follow * (balanceReach*b.goal.Next(&b.src) - b.smoothGoal)
	s, c := math.Sincos(x[2])
	lean := math.Remainder(x[2], 2*math.Pi)
	a := b.k1*(x[0]-b.smoothGoal) + b.k2*x[1] + b.k3*lean + b.k4*x[3]
	a += balanceShake * b.shake.Next(&b.src)
	force := a*(b.big+b.small*s*s) - b.small*b.l*x[3]*x[3]*s + b.small*b.g*s*c + b.friction*x[1]
	u[0] = clamp(force, -balanceMax, balanceMax)
}

// CopyFrom copies the state of another Balance.
func (b *Balance) CopyFrom(other Driver) { *b = *other.(*Balance) }

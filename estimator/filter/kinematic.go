package filter

// Chain is a position of which nothing measures the rate: an acceleration that wanders, integrated twice.
type Chain struct {
	Position, Rate int     // places of the channels
	Q              float64 // intensity of the white noise that drives the acceleration, unit²/s⁵
}

// Kinematic is the process of positions of which only derivatives are known to be: each chain is an integrated Wiener
// process (Särkkä & Solin 2019, Applied Stochastic Differential Equations, chapter 6.3), other channels are free.
type Kinematic struct {
	K      int // channels
	Chains []Chain
	Free   []float64 // K, variance that a step adds to a channel of no chain, unit²
}

// Dim returns K and an acceleration for each chain.
func (m *Kinematic) Dim() int { return m.K + len(m.Chains) }

// Step implements Process. It reads no input.
func (m *Kinematic) Step(next, f, q, x, _ []float64, dt float64) {
	n := m.Dim()
	copy(next, x)
	clear(f)
	for i := range n {
		f[i*n+i] = 1
	}
	for k, v := range m.Free {
		q[k*n+k] += v
	}
	half := dt * dt / 2
	for i := range m.Chains {
		c := &m.Chains[i]
		p, v, a := c.Position, c.Rate, m.K+i
		next[p] += dt*x[v] + half*x[a]
		next[v] += dt * x[a]
		f[p*n+v], f[p*n+a], f[v*n+a] = dt, half, dt
		t2, t3 := dt*dt, dt*dt*dt // Q ∫ G(s) G(s)ᵀ ds with G(s) = (s²/2, s, 1)
		for _, e := range [...]struct {
			i, j int
			v    float64
		}{{p, p, t3 * t2 / 20}, {p, v, t2 * t2 / 8}, {p, a, t3 / 6}, {v, v, t3 / 3}, {v, a, half}, {a, a, dt}} {
			q[e.i*n+e.j] += c.Q * e.v
			if e.i != e.j {
				q[e.j*n+e.i] += c.Q * e.v
			}
		}
	}
}

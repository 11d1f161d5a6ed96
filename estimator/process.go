package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// process draws errors of variance 1 that are smooth in time: the error of a channel is the
// integral of a Wiener process since the start of the prediction, divided by its standard
// deviation; that is the error of a state whose derivative is wrong by a drifting force,
// whatever the horizon. Of a channel whose derivative is a state it is the integral of that
// state's error, so that a position is in error by what the velocity before it was.
type process struct {
	order []int     // K: how often the Wiener process is integrated, 1 or more
	root  []int     // K: which Wiener process
	roots int       //
	most  int       // largest order
	move  []float64 // T×(most+1)²: what the integrals at a time have of those at the time before, lower triangle
	noise []float64 // T×(most+1)²: root of the covariance of what is new, lower triangle
	scale []float64 // T×K: one over the standard deviation of a channel's integral

	integrals, before, normal []float64 // most+1
}

func newProcess(states []channel.Channel, times []float64) process {
	p := process{most: 1}
	p.chains(states)
	n := p.most + 1
	covariance, root := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			covariance[i*n+j] = 1 / (float64(i+j+1) * factorial(i) * factorial(j)) // over one second
		}
	}
	semidefiniteRoot(root, covariance, n)
	before := 0.0
	for _, t := range times {
		h := t - before
		before = t
		for j := range n {
			for i := range n {
				move := 0.0
				if i <= j {
					move = math.Pow(h, float64(j-i)) / factorial(j-i)
				}
				p.move, p.noise = append(p.move, move), append(p.noise, math.Pow(h, float64(j)+0.5)*root[j*n+i])
			}
		}
		for _, order := range p.order {
			p.scale = append(p.scale, factorial(order)*math.Sqrt(float64(2*order+1))/math.Pow(t, float64(order)+0.5))
		}
	}
	p.integrals, p.before, p.normal = make([]float64, n), make([]float64, n), make([]float64, n)
	return p
}

func factorial(n int) float64 { return math.Gamma(float64(n + 1)) }

// draw writes the errors to dst (T×K).
func (p *process) draw(dst []float64, normal func() float64) {
	K := len(p.order)
	for root := range p.roots {
		clear(p.integrals)
		for i := range len(dst) / K {
			p.step(i, normal)
			for k, order := range p.order {
				if p.root[k] == root {
					dst[i*K+k] = p.integrals[order] * p.scale[i*K+k]
				}
			}
		}
	}
}

// step carries the Wiener process and its integrals on to time i, exactly.
func (p *process) step(i int, normal func() float64) {
	copy(p.before, p.integrals)
	n := len(p.integrals)
	for j := range p.normal {
		p.normal[j] = normal()
	}
	for j := range n {
		at := (i*n + j) * n
		p.integrals[j] = dot(p.noise[at:at+j+1], p.normal) + dot(p.move[at:at+j+1], p.before)
	}
}

// correlation returns that of the errors of a process, of all channels at the same time (K×K):
// of those that integrate the same Wiener process n and m times √((2n+1)(2m+1))/(n+m+1).
func (p *process) correlation() []float64 {
	K := len(p.order)
	out := make([]float64, K*K)
	for a, n := range p.order {
		for b, m := range p.order {
			if p.root[a] == p.root[b] {
				out[a*K+b] = math.Sqrt(float64((2*n+1)*(2*m+1))) / float64(n+m+1)
			}
		}
		out[a*K+a] = 1
	}
	return out
}

// chains sets for each channel how often its error integrates a Wiener process, and which one:
// that of the state at the end of its derivatives. Two states that integrate the same one
// equally often have processes of their own.
func (p *process) chains(states []channel.Channel) {
	for k := range states {
		order, at := 1, k
		for states[at].Derivative != "" && order <= len(states) {
			order, at = order+1, channel.Index(states, states[at].Derivative)
		}
		for j, other := range p.order {
			if other == order && p.root[j] == at {
				at = k
				break
			}
		}
		p.order, p.root = append(p.order, order), append(p.root, at)
		p.roots, p.most = max(p.roots, at+1), max(p.most, order)
	}
}

// semidefiniteRoot writes to L (n×n, lower triangle) a root of a positive semidefinite
// matrix, L Lᵀ = A (Cholesky; a column without variance is zero).
func semidefiniteRoot(L, A []float64, n int) {
	clear(L)
	for j := range n {
		d := A[j*n+j]
		for _, v := range L[j*n : j*n+j] {
			d -= v * v
		}
		if !(d > 1e-12*A[j*n+j]) {
			continue
		}
		L[j*n+j] = math.Sqrt(d)
		for i := j + 1; i < n; i++ {
			L[i*n+j] = (A[i*n+j] - dot(L[i*n:i*n+j], L[j*n:j*n+j])) / L[j*n+j]
		}
	}
}

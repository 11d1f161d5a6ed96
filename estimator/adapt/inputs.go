package adapt

// inputs keeps the integral of the input that was held, over the last horizon. It is a
// channel.Signal from a start on.
type inputs struct {
	p     int
	apart int64 // ns, least time between two entries
	t     []int64
	sum   []float64 // ×P, ∫u dt from the first sample on, input units times s
	first int
	n     int
	held  []float64 // P, from the newest entry on
	start int64     // ns, from which Mean counts
	to    []float64 // P
}

func newInputs(p int, horizon float64) *inputs {
	n := entries + 4
	return &inputs{p: p, apart: int64(horizon * 1e9 / entries), t: make([]int64, n), sum: make([]float64, n*p), held: make([]float64, p), to: make([]float64, p)}
}

// entries is how many of them the horizon has at most.
const entries = 128

func (r *inputs) at(i int) int { return (r.first + i) % len(r.t) }

func (r *inputs) reset() { r.first, r.n = 0, 0 }

// add adds the input u (P), held from t on.
func (r *inputs) add(t int64, u []float64) {
	if r.n == 0 {
		r.n = 1
		r.t[r.first] = t
		clear(r.sum[r.first*r.p : (r.first+1)*r.p])
		copy(r.held, u)
		return
	}
	last := r.at(r.n - 1)
	next := last
	if r.n == 1 || r.t[last]-r.t[r.at(r.n-2)] >= r.apart {
		if r.n == len(r.t) {
			r.first, r.n = r.at(1), r.n-1
		}
		next = r.at(r.n)
		r.n++
	}
	dt := seconds(t - r.t[last])
	for p, v := range r.held {
		r.sum[next*r.p+p] = r.sum[last*r.p+p] + v*dt
	}
	r.t[next] = t
	copy(r.held, u)
}

// integral writes the integral up to t to dst (P).
func (r *inputs) integral(dst []float64, t int64) {
	i := r.n - 1
	for i > 0 && r.t[r.at(i)] > t {
		i--
	}
	a := r.at(i)
	dt := seconds(t - r.t[a])
	for p := range dst {
		rate := r.held[p]
		if i < r.n-1 {
			b := r.at(i + 1)
			rate = (r.sum[b*r.p+p] - r.sum[a*r.p+p]) / seconds(r.t[b]-r.t[a])
		}
		dst[p] = r.sum[a*r.p+p] + rate*dt
	}
}

// mean writes the mean input from a to b, s after the start, to dst (P).
func (r *inputs) mean(dst []float64, a, b float64) {
	r.integral(r.to, r.start+int64(b*1e9))
	r.integral(dst, r.start+int64(a*1e9))
	for p, v := range r.to {
		dst[p] = (v - dst[p]) / (b - a)
	}
}

func seconds(ns int64) float64 { return float64(ns) * 1e-9 }

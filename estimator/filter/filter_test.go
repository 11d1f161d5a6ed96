package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/filter"
)

const interval = 10_000_000 // ns

// chain is a position of which nothing measures the rate.
func chain(t testing.TB, r, q float64) *filter.Filter {
	t.Helper()
	f, err := filter.New(filter.Config{
		Channels: []filter.Channel{{R: r}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: q}}},
		Start: []float64{4, 9, 25}, MaxGap: 0.3, Settled: []float64{0, 8.5},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// walk draws positions, rates and accelerations of the process itself from the distribution of the start, at times t, ns.
func walk(rng *rand.Rand, t []int64, q float64) (x [][3]float64) {
	now := [3]float64{2 * rng.NormFloat64(), 3 * rng.NormFloat64(), 5 * rng.NormFloat64()}
	for i := range t {
		if i > 0 {
			const parts = 20 // of the exact covariance of a part, by its Cholesky factor
			h := float64(t[i]-t[i-1]) * 1e-9 / parts
			for range parts {
				a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
				s := math.Sqrt(q)
				now = [3]float64{
					now[0] + h*now[1] + h*h/2*now[2] + s*math.Pow(h, 2.5)*a/math.Sqrt(20),
					now[1] + h*now[2] + s*math.Pow(h, 1.5)*(a*math.Sqrt(20)/8+b*math.Sqrt(1./3-20./64)),
					now[2] + s*math.Sqrt(h)*(a*math.Sqrt(20)/6+b*(0.5-20./48)/math.Sqrt(1./3-20./64)+c*math.Sqrt(1-20./36-math.Pow(0.5-20./48, 2)/(1./3-20./64))),
				}
			}
		}
		x = append(x, now)
	}
	return x
}

func stamps(n int) (t []int64) {
	for i := range n {
		t = append(t, int64(i)*interval)
	}
	return t
}

// The estimate is that of all measurements together: the conditional mean and covariance of one normal distribution.
func TestEqualsConditioning(t *testing.T) {
	const n, r, q = 12, 0.01, 50.
	rng := rand.New(rand.NewPCG(1, 2))
	at := stamps(n)
	for i := range at { // not regular
		at[i] += rng.Int64N(interval / 2)
	}
	x, f := walk(rng, at, q), chain(t, r, q)
	// Covariance of the states at all times, from that of the start.
	all := mat.NewSymDense(3*n, nil)
	step := func(dt float64) (F, Q *mat.Dense) {
		F = mat.NewDense(3, 3, []float64{1, dt, dt * dt / 2, 0, 1, dt, 0, 0, 1})
		Q = mat.NewDense(3, 3, nil)
		g := func(i int) float64 { return [...]float64{2, 1, 1}[i] }
		for i := range 3 {
			for j := range 3 {
				k := float64(5 - i - j) // ∫ s^(2−i) s^(2−j) ds over (2−i)! (2−j)!
				Q.Set(i, j, q*math.Pow(dt, k)/k/g(i)/g(j))
			}
		}
		return F, Q
	}
	P := mat.NewDense(3, 3, []float64{r, 0, 0, 0, 9, 0, 0, 0, 25}) // the first measurement is where it begins
	put := func(i, j int, m mat.Matrix) {
		for a := range 3 {
			for b := range 3 {
				all.SetSym(3*i+a, 3*j+b, m.At(a, b))
			}
		}
	}
	for i := range n {
		if i > 0 {
			F, Q := step(float64(at[i]-at[i-1]) * 1e-9)
			next := new(mat.Dense)
			next.Product(F, P, F.T())
			next.Add(next, Q)
			P = next
		}
		put(i, i, P)
		for j := i; j+1 < n; j++ { // Cov(x_i, x_j+1) = P_i Fᵀ … Fᵀ
			m := mat.DenseCopyOf(P)
			for l := i; l <= j; l++ {
				F, _ := step(float64(at[l+1]-at[l]) * 1e-9)
				m.Mul(mat.DenseCopyOf(m), F.T())
			}
			put(i, j+1, m)
		}
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = x[i][0] + math.Sqrt(r)*rng.NormFloat64()
		f.Update(at[i], []float64{y[i], math.NaN()}, nil)
	}
	// Condition the last state on measurements 1 … n−1; the mean before them is y_0, 0, 0.
	S, c := mat.NewSymDense(n-1, nil), mat.NewDense(3, n-1, nil)
	d := mat.NewVecDense(n-1, nil)
	for i := 1; i < n; i++ {
		d.SetVec(i-1, y[i]-y[0])
		for j := i; j < n; j++ {
			S.SetSym(i-1, j-1, all.At(3*i, 3*j))
		}
		S.SetSym(i-1, i-1, all.At(3*i, 3*i)+r)
		for a := range 3 {
			c.Set(a, i-1, all.At(3*i, 3*(n-1)+a))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(S) {
		t.Fatal("not positive definite")
	}
	var w, mean mat.VecDense
	if err := chol.SolveVecTo(&w, d); err != nil {
		t.Fatal(err)
	}
	mean.MulVec(c, &w)
	var inner, less mat.Dense
	if err := chol.SolveTo(&inner, c.T()); err != nil {
		t.Fatal(err)
	}
	less.Mul(c, &inner)
	got, cov := f.Estimate(), make([]float64, 4)
	f.Covariance(cov)
	for a := range 2 {
		want := mean.AtVec(a)
		if a == 0 {
			want += y[0]
		}
		if math.Abs(got[a]-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("state %d is %v, conditioned %v", a, got[a], want)
		}
		for b := range 2 {
			want := all.At(3*(n-1)+a, 3*(n-1)+b) - less.At(a, b)
			if math.Abs(cov[2*a+b]-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("covariance %d,%d is %v, conditioned %v", a, b, cov[2*a+b], want)
			}
		}
	}
}

// Over many flights of the process itself the normalised errors and innovations squared are what they must be.
func TestConsistent(t *testing.T) {
	const flights, n, r, q = 300, 60, 0.01, 50.
	rng := rand.New(rand.NewPCG(3, 4))
	nees, nis, used := 0., 0., 0
	lagged, pairs := 0., 0
	for range flights {
		f, at := chain(t, r, q), stamps(n)
		p := make([]float64, 4)
		for i, x := range walk(rng, at, q) {
			if res := f.Update(at[i], []float64{x[0] + math.Sqrt(r)*rng.NormFloat64(), math.NaN()}, nil); i > 0 {
				nis, used = nis+res.NIS, used+res.Used
				lagged, pairs = lagged+res.Lagged, pairs+res.Pairs
			}
			if i == n-1 {
				f.Covariance(p)
				e := f.Estimate()
				a, b, det := e[0]-x[0], e[1]-x[1], p[0]*p[3]-p[1]*p[2]
				nees += (p[3]*a*a - 2*p[1]*a*b + p[0]*b*b) / det
			}
		}
	}
	// χ² of so many degrees of freedom, within four standard deviations.
	if d := 2. * flights; math.Abs(nees-d) > 4*math.Sqrt(2*d) {
		t.Errorf("normalised errors squared are %.3f of what they must be", nees/d)
	}
	if d := float64(used); math.Abs(nis-d) > 4*math.Sqrt(2*d) {
		t.Errorf("normalised innovations squared are %.3f of what they must be", nis/d)
	}
	if d := float64(pairs); pairs != flights*(n-2) || math.Abs(lagged) > 4*math.Sqrt(d) {
		t.Errorf("the correlation of %d pairs of innovations is %.3f", pairs, lagged/d)
	}
}

// An estimate counts from when its variance has come down, and a variance that grows while nothing is measured does not end that.
// Motion that the process does not explain does, where its variance is several times as large then, until that has come down again.
func TestSettledUntilSurprised(t *testing.T) {
	const most = 0.05
	f, err := filter.New(filter.Config{
		Channels: []filter.Channel{{R: 1e-4}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: 1}}},
		Start: []float64{4, 9, 25}, MaxGap: 1, Settled: []float64{0, most},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	at, y := int64(0), []float64{0, math.NaN()}
	step := func(x float64) filter.Result {
		at += interval
		y[0] = x
		return f.Update(at, y, nil)
	}
	for range 100 {
		step(0)
	}
	p := make([]float64, 4)
	for range 50 {
		step(math.NaN())
	}
	if f.Covariance(p); !f.Settled() || p[3] < most {
		t.Fatalf("without a measurement for 0.5 s: settled %v, variance of the rate %v", f.Settled(), p[3])
	}
	for range 50 {
		step(0)
	}
	if first, second := step(0.12), step(0.12); first.Rejected != 1 || second.Rejected != 0 || !f.Settled() {
		t.Fatalf("a small step: %+v, %+v, settled %v", first, second, f.Settled())
	}
	for range 50 {
		step(0)
	}
	if first, second := step(0.45), step(0.48); first.Rejected != 1 || second.Rejected != 0 || second.Reset != filter.None || f.Settled() {
		t.Fatalf("%+v, %+v, settled %v", first, second, f.Settled())
	}
	for i := range 20 {
		step(0.48 + 0.03*float64(i+1))
	}
	if !f.Settled() || math.Abs(f.Estimate()[1]-3) > 0.3 {
		t.Errorf("0.2 s later: settled %v, %v", f.Settled(), f.Estimate())
	}
}

// The innovations of a filter that follows too slowly have the sign of those before, those of one that follows too fast the other.
func TestWhitenessShowsTheWrongIntensity(t *testing.T) {
	const q = 50.
	for _, c := range []struct{ factor, low, high float64 }{{1e-4, 0.1, 1}, {1, -0.05, 0.05}, {1e4, -1, -0.1}} {
		rng := rand.New(rand.NewPCG(5, 6))
		lagged, squares, n := 0., 0., 0.
		for range 50 {
			f, at := chain(t, 0.01, q*c.factor), stamps(100)
			for i, x := range walk(rng, at, q) {
				if res := f.Update(at[i], []float64{x[0] + 0.1*rng.NormFloat64(), math.NaN()}, nil); i > 30 {
					lagged, squares, n = lagged+res.Lagged, squares+res.NIS, n+1
				}
			}
		}
		if r := lagged / squares; !(r >= c.low && r <= c.high) {
			t.Errorf("with %v times the intensity the innovations have a correlation of %.3f", c.factor, r)
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	f, i, y := chain(t, 1e-4, 100), int64(0), []float64{0, math.NaN()}
	if n := testing.AllocsPerRun(100, func() {
		i += interval
		f.Update(i, y, nil)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestConfigurationsThatContradictThemselves(t *testing.T) {
	good := func() filter.Config {
		return filter.Config{Channels: []filter.Channel{{R: 1}}, Process: &filter.Kinematic{K: 1}, Start: []float64{1}, MaxGap: 1}
	}
	if _, err := filter.New(good(), 0); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(c *filter.Config){
		"no process":     func(c *filter.Config) { c.Process = nil },
		"no channel":     func(c *filter.Config) { c.Channels = nil },
		"few variances":  func(c *filter.Config) { c.Start = nil },
		"no variance":    func(c *filter.Config) { c.Start[0] = 0 },
		"negative noise": func(c *filter.Config) { c.Channels[0].R = -1 },
		"gate":           func(c *filter.Config) { c.Gate = -1 },
		"gap":            func(c *filter.Config) { c.MaxGap = 0 },
	} {
		c := good()
		if spoil(&c); func() error { _, err := filter.New(c, 0); return err }() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever comes, the state is finite and the covariance positive.
func FuzzUpdate(f *testing.F) {
	f.Add(int64(1e7), 1.0, int64(1e7), 2.0, int64(2e7), math.Inf(1))
	f.Add(int64(-1), math.NaN(), int64(1<<62), 1e300, int64(0), -1e-300)
	f.Fuzz(func(t *testing.T, a int64, x float64, b int64, y float64, c int64, z float64) {
		k := chain(t, 1e-4, 100)
		at, p := int64(0), make([]float64, 4)
		for i := range 60 {
			at += [...]int64{a, b, c}[i%3]
			k.Update(at, []float64{[...]float64{x, y, z}[i%3], math.NaN()}, nil)
			if !k.Settled() {
				continue
			}
			k.Covariance(p)
			e := k.Estimate()
			if sum := e[0] + e[1]; math.IsNaN(sum) || math.IsInf(sum, 0) || !(p[0] > 0 && p[3] > 0 && p[1]*p[1] <= p[0]*p[3]*(1+1e-6)) {
				t.Fatalf("sample %d: %v, %v", i, e, p)
			}
		}
	})
}

// BenchmarkQuadrotor is a sample of six positions whose rates are estimated.
func BenchmarkQuadrotor(b *testing.B) {
	p := &filter.Kinematic{K: 12}
	c := filter.Config{Process: p, MaxGap: 1}
	for k := range 12 {
		c.Channels = append(c.Channels, filter.Channel{R: 1e-4})
		if k < 6 {
			p.Chains = append(p.Chains, filter.Chain{Position: k, Rate: 6 + k, Q: 100})
		}
	}
	for range p.Dim() {
		c.Start = append(c.Start, 1)
	}
	f, err := filter.New(c, 4)
	if err != nil {
		b.Fatal(err)
	}
	y, u, t := make([]float64, 12), make([]float64, 4), int64(0)
	for k := 6; k < 12; k++ {
		y[k] = math.NaN()
	}
	b.ReportAllocs()
	for b.Loop() {
		t += interval
		f.Update(t, y, u)
	}
}

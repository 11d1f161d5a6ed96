package simd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// everywhere runs a test on every unit of this processor.
func everywhere(t *testing.T, test func(t *testing.T, u simd.Unit)) {
	for _, u := range simd.Units() {
		t.Run(u.String(), func(t *testing.T) { test(t, u) })
	}
}

func TestUnits(t *testing.T) {
	units := simd.Units()
	if units[len(units)-1] != simd.Plain || simd.Best() != units[0] {
		t.Errorf("units are %v, the best is %v", units, simd.Best())
	}
}

func singles(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// column returns the values in a part's L in row r of panel p, column c.
func column(l []float32, p *simd.Part, panel, c, r int) float64 {
	at, k := 0, p.K
	for range panel {
		at += simd.Rows*k + p.Skip
		k += p.Grow
	}
	if c >= k {
		return 0
	}
	return float64(l[at+c*simd.Rows+r])
}

// random draws a part for so many panels.
func random(rng *rand.Rand, panels int) simd.Part {
	p := simd.Part{K: rng.IntN(8), Grow: []int{0, 0, 4, 1}[rng.IntN(4)], Skip: []int{0, 0, 8}[rng.IntN(3)]}
	most := p.K + p.Grow*panels
	p.L = singles(rng, panels*(simd.Rows*most+p.Skip))
	p.X = singles(rng, most*simd.Width)
	return p
}

func TestProducts(t *testing.T) {
	everywhere(t, func(t *testing.T, u simd.Unit) {
		rng := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			const width = simd.Width
			panels := rng.IntN(6)
			var parts []simd.Part
			for range 1 + rng.IntN(4) {
				parts = append(parts, random(rng, panels))
			}
			dst := singles(rng, panels*simd.Rows*width+3)
			behind := dst[len(dst)-3]
			squares := singles(rng, width+1)
			before := append([]float32(nil), squares...)
			for range 2 { // a product leaves its parts as they were
				u.Product(dst, panels, parts)
			}
			u.SumSquares(squares, panels, parts)
			sums := make([]float64, width)
			for p := range panels {
				for r := range simd.Rows {
					for lane := range width {
						want, size := 0.0, 1.0
						for i := range parts {
							q := &parts[i]
							for c := range q.K + q.Grow*p {
								v := column(q.L, q, p, c, r) * float64(q.X[c*width+lane])
								want += v
								size += math.Abs(v)
							}
						}
						got := float64(dst[(p*simd.Rows+r)*width+lane])
						if math.Abs(got-want) > 1e-6*size {
							t.Fatalf("panel %d, row %d, lane %d: %v, expected %v", p, r, lane, got, want)
						}
						sums[lane] += want * want
					}
				}
			}
			for lane, s := range sums {
				want := float64(before[lane]) + s
				if math.Abs(float64(squares[lane])-want) > 2e-6*(1+s) {
					t.Fatalf("lane %d: squares %v, expected %v", lane, squares[lane], want)
				}
			}
			if dst[len(dst)-3] != behind || squares[width] != before[width] {
				t.Fatal("written behind the end")
			}
		}
	})
}

func TestAddScaled(t *testing.T) {
	everywhere(t, func(t *testing.T, u simd.Unit) {
		rng := rand.New(rand.NewPCG(3, 1))
		for rows := range 6 {
			n := rows * simd.Width
			dst, scale, src := singles(rng, n+1), singles(rng, simd.Width), singles(rng, n)
			want := append([]float32(nil), dst...)
			u.AddScaled(dst[:n], scale, src)
			for i, v := range src {
				want[i] += scale[i%simd.Width] * v
			}
			for i, v := range dst {
				if math.Abs(float64(v-want[i])) > 1e-6 || i == n && v != want[i] {
					t.Fatalf("%d rows: number %d is %v, expected %v", rows, i, v, want[i])
				}
			}
		}
	})
}

// Sums of products are the same on all units, bit by bit, and rows that are 0 are left out where that is asked.
func TestAddTerms(t *testing.T) {
	everywhere(t, func(t *testing.T, u simd.Unit) {
		rng := rand.New(rand.NewPCG(4, 1))
		rows := func(n int) []float64 {
			out := make([]float64, n*simd.Width)
			for i := range out {
				out[i] = rng.NormFloat64()
			}
			return out
		}
		dst, a, b := rows(5), rows(4), rows(3)
		clear(a[2*simd.Width : 3*simd.Width])
		for i := range simd.Width {
			b[2*simd.Width+i] = math.Inf(1)
		}
		list := []simd.Term{{Row: 0, A: 1, B: 1, S: 1}, {Row: 3, A: 3, B: 0, S: -0.7}, {Row: 3, A: 0, B: 1, S: 1.3}, {Row: 1, A: 2, B: 2, S: 1}}
		for _, sparse := range []bool{true, false} {
			got, want := append([]float64(nil), dst...), append([]float64(nil), dst...)
			terms := simd.NewTerms(list)
			u.AddTerms(got[:4*simd.Width], a, b, &terms, sparse)
			for _, term := range list {
				for i := range simd.Width {
					y, scaled := &want[term.Row*simd.Width+i], float64(term.S*a[term.A*simd.Width+i])
					if term.A != 2 || !sparse {
						*y += float64(scaled * b[term.B*simd.Width+i]) // a conversion keeps arm64 from fusing product and sum
					}
				}
			}
			for i, v := range got {
				if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
					t.Fatalf("sparse %v: number %d is %v, expected %v", sparse, i, v, want[i])
				}
			}
		}
	})
}

// Phases of all sizes: what is left of the error beside the rounding of θ.
func TestRandomFeatures(t *testing.T) {
	everywhere(t, func(t *testing.T, u simd.Unit) {
		rng := rand.New(rand.NewPCG(2, 1))
		worst := 0.0
		for range 400 {
			const width = simd.Width
			half, d := rng.IntN(9), 1+rng.IntN(5)
			size := math.Exp(6 * rng.NormFloat64())
			omega, weights, z := singles(rng, half*d), singles(rng, 2*half), singles(rng, d*width)
			for i := range z {
				z[i] *= float32(size)
			}
			if d > 1 { // θ then is one exact product
				for i := range omega {
					if i%d > 0 {
						omega[i] = 0
					}
				}
			}
			for i := range omega {
				omega[i] = float32(math.RoundToEven(float64(omega[i]) * 4)) // few digits: θ is not rounded
			}
			for i := range z {
				z[i] = math.Float32frombits(math.Float32bits(z[i]) &^ 0xfff)
			}
			x, mean := singles(rng, 2*half*width+1), singles(rng, width)
			start := append([]float32(nil), mean...)
			behind := x[2*half*width]
			u.RandomFeatures(x, mean, omega, weights, z, d)
			alone := append([]float32(nil), start...)
			u.RandomFeatures(nil, alone, omega, weights, z, d)
			cosines := append([]float32(nil), start...)
			u.RandomMeans(cosines, omega, weights, simd.Cosines(weights), z, d)
			for lane := range width {
				sum, total, largest := float64(start[lane]), 1.0, 0.0
				for j := range half {
					theta := float64(omega[j*d]) * float64(z[lane])
					sin, cos := math.Sincos(math.Pi * math.Mod(theta, 2))
					largest = max(largest, math.Abs(theta))
					for i, want := range []float64{cos, sin} {
						got := float64(x[(i*half+j)*width+lane])
						worst = max(worst, math.Abs(got-want))
						if math.Abs(got-want) > 2.5e-7 {
							t.Fatalf("θ = %v half turns: %v, expected %v", theta, got, want)
						}
						sum += float64(weights[2*j+i]) * want
						total += math.Abs(float64(weights[2*j+i]))
					}
				}
				if math.Abs(float64(mean[lane])-sum) > 3e-7*total || mean[lane] != alone[lane] {
					t.Fatalf("mean %v and %v, expected %v", mean[lane], alone[lane], sum)
				}
				// A phase rounds θ.
				if math.Abs(float64(cosines[lane])-sum) > (4e-7+4e-7*largest)*total {
					t.Fatalf("mean by cosines %v, expected %v", cosines[lane], sum)
				}
			}
			if x[2*half*width] != behind {
				t.Fatal("written behind the end")
			}
		}
		t.Logf("largest error of sine and cosine: %.2g", worst)
	})
}

func TestLogistic(t *testing.T) {
	everywhere(t, func(t *testing.T, u simd.Unit) {
		worst := 0.0
		var x [2 * simd.Width]float32
		for v := float32(-120); v < 120; v += 0.0371 {
			for i := range x {
				x[i] = v * (1 + float32(i)/64)
			}
			was := x
			u.Logistic(x[:], 1, 1, 0)
			for i, got := range x {
				want := 1 / (1 + math.Exp(-float64(was[i])))
				worst = max(worst, math.Abs(float64(got)-want))
				// The relative error of e^−x is that of x's rounding, and a few units more.
				if e := math.Abs(float64(got) - want); e > 1.5e-7 || (was[i] > -79 && e > 1e-6*want) || !(got >= 0 && got <= 1) {
					t.Fatalf("at %v: %v, expected %v", was[i], got, want)
				}
			}
			x = was
			u.Logistic(x[:], 2, 2, -1)
			for i, got := range x {
				if want := math.Tanh(float64(was[i])); math.Abs(float64(got)-want) > 2.5e-7 {
					t.Fatalf("tanh of %v: %v, expected %v", was[i], got, want)
				}
			}
		}
		t.Logf("largest error: %.2g", worst)
		x[3], x[4], x[5] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
		u.Logistic(x[:], 1, 1, 0)
		if !math.IsNaN(float64(x[3])) || x[4] != 1 || !(x[5] < 1e-30) {
			t.Errorf("of NaN and ±Inf: %v", x[3:6])
		}
	})
}

func TestClamp(t *testing.T) {
	everywhere(t, func(t *testing.T, u simd.Unit) {
		const n = 2 * simd.Width
		var x, low, high, got [n + simd.Width]float32
		for i := range x {
			x[i], low[i], high[i] = float32(i%7)-3, -float32(i%3), float32(i%5)/2
		}
		x[3], x[20], low[5], high[6] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Inf(1))
		u.Clamp(got[:n], x[:], low[:], high[:])
		for i := range got {
			want := min(max(x[i], low[i]), high[i])
			if i >= n {
				want = 0 // not written
			}
			if got[i] != want && !(math.IsNaN(float64(got[i])) && i == 3) {
				t.Errorf("%d: %v between %v and %v is %v", i, x[i], low[i], high[i], got[i])
			}
		}
	})
}

func TestPacking(t *testing.T) {
	at := func(r, c int) float64 { return float64(10*r + c + 1) }
	panels := make([]float32, simd.Panels(5)*simd.Rows*2)
	simd.Pack(panels, 5, 2, at)
	if got, want := fmt.Sprint(panels), "[1 11 21 31 2 12 22 32 41 0 0 0 42 0 0 0]"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	lower := make([]float32, simd.LowerSize(5))
	square := make([]float64, 0, 5*7)
	for r := range 5 {
		for c := range 7 { // two more than belong to it
			square = append(square, at(r, c))
		}
	}
	for i := range lower {
		lower[i] = -1
	}
	simd.PackLower(lower, 5, square, 7)
	want := []float32{1, 11, 21, 31, 0, 12, 22, 32, 0, 0, 23, 33, 0, 0, 0, 34}
	for c := range 8 {
		v := float32(0)
		if c < 5 {
			v = float32(41 + c)
		}
		want = append(want, v, 0, 0, 0)
	}
	if fmt.Sprint(lower) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v", lower, want)
	}
	if simd.Single(1e-40) != 0 || simd.Single(-1e-40) != 0 || simd.Single(-2e-38) != -2e-38 {
		t.Error("what is no normal number is not 0, or what is one, is")
	}
}

func TestMisuse(t *testing.T) {
	u := simd.Best()
	n := make([]float32, 256)
	part := []simd.Part{{L: n[:8], X: n[:32], K: 2}}
	terms, d := simd.NewTerms([]simd.Term{{Row: 1, A: 0, B: 2}}), make([]float64, 64)
	for what, f := range map[string]func(){
		"terms of dst":   func() { u.AddTerms(d[:31], d, d, &terms, false) },
		"terms of a":     func() { u.AddTerms(d, d[:15], d, &terms, false) },
		"terms of b":     func() { u.AddTerms(d, d, d[:47], &terms, false) },
		"negative row":   func() { simd.NewTerms([]simd.Term{{A: -1}}) },
		"dst":            func() { u.Product(n[:63], 1, part) },
		"panels":         func() { u.Product(n, 2, part) },
		"x":              func() { u.Product(n, 1, []simd.Part{{L: n[:8], X: n[:31], K: 2}}) },
		"negative":       func() { u.Product(n, 1, []simd.Part{{L: n, X: n, K: -1}}) },
		"no parts":       func() { u.Product(n, 1, nil) },
		"sum":            func() { u.SumSquares(n[:15], 1, part) },
		"z":              func() { u.RandomFeatures(n, n, n[:4], n[:4], n[:31], 2) },
		"omega":          func() { u.RandomFeatures(n, n, n[:5], n[:4], n, 2) },
		"features":       func() { u.RandomFeatures(n[:63], n, n[:4], n[:4], n, 2) },
		"scales":         func() { u.AddScaled(n[:32], n[:15], n[:32]) },
		"rows":           func() { u.AddScaled(n[:32], n, n[:16]) },
		"a broken block": func() { u.Logistic(n[:15], 1, 1, 0) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); len(s) < 6 || s[:6] != "simd: " {
					t.Errorf("%s: no panic with a constant", what)
				}
			}()
			f()
		}()
	}
}

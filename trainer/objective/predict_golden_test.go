package objective

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

type goldenTests struct {
	Raw struct {
		Horizon float64
		T       []float64
		Test    struct {
			T     []float64
			X0    [][]float64
			Knots [][][]float64
		}
	}
	Result struct {
		TestRaw  struct{ Mean, Std, DMean, DStd [][]float64 } `json:"test_raw"`
		SigmaRaw []float64                                    `json:"sigma_raw"`
	}
}

// TestGoldenPrediction takes the golden parameters through the model file and
// the predictor that flies. A file of version 2 keeps L⁻¹ of random features in single
// precision, so their std is asked to 1e-4 of the golden one after the file, and
// to the tolerance of the objective before it. One of version 3 keeps three bytes a number: where the posterior is 200
// times narrower than the prior (rff-ill) that is 0.2 % of a std, and the trainer takes version 2.
func TestGoldenPrediction(t *testing.T) {
	for _, name := range goldenCases {
		t.Run(name, func(t *testing.T) {
			g := readGolden(t, name)
			raw, err := os.ReadFile(filepath.Join("testdata", "smoother-"+name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var tests goldenTests
			if err := json.Unmarshal(raw, &tests); err != nil {
				t.Fatal(err)
			}
			m := goldenModel(t, g, &tests)
			compareTests(t, m, &tests, tolerance(name))
			for version, most := range map[int]float64{2: 1e-4, 3: 3e-3} {
				m.Format = version
				file, err := m.Encode()
				if err != nil {
					t.Fatal(err)
				}
				flown, err := model.Decode(file)
				if err != nil {
					t.Fatal(err)
				}
				compareTests(t, flown, &tests, most)
			}
		})
	}
}

func goldenModel(t *testing.T, g *golden, tests *goldenTests) *model.Model {
	t.Helper()
	_, p, b, in := g.problem()
	d := g.Dims
	e := feature.NewEval(&p.Map, d.N)
	p.Map.Forward(e, b.Obs, false)
	post := model.Posterior{LogSigma: p.LogSigma}
	if g.Kernel == "exact" {
		post.Exact = &model.Exact{N: d.N, Gate: b.Obs.Gate}
	}
	for k := range d.K {
		r, prec := make([]float64, d.N), make([]float64, d.N)
		for i := range r {
			mu, _ := p.Map.Mu(e, i, k)
			r[i], prec[i] = b.Y[i*d.K+k]-mu, math.Exp(-2*p.LogSigma[k])
		}
		if post.Exact != nil {
			kernel := posterior.NewExact(d.N, 0)
			inverse := make([]float64, d.N*(d.N+1)/2)
			if _, ok := kernel.Condition(&p.Map, e, k, r, prec); !ok {
				t.Fatal("conditioning failed")
			}
			kernel.InverseFactor(inverse)
			post.Weights = append(post.Weights, kernel.Alpha())
			post.InverseFactor = append(post.InverseFactor, inverse)
			var z []float64
			for i := range d.N {
				zi, _ := p.Map.Z(e, i, k)
				z = append(z, zi...)
			}
			post.Exact.Z = append(post.Exact.Z, z)
			continue
		}
		// In three pieces, as a long log would be.
		sum, phi := posterior.NewSum(d.F, d.N), feature.NewPhi(&p.Map, d.N)
		p.Map.RandomFeatures(phi, e, k)
		sum.Reset()
		for _, cut := range [][2]int{{0, d.N / 3}, {d.N / 3, d.N / 2}, {d.N / 2, d.N}} {
			sum.Add(phi.Phi[cut[0]*d.F:], cut[1]-cut[0], r[cut[0]:], prec[cut[0]:])
		}
		if !sum.Solve() {
			t.Fatal("conditioning failed")
		}
		post.Weights = append(post.Weights, sum.Weights())
		post.InverseFactor = append(post.InverseFactor, sum.InverseFactor())
	}
	m := &model.Model{
		Vehicle: "golden", Horizon: math.Max(tests.Raw.Horizon, 1), Points: 1, Inputs: *in,
		Origin: g.Scaler.XMean, Scale: g.Scaler.XStd, NoiseKnots: []float64{0}, Sensor: make([]float64, d.K),
		Members:  []model.Member{{Map: p.Map, Posterior: []model.Posterior{post}}},
		Dynamics: model.Dynamics{Net: p.Dynamics},
	}
	for k := range d.K {
		m.Channels = append(m.Channels, channel.Channel{Name: string(rune('a' + k)), Role: channel.State})
	}
	for k := range d.P {
		m.Channels = append(m.Channels, channel.Channel{Name: string(rune('u' + k)), Role: channel.Input})
	}
	return m
}

func compareTests(t *testing.T, m *model.Model, tests *goldenTests, tol float64) {
	t.Helper()
	var mean, std, dmean, dstd, obs, wantObs []float64
	q := &tests.Raw.Test
	for i, at := range q.T {
		p, err := estimator.New(m, []float64{at})
		if err != nil {
			t.Fatal(err)
		}
		query := estimator.Query{X0: q.X0[i]}
		if m.P > 0 {
			query.Plan = flat(q.Knots[i])
		}
		dst := p.NewPrediction().WithDerivatives()
		if !p.Predict(dst, &query) {
			t.Fatal("prediction failed")
		}
		mean, std = append(mean, dst.Mean...), append(std, dst.Std...)
		dmean, dstd = append(dmean, dst.DMean...), append(dstd, dst.DStd...)
		obs = append(obs, dst.ObsStd...)
		for k, s := range tests.Result.TestRaw.Std[i] {
			wantObs = append(wantObs, math.Hypot(s, tests.Result.SigmaRaw[k]))
		}
	}
	r := &tests.Result.TestRaw
	for _, c := range []struct {
		what      string
		got, want []float64
	}{
		{"mean", mean, flat(r.Mean)}, {"std", std, flat(r.Std)}, {"dmean", dmean, flat(r.DMean)},
		{"dstd", dstd, flat(r.DStd)}, {"obs_std", obs, wantObs},
	} {
		if d := worst(c.got, c.want); d > tol {
			t.Errorf("%s: deviation %.2g, want below %.0g", c.what, d, tol)
		}
	}
}

package objective

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

type goldenLayer struct {
	W [][]float64 `json:"W"`
	B []float64   `json:"b"`
}

type goldenGrad struct {
	Core     []goldenLayer `json:"core"`
	Mean     goldenLayer   `json:"mean"`
	Feat     []goldenLayer `json:"feat"`
	Dyn      []goldenLayer `json:"dyn"`
	LogSigma []float64     `json:"log_sigma"`
}

type goldenPoints struct {
	Mean, Std, DMean, DStd, F, SD [][]float64
}

type golden struct {
	Case   string
	Kernel string
	Dims   struct{ K, P, J, D, F, M, N, Ns, Nt int }
	Scaler struct {
		TMean float64   `json:"t_mean"`
		TStd  float64   `json:"t_std"`
		XMean []float64 `json:"x_mean"`
		XStd  []float64 `json:"x_std"`
		UMean []float64 `json:"u_mean"`
		UStd  []float64 `json:"u_std"`
	}
	Standardised struct {
		Y        [][]float64
		S        [][]float64
		SSupport [][]float64 `json:"S_support"`
		STest    [][]float64 `json:"S_test"`
		USupport [][]float64 `json:"U_support"`
	}
	Params  goldenGrad
	Omega   [][]float64
	Weights struct {
		Lambda float64
		WdS    float64 `json:"wd_S"`
		WdD    float64 `json:"wd_D"`
	}
	Result struct {
		Obs struct {
			Mu, DMu [][]float64
			Z, DZ   [][][]float64
		}
		Posterior struct {
			W, Alpha [][]float64
		}
		QuadK         []float64 `json:"quad_k"`
		LogdetK       []float64 `json:"logdet_k"`
		LDataK        []float64 `json:"L_data_k"`
		LData         float64   `json:"L_data"`
		WMean         float64   `json:"W_mean"`
		WStd          float64   `json:"W_std"`
		DecayS        float64   `json:"decay_S"`
		DecayD        float64   `json:"decay_D"`
		L             float64
		Support, Test goldenPoints
		Grad          goldenGrad
		GradData      goldenGrad `json:"grad_data"`
		GradW         goldenGrad `json:"grad_W"`
	}
}

var goldenCases = []string{"exact-single", "rff-single", "rff-multi", "exact-multi", "rff-inputs", "rff-ill"}

// tolerance is what the condition number of a case leaves to float64.
func tolerance(name string) float64 {
	if name == "rff-ill" {
		return 1e-8
	}
	return 1e-10
}

func readGolden(t *testing.T, name string) *golden {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "smoother-"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	g := new(golden)
	if err := json.Unmarshal(raw, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func flat(rows [][]float64) []float64 {
	var out []float64
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

// fill writes golden layers into our parameters; the head is one matrix of the
// mean head and the feature heads side by side.
func (g *goldenGrad) fill(p *Params) {
	for i, l := range g.Core {
		copy(p.Map.Core.Layers[i].W, flat(l.W))
		copy(p.Map.Core.Layers[i].B, l.B)
	}
	for i, l := range g.Dyn {
		copy(p.Dynamics.Layers[i].W, flat(l.W))
		copy(p.Dynamics.Layers[i].B, l.B)
	}
	h := &p.Map.Head.Layers[0]
	K, D := p.Map.K, p.Map.D
	for r := range h.In {
		copy(h.W[r*h.Out:], g.Mean.W[r])
		for k := range K {
			copy(h.W[r*h.Out+K+k*D:], g.Feat[k].W[r])
		}
	}
	copy(h.B, g.Mean.B)
	for k := range K {
		copy(h.B[K+k*D:], g.Feat[k].B)
	}
	copy(p.LogSigma, g.LogSigma)
}

// problem builds parameters, batch and spec of a golden case.
func (g *golden) problem() (Spec, *Params, *Batch, *feature.Inputs) {
	d := g.Dims
	in := &feature.Inputs{
		TimeMean: g.Scaler.TMean, TimeStd: g.Scaler.TStd, Lift: channel.Identity(d.K),
		Knots: d.J, InputMean: g.Scaler.UMean, InputStd: g.Scaler.UStd,
	}
	in.Lift.Mean, in.Lift.Std = g.Scaler.XMean, g.Scaler.XStd
	s := mlp.Sigmoid
	m := feature.NewMap(in.Dim(), d.K, d.D, d.F, []int{10, 5}, []mlp.Activation{s, s}, feature.Basis{}, false)
	copy(m.Omega, flat(g.Omega))
	p := Bind(m, mlp.New([]int{d.K + d.P, 20, 20, 2 * d.K}, []mlp.Activation{s, s, mlp.Linear}), 1)
	g.Params.fill(p)

	shared := d.N == d.Ns && worst(flat(g.Standardised.SSupport), flat(g.Standardised.S)) == 0
	ns := d.Ns
	if shared {
		ns = 0
	}
	b := NewBatch(&p.Map, in, 1, d.N, ns)
	fillRows(b.Obs, in, g.Standardised.S)
	if !shared {
		fillRows(b.Sup, in, g.Standardised.SSupport)
	}
	copy(b.Y, flat(g.Standardised.Y))
	for i := range b.Noise {
		b.Noise[i] = 1
	}
	for i := range d.Ns {
		copy(b.Origin[i*d.K:], g.Scaler.XMean)
	}
	copy(b.U, flat(g.Standardised.USupport))
	b.Match = g.Weights.Lambda
	return Spec{Lift: in.Lift, Scale: g.Scaler.XStd, DecayS: g.Weights.WdS, DecayD: g.Weights.WdD, Exact: g.Kernel == "exact"}, p, b, in
}

func fillRows(r *feature.Rows, in *feature.Inputs, s [][]float64) {
	r.N = len(s)
	copy(r.S, flat(s))
	for i := range s {
		r.DS[i*in.Dim()] = 1 // the tangent is time
		r.Fill(i, in, false, feature.Basis{}, 0)
	}
}

// worst is the deviation max|a−b| / max|b|.
func worst(a, b []float64) float64 {
	var d, m float64
	for i := range b {
		d = math.Max(d, math.Abs(a[i]-b[i]))
		m = math.Max(m, math.Abs(b[i]))
	}
	if len(a) != len(b) || math.IsNaN(d) {
		return math.Inf(1)
	}
	if m == 0 {
		return d
	}
	return d / m
}

func TestGolden(t *testing.T) {
	for _, name := range goldenCases {
		t.Run(name, func(t *testing.T) {
			g := readGolden(t, name)
			spec, p, b, _ := g.problem()
			ns := g.Dims.Ns
			if b.Sup == b.Obs {
				ns = 0
			}
			o := New(spec, p, g.Dims.N, ns)
			tol, most := tolerance(name), 0.0
			check := func(what string, got, want []float64) {
				t.Helper()
				d := worst(got, want)
				most = math.Max(most, d)
				if d > tol {
					t.Errorf("%s: deviation %.2g, want below %.0g", what, d, tol)
				}
			}
			one := func(what string, got, want float64) {
				t.Helper()
				check(what, []float64{got}, []float64{want})
			}

			grad := p.Like()
			parts, ok := o.Evaluate(grad, p, b)
			if !ok {
				t.Fatal("evaluation failed")
			}
			r := &g.Result
			one("L", parts.Total, r.L)
			one("L_data", parts.Data, r.LData)
			one("W_mean", parts.WMean, r.WMean)
			one("W_std", parts.WStd, r.WStd)
			one("decay_S", parts.DecayS, r.DecayS)
			one("decay_D", parts.DecayD, r.DecayD)
			for k, c := range o.channels {
				one("L_data_k", c.data, r.LDataK[k])
				one("quad_k", c.fit.Quad, r.QuadK[k])
				logs := 2 * p.LogSigma[k] * float64(g.Dims.N)
				one("logdet_k", c.fit.LogDet+logs, r.LogdetK[k])
				switch kernel := c.kernel.(type) {
				case *posterior.RFF:
					check("w", kernel.Weights(), r.Posterior.W[k])
				case *posterior.Exact:
					check("alpha", kernel.Alpha(), r.Posterior.Alpha[k])
				}
			}
			checkGradient(check, "grad", grad, p, &r.Grad)

			// The data term alone, and by difference the matching term alone.
			alone := *b
			alone.Match = 0
			o.SetDecay(0, 0)
			data := p.Like()
			if _, ok := o.Evaluate(data, p, &alone); !ok {
				t.Fatal("evaluation without matching failed")
			}
			checkGradient(check, "grad_data", data, p, &r.GradData)
			if _, ok := o.Evaluate(grad, p, b); !ok {
				t.Fatal("second evaluation failed")
			}
			for i := range grad.Flat {
				grad.Flat[i] = (grad.Flat[i] - data.Flat[i]) / b.Match
			}
			checkGradient(check, "grad_W", grad, p, &r.GradW)

			// Support points: o.mean is used up by the adjoint, so evaluate again.
			if _, ok := o.Evaluate(nil, p, b); !ok {
				t.Fatal("third evaluation failed")
			}
			check("support mean", o.mean, flat(r.Support.Mean))
			check("support dmean", o.dmean, flat(r.Support.DMean))
			dstd := make([]float64, len(o.dvar))
			for i, v := range o.dvar {
				dstd[i] = math.Sqrt(v)
			}
			check("support dstd", dstd, flat(r.Support.DStd))
			f, sD := make([]float64, len(dstd)), make([]float64, len(dstd))
			for i := range g.Dims.Ns {
				for k := range g.Dims.K {
					f[i*g.Dims.K+k], sD[i*g.Dims.K+k], _ = o.dyn.output(i, k, g.Dims.K)
				}
			}
			check("support f", f, flat(r.Support.F))
			check("support sD", sD, flat(r.Support.SD))
			t.Logf("largest deviation %.1e (asked %.0e)", most, tol)
		})
	}
}

// checkGradient compares by group, as the golden file's own checks do.
func checkGradient(check func(string, []float64, []float64), what string, got, p *Params, want *goldenGrad) {
	ref := p.Like()
	want.fill(ref)
	for _, g := range p.Groups {
		if g.Name == "amplitude" {
			continue // the paper's form has none
		}
		check(what+" "+g.Name, got.Flat[g.From:g.To], ref.Flat[g.From:g.To])
	}
}

package model_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

var update = flag.Bool("update", false, "make the golden files of this version anew")

// The golden files of this version: the windows form with all that it can carry, that
// of a rigid body, and the paper's form with the exact kernel. Files of a released version are
// never made anew.
var goldenShapes = map[string]modeltest.Shape{
	"v3":       {K: 2, P: 1, Core: []int{4, 3}, F: 4, Basis: 1, Members: 2, Refits: 1, Readouts: 2, ScaleFactor: true, Calibrated: true, Prior: 3, Nets: 2, Direct: true, History: 2, Range: true},
	"v3-body":  {K: 12, P: 1, Core: []int{3}, D: 1, F: 2, Knots: 1, Prior: 1, Body: true},
	"v3-chain": {K: 4, P: 1, Core: []int{3}, D: 1, F: 2, Knots: 1, Prior: 1, Chain: true, Nets: 1},
	"v3-exact": {K: 2, Core: []int{4}, Exact: 9, Paper: true},
}

func goldenFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".dgm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGolden(t *testing.T) {
	if *update {
		for name, shape := range goldenShapes {
			makeGolden(t, name, shape)
		}
	}
	var names []string
	for name := range goldenShapes {
		names = append(names, name, strings.Replace(name, "v3", "v2", 1))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b := goldenFile(t, name)
			m, err := model.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := estimator.New(m, nil); err != nil { // re-evaluates the self-checks
				t.Error(err)
			}
			again, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, b) {
				t.Error("encoding what was decoded gives other bytes")
			}
			if diff := cmp.Diff(goldenContent(t, name), throughJSON(t, content(m))); diff != "" {
				t.Errorf("decoded numbers (-golden +now):\n%s", diff)
			}
		})
	}
}

func goldenContent(t *testing.T, name string) (want map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestVersionOne reads the files of version 1: the prior dynamics, the secondary linear
// model and its weight become a stack with the same numbers. They predict what they did
// where they were written.
func TestVersionOne(t *testing.T) {
	for _, name := range []string{"v1", "v1-body", "v1-exact"} {
		m, err := model.Decode(goldenFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := estimator.New(m, nil); err != nil { // re-evaluates the self-checks
			t.Error(err)
		}
		out := content(m)
		for i, was := range []string{"prior", "companion"} {
			if len(m.Stack) > i {
				equationContent(out, was, &m.Stack[i].Members[0])
			}
		}
		if len(m.Stack) > 1 {
			out["blend"] = m.Stack[1].Weights[model.Hold]
		}
		got, want := throughJSON(t, out), goldenContent(t, name)
		for key := range want {
			if _, kept := got[key]; !kept && (len(m.Stack) > 0 && key != "velocity" || !strings.HasPrefix(key, "prior") && !strings.HasPrefix(key, "companion") && key != "blend" && key != "velocity") {
				t.Errorf("%s: %s is lost", name, key)
			}
			if v, kept := got[key]; kept && !cmp.Equal(v, want[key]) {
				t.Errorf("%s: %s is %v, was %v", name, key, v, want[key])
			}
		}
		b, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := model.Decode(b)
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s as a file of this version: %v %s", name, err, diff)
		}
	}
}

func makeGolden(t *testing.T, name string, shape modeltest.Shape) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(name))))
	m := modeltest.New(shape, rng)
	m.Members[0].Posterior[0].LogSigma[0] = -3.5 // a round number to look for in a dump
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if m, err = model.Decode(b); err != nil { // rounded
		t.Fatal(err)
	}
	addChecks(t, m, rng)
	if b, err = m.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".dgm"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err = model.Decode(b); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(content(m), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// addChecks predicts once with every readout.
func addChecks(t *testing.T, m *model.Model, rng *rand.Rand) {
	t.Helper()
	H := m.Horizon
	p, err := estimator.New(m, []float64{H / 10, H / 2, H})
	if err != nil {
		t.Fatal(err)
	}
	for r := range 2 {
		if m.P == 0 && r == 1 {
			break
		}
		c := model.SelfCheck{Readout: model.Readout(r), X0: numbers(m.K, rng), U: numbers(m.P, rng)}
		q := estimator.Query{X0: c.X0, U: c.U}
		if m.History.Rows() > 0 {
			c.History = numbers(m.History.Rows()*(m.K+m.P), rng)
			q.History = c.History
		}
		if m.P > 0 && c.Readout == model.Plan {
			c.Plan = numbers(5*m.P, rng)
			q.Plan = c.Plan
		}
		got := p.NewPrediction()
		if !p.Predict(got, &q) || got.Readout != c.Readout {
			t.Fatal("no prediction to store")
		}
		c.Times, c.Mean, c.Std, c.ObsStd = got.Times, got.Mean, got.Std, got.ObsStd
		m.Checks = append(m.Checks, c)
	}
}

func numbers(n int, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

func throughJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// content lists a model's numbers by the names of FORMAT.md. It is written apart
// from the codec, so that two swapped fields cannot agree with themselves.
func content(m *model.Model) map[string]any {
	out := map[string]any{
		"id": m.ID, "vehicle": m.Vehicle, "horizon": m.Horizon, "points": m.Points, "displacement": m.Displacement,
		"origin": m.Origin, "scale": m.Scale, "noise_knots": m.NoiseKnots, "sensor": m.Sensor,
		"gain": m.NetworkWeight, "widen": m.ScaleFactor, "inputs.time_mean": m.Inputs.TimeMean, "inputs.time_std": m.Inputs.TimeStd,
		"inputs.knots": m.Inputs.Knots, "inputs.causal": m.Inputs.Causal, "inputs.input_mean": m.Inputs.InputMean,
		"inputs.input_std": m.Inputs.InputStd,
		"linear_std":       m.LinearStd, "history.edges": m.History.Edges,
		"growth": m.OODExponent, "region.mean": m.OOD.Mean, "region.inverse": m.OOD.Inverse, "region.points": m.OOD.Points,
		"region.distance": m.OOD.Distance, "region.near": m.OOD.Near, "region.far": m.OOD.Far, "region.low": m.OOD.Low, "region.high": m.OOD.High,
		"motion.usual": m.RMSDisplacement.Typical, "motion.least": m.RMSDisplacement.Min, "motion.most": m.RMSDisplacement.Max, "motion.power": m.RMSDisplacement.Exponent,
		"region.variance": m.OOD.Variance, "baseline.step": m.Baseline.Step, "baseline.a": m.Baseline.A,
		"baseline.b": m.Baseline.B, "baseline.c": m.Baseline.C,
		"provenance.tool":      m.Provenance.Tool,
		"provenance.data_hash": m.Provenance.DataHash, "provenance.config": m.Provenance.Config,
		"provenance.seed": m.Provenance.Seed, "provenance.scores": m.Provenance.Scores,
		"provenance.partial": m.Provenance.Partial, "provenance.verdict": m.Provenance.Verdict,
	}
	liftContent(out, "inputs.lift", &m.Inputs.Lift)
	for i := range m.Stack {
		componentContent(out, fmt.Sprintf("stack[%d]", i), &m.Stack[i])
	}
	for i, c := range m.Channels {
		p := fmt.Sprintf("channels[%d].", i)
		out[p+"name"], out[p+"unit"], out[p+"role"], out[p+"frame"] = c.Name, c.Unit, c.Role, c.Frame
		out[p+"derivative"], out[p+"period"], out[p+"invariant"], out[p+"noise"] = c.Derivative, c.Period, c.Invariant, c.Noise
	}
	netContent(out, "dynamics", &m.Dynamics.Net)
	for i := range m.Members {
		memberContent(out, fmt.Sprintf("members[%d]", i), &m.Members[i])
	}
	for i := range m.Refits {
		memberContent(out, fmt.Sprintf("refits[%d]", i), &m.Refits[i])
	}
	for i, c := range m.Checks {
		p := fmt.Sprintf("self_checks[%d].", i)
		out[p+"readout"], out[p+"x0"], out[p+"u"], out[p+"plan"] = c.Readout, c.X0, c.U, c.Plan
		if len(c.History) > 0 {
			out[p+"history"] = c.History
		}
		out[p+"times"], out[p+"mean"], out[p+"std"], out[p+"obs_std"] = c.Times, c.Mean, c.Std, c.ObsStd
	}
	return out
}

func componentContent(out map[string]any, path string, c *model.Component) {
	out[path+".kind"], out[path+".weights"], out[path+".near"], out[path+".far"] = int(c.Kind), c.Weights, c.Near, c.Far
	for i := range c.Members {
		p, e := fmt.Sprintf("%s.members[%d]", path, i), &c.Members[i]
		equationContent(out, p, e)
		netContent(out, p, &e.Net)
		out[p+".net_scale"] = e.NetScale
	}
	if c.Kind != model.Direct {
		return
	}
	d, p := &c.Direct, path+".direct"
	liftContent(out, p+".lift", &d.Lift)
	out[p+".input_mean"], out[p+".input_std"], out[p+".blocks"] = d.UMean, d.UStd, d.Blocks
	if len(d.Range) > 0 {
		out[p+".input_range"] = d.Range
	}
	var after []int
	for _, k := range d.Derivative {
		after = append(after, k+1)
	}
	out[p+".derivative"] = after
	for i, l := range d.Levels {
		q := fmt.Sprintf("%s.levels[%d]", p, i)
		out[q+".readout"], out[q+".rows"], out[q+".degree"], out[q+".times"], out[q+".weights"] = l.Readout, l.Rows, l.Degree, l.Times, l.Weights
		out[q+".mean"], out[q+".std"], out[q+".factor"] = l.Mean, l.Std, l.Factor
	}
}

func equationContent(out map[string]any, path string, e *priordynamics.Model) {
	out[path+".step"], out[path+".degree"], out[path+".input_mean"], out[path+".input_std"] = e.Step, e.Degree, e.UMean, e.UStd
	out[path+".bound"], out[path+".weights"] = e.Bound, e.Weights
	liftContent(out, path+".lift", &e.Lift)
	bodyContent(out, path+".body", &e.Body)
	if c := &e.Chain; !c.Empty() {
		p := path + ".chain."
		out[p+"angles"], out[p+"rates"], out[p+"unit"], out[p+"relative"], out[p+"mass"], out[p+"rotor"] = c.Angles, c.Rates, c.Unit, c.Relative, c.Mass, c.Rotor
		out[p+"sine"], out[p+"cosine"], out[p+"viscous"], out[p+"dry"], out[p+"gain"] = c.Sine, c.Cosine, c.Viscous, c.Dry, c.Gain
	}
}

func liftContent(out map[string]any, path string, l *channel.Lift) {
	kinds := []int{}
	for _, k := range l.Kind {
		kinds = append(kinds, int(k))
	}
	out[path+".of"], out[path+".kind"], out[path+".omega"], out[path+".mean"], out[path+".std"] = l.Of, kinds, l.Omega, l.Mean, l.Std
}

func bodyContent(out map[string]any, path string, b *priordynamics.Body) {
	out[path+".position"], out[path+".velocity"], out[path+".attitude"], out[path+".rates"] = b.Position, b.Velocity, b.Attitude, b.Rates
	out[path+".sign"], out[path+".omega"], out[path+".in_body"] = b.Sign, b.Omega, b.InBody
}

func memberContent(out map[string]any, path string, e *model.Member) {
	m := &e.Map
	out[path+".d"], out[path+".f"], out[path+".basis"], out[path+".gated"] = m.D, m.F, m.Basis.Terms, m.Gated
	out[path+".omega"], out[path+".omega_seed"], out[path+".log_amplitude"] = m.Omega, e.OmegaSeed, m.LogAmp
	netContent(out, path+".core", &m.Core)
	netContent(out, path+".head", &m.Head)
	for r, p := range e.Posterior {
		q := fmt.Sprintf("%s.posterior[%d].", path, r)
		out[q+"weights"], out[q+"inverse_factor"], out[q+"log_sigma"] = p.Weights, p.InverseFactor, p.LogSigma
		if p.Exact != nil {
			out[q+"n"], out[q+"z"], out[q+"gate"], out[q+"b"] = p.Exact.N, p.Exact.Z, p.Exact.Gate, p.Exact.B
		}
	}
}

func netContent(out map[string]any, path string, n *mlp.Net) {
	for i, l := range n.Layers {
		p := fmt.Sprintf("%s.layers[%d].", path, i)
		out[p+"in"], out[p+"out"], out[p+"activation"], out[p+"w"], out[p+"b"] = l.In, l.Out, int(l.Act), l.W, l.B
	}
}

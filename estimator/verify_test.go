package estimator_test

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

var update = flag.Bool("update", false, "make the reference models and their answers anew")

// referenceShapes are what the references are made from.
var referenceShapes = map[string]modeltest.Shape{
	"windows":  {K: 3, P: 2, F: 6, D: 3, Basis: 2, Knots: 4, Core: []int{5, 4, 6}, Members: 2, Refits: 2, Readouts: 2, ScaleFactor: true, Velocity: true},
	"stack":    {K: 3, P: 1, F: 4, Basis: 1, Core: []int{5, 4}, Members: 2, Readouts: 2, Calibrated: true, Filtered: true, Prior: 2, Nets: 2, Direct: true, History: 2},
	"late":     {K: 3, P: 2, F: 2, D: 1, Knots: 1, Core: []int{3}, Members: 1, Readouts: 2, Prior: 1, History: 2, Late: true},
	"past":     {K: 3, P: 1, F: 2, D: 1, Knots: 1, Core: []int{3}, Members: 1, Readouts: 2, Prior: 1, Direct: true, Bounded: true, History: 2, Range: true, Change: true},
	"residual": {K: 3, P: 1, F: 2, D: 1, Knots: 1, Core: []int{3}, Members: 1, Readouts: 2, Prior: 1, Dry: true, Direct: true, Residual: true, History: 2, Range: true, Change: true},
	"body":     {K: 12, P: 1, Core: []int{3}, D: 1, F: 2, Knots: 1, Prior: 1, Body: true},
	"paper":    {K: 2, P: 1, F: 6, Basis: 2, Core: []int{4}, Members: 2, Paper: true},
	"exact":    {K: 2, P: 1, Core: []int{4}, Exact: 7, Basis: 1, Readouts: 2, Velocity: true},
}

func makeReferences(t *testing.T) {
	for name, s := range referenceShapes {
		m := modeltest.New(s, rand.New(rand.NewPCG(8, 1)))
		if len(m.Calibration) > 0 {
			m.OOD.Leverage = 5
		}
		m.OOD.Input = 1.5
		if s.Paper { // the score is that of the variance
			m.OOD.Distance, m.OOD.Variance, m.OOD.Low, m.OOD.High = 1e6, 0.01, nil, nil
		}
		for i := range m.Stack {
			for j := range m.Stack[i].Members { // ellipsoids that the probes are outside of
				floats.Scale(4, m.Stack[i].Members[j].Ellipsoid)
			}
		}
		if s.History > 0 {
			j := model.Joint{Levels: []float64{0.2, 1}, Correlation: [][]float64{{0.3, -0.2, 0.4}, {0.6, 0.1, -0.3}}, Tube: []float64{1.5, 2.4, 2.9}}
			k := model.Joint{Levels: []float64{0.5}, Correlation: [][]float64{{-0.3, 0.2, 0.5}}, Tube: []float64{1.6, 2.5, 3.1}}
			m.Joint = []model.Joint{j, k}
			m.Adaptation.Rate = []float64{0.8, 1.1, 0.6}
			for i := range m.Stack { // a direct map that counts, at inputs about three times as large as it knows
				d := &m.Stack[i].Direct
				for p, std := range d.UStd {
					d.Range = append(d.Range, math.Abs(m.Inputs.InputMean[p]-d.UMean[p])/std/3)
				}
				for _, l := range m.Stack[i].Direct.Levels {
					for j := range l.Weights {
						l.Weights[j] *= 8
					}
				}
			}
		}
		if s.Change { // of the probes' inputs, about three times
			for i := range m.Stack {
				for j := range m.Stack[i].Members { // whose derivatives are interpolated between nodes
					floats.Scale(0.2, m.Stack[i].Members[j].Weights)
				}
				if d := &m.Stack[i].Direct; len(d.UStd) > 0 {
					d.Range, d.Change = []float64{0}, []float64{0.4}
					if s.History > 0 {
						d.Change = []float64{0, 0.02, 0.03}
					}
					floats.Scale(m.Inputs.InputStd[0]/d.UStd[0], d.Change)
				}
			}
		}
		file, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		answers, err := estimator.ReferenceAnswers(file)
		if err != nil {
			t.Fatal(err)
		}
		var b []byte
		for _, v := range answers {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		for ext, content := range map[string][]byte{".dgm": file, ".answers": b} {
			if err := os.WriteFile("reference/"+name+ext, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestThisBuildAnswersTheReferences(t *testing.T) {
	if *update {
		makeReferences(t)
		t.Skip("made anew; test again")
	}
	if len(referenceShapes) != len(estimator.ReferenceNames) {
		t.Error("a reference is not verified")
	}
	for _, unit := range simd.Units() {
		if err := estimator.VerifyBuildOn(unit); err != nil {
			t.Errorf("%v: %v", unit, err)
		}
	}
}

func BenchmarkVerifyBuild(b *testing.B) {
	for b.Loop() {
		if err := estimator.VerifyBuild(); err != nil {
			b.Fatal(err)
		}
	}
}

// The fast predictor agrees with the plain one on probes of every model and number of points.
func TestFastIsVerified(t *testing.T) {
	counts := []int{1, 2, 16, 24, 25, 100}
	if os.Getenv("DGM_SLOW") == "" {
		counts = []int{25}
	}
	for name, m := range fastModels(t) {
		for _, points := range counts {
			if err := newFastOn(t, m, mixed(m, points), simd.Best()).Verify(); err != nil {
				t.Errorf("%s at %d points: %v", name, points, err)
			}
		}
	}
}

package adapt

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

var update = flag.Bool("update", false, "make the reference anew")

// referenceModel is one that can adapt and reads history in a direct map.
func referenceModel() *model.Model {
	m := adaptable()
	with := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 20, Horizon: 0.5, Equation: 1, History: []float64{0.05, 0.1}}, 3)
	m.History = with.History
	i := slices.IndexFunc(with.Stack, func(c model.Component) bool { return c.Kind == model.Direct })
	c := with.Stack[i]
	for _, w := range c.Weights {
		for j := range w {
			w[j] = 0.2
		}
	}
	m.Stack, m.Points = append(m.Stack, c), 8
	return m
}

func makeReference(t *testing.T) {
	b, err := referenceModel().Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile("reference/"+name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bytes := func(v []float64) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	theta := make([]float64, len(filter(t, m).state.Theta))
	theta[0], theta[m.K] = 0.1, -0.4
	r := newRobot(t, m, theta)
	var flight []float64
	for range 300 {
		flight = append(append(flight, r.measured()...), r.u...)
		r.step()
	}
	write("model.dgm", b)
	write("flight", bytes(flight))
	// The files are embedded: a second run reads them.
	if answers, err := referenceAnswers(); err == nil {
		write("answers", bytes(answers))
	}
}

func TestThisBuildAnswersTheReference(t *testing.T) {
	if *update {
		makeReference(t)
		t.Skip("made anew; make it a second time, then test")
	}
	if err := VerifyBuild(); err != nil {
		t.Error(err)
	}
	answers, err := referenceAnswers()
	if err != nil {
		t.Fatal(err)
	}
	if learned := answers[4]; math.Abs(learned) < 0.01 { // the gain, after two rates and two biases
		t.Errorf("the reference learns a gain of %v", learned)
	}
}

func BenchmarkVerifyBuild(b *testing.B) {
	for b.Loop() {
		if err := VerifyBuild(); err != nil {
			b.Fatal(err)
		}
	}
}

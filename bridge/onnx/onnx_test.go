package onnx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// The examples of protobuf.dev/programming-guides/encoding.
func TestWire(t *testing.T) {
	var m, inner message
	m.number(1, 150)
	m.text(2, "testing")
	inner.number(1, 150)
	m.bytes(3, inner)
	m.numbers(4, []int64{0, 3})
	m.number(5, 0)
	want := []byte{0x08, 0x96, 0x01, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g', 0x1a, 0x03, 0x08, 0x96, 0x01, 0x20, 0x00, 0x20, 0x03}
	if !bytes.Equal(m, want) {
		t.Errorf("% x, want % x", []byte(m), want)
	}
}

// A condition is a model of its own, and the same document gives the same bytes. That they run is tested where Python is:
// see cmd/dgm-bridge.
func TestModels(t *testing.T) {
	for name, shape := range modeltest.Shapes() {
		m := modeltest.New(shape, rand.New(rand.NewPCG(3, 4)))
		d, err := dynamics.DocumentOf(m, 5)
		if err != nil {
			t.Fatal(err)
		}
		once, again := Models(d), Models(d)
		if len(once) != len(d.Programs) || once[0].Name != "dgm_model_plan.onnx" {
			t.Errorf("%s: %d models, the first %s", name, len(once), once[0].Name)
		}
		for i := range once {
			if !bytes.Equal(once[i].Data, again[i].Data) {
				t.Errorf("%s: %s differs from itself", name, once[i].Name)
			}
		}
	}
}

func TestConstantsAreStoredOnce(t *testing.T) {
	g := newGraph()
	a, b, other := g.floats([]float64{1, 2}, 2, 1), g.body().floats([]float64{1, 2}, 2, 1), g.floats([]float64{1, 2}, 1, 2)
	if a != b || a == other || bytes.Count(g.constants.tensors, []byte{0, 0, 0x80, 0x3f}) != 2 {
		t.Errorf("%s, %s, %s", a, b, other)
	}
}

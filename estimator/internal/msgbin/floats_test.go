package msgbin_test

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

func TestVectorsInEveryForm(t *testing.T) {
	want := []float64{1, -2.5, 0.25}
	forms := map[string][]byte{
		"float64 bin": encoded(func(w *msgbin.Writer) { w.Floats(want) }),
		"float32 bin": encoded(func(w *msgbin.Writer) { w.Floats32(want) }),
		"array": encoded(func(w *msgbin.Writer) {
			w.Array(3)
			w.Int(1)
			w.Float64(-2.5)
			w.Float64(0.25)
		}),
	}
	for name, b := range forms {
		got := make([]float64, 3)
		r := msgbin.NewReader(b)
		if err := r.Floats(got); err != nil || r.Left() != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: read %v, %v, %d left", name, got, err, r.Left())
		}
		for _, n := range []int{0, 1, 2, 4, 7} {
			r.Reset(b)
			if err := r.Floats(make([]float64, n)); err == nil {
				t.Errorf("%s of 3 numbers read as %d", name, n)
			}
		}
	}
	r := msgbin.NewReader([]byte{0x92, 0xc0, 0x01})
	got := make([]float64, 2)
	if err := r.Floats(got); err != nil || !math.IsNaN(got[0]) || got[1] != 1 {
		t.Errorf("nil in an array: %v, %v", got, err)
	}
	for _, empty := range [][]byte{{0xc0}, {0x90}, {0xc4, 0}} {
		r.Reset(empty)
		if err := r.Floats(nil); err != nil {
			t.Errorf("% x as no numbers: %v", empty, err)
		}
	}
	forms["float24 bin"] = encoded(func(w *msgbin.Writer) { w.Floats24(want) })
	for name, read := range map[string]func(dst []float64, max int) ([]float64, error){"float64 bin": r.AppendFloats, "float32 bin": r.AppendFloats32, "float24 bin": r.AppendFloats24} {
		for _, b := range [][]byte{forms[name], forms["array"]} {
			r.Reset(b)
			if got, err := read([]float64{7}, 3); err != nil || !slices.Equal(got, append([]float64{7}, want...)) {
				t.Errorf("unknown length: %v, %v", got, err)
			}
			r.Reset(b)
			if _, err := read(nil, 2); err == nil {
				t.Error("a vector longer than the limit was read")
			}
		}
	}
}

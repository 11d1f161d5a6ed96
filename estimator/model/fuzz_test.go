package model_test

import (
	"bytes"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Whatever the bytes are: no panic, and what is accepted is stable through
// Encode and Decode and can be flown. The bytes are tried as a file and, because
// no mutation would ever find a checksum, as the body of one.
func FuzzDecode(f *testing.F) {
	for name := range goldenShapes {
		b := goldenFile(f, name)
		f.Add(b)
		f.Add(b[:len(b)/2])
		var outer []any
		if err := msgpack.Unmarshal(b, &outer); err != nil {
			f.Fatal(err)
		}
		f.Add(outer[2].([]byte))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, wrap(b)} {
			m, err := model.Decode(file)
			if err != nil {
				continue
			}
			once, err := m.Encode()
			if err != nil {
				t.Fatalf("what was decoded cannot be encoded: %v", err)
			}
			back, err := model.Decode(once)
			if err != nil {
				t.Fatalf("what was encoded cannot be decoded: %v", err)
			}
			twice, err := back.Encode()
			if err != nil || !bytes.Equal(once, twice) || back.ID != m.ID {
				t.Fatalf("encoding is not stable: %v", err)
			}
			// The fast one holds the plain one, and asks it for derivatives.
			if p, err := estimator.NewFast(m, nil); err == nil {
				p.Predict(p.NewPrediction().WithDerivatives(), &estimator.Query{X0: make([]float64, m.K), P0: make([]float64, m.K*m.K)})
			}
		}
	})
}

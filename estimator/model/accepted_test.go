package model_test

import (
	"bytes"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Any bytes are read or refused; what is read is written as it was.
func FuzzAccepted(f *testing.F) {
	key := make([]byte, 32)
	a := model.Accepted{Key: key, Sequence: 7, Model: "m", File: []byte{1, 2}, Before: []byte{}}
	f.Add(a.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := model.DecodeAccepted(b, key)
		if err != nil || got == nil {
			return
		}
		if again, err := model.DecodeAccepted(got.Encode(), key); err != nil || !bytes.Equal(again.Encode(), got.Encode()) {
			t.Errorf("%+v, %+v: %v", got, again, err)
		}
	})
}

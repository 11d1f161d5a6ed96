package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// What can be decoded must say the same after it was appended and decoded again;
// what cannot must be an *Error.

func FuzzState(f *testing.F) {
	f.Add(goldenState.Append(nil), uint8(2), uint8(1))
	f.Add(smallState.Append(nil), uint8(2), uint8(0))
	f.Add(message(f, state(map[string]any{"x": []float64{1, 2}, "plan": bin32(1, 2), "dtype": "f4"})), uint8(2), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, k, p uint8) {
		K, P := int(k)+1, int(p)
		var s, again wire.State
		if err := s.Decode(b, K, P); err != nil {
			typed(t, err)
			return
		}
		var limits wire.PlausibilityLimits
		if err := limits.Check(&s); err != nil {
			typed(t, err)
		}
		first := s.Append(nil)
		if err := again.Decode(first, K, P); err != nil {
			t.Fatalf("%v, in what was appended: % x", err, first)
		}
		if second := again.Append(nil); !bytes.Equal(first, second) {
			t.Fatalf("% x became % x", first, second)
		}
	})
}

func FuzzPrediction(f *testing.F) {
	f.Add(smallPrediction.Append(nil))
	f.Add(fullPrediction.Append(nil))
	f.Fuzz(stays[wire.Prediction])
}

func FuzzStatus(f *testing.F) {
	f.Add(goldenStatus.Append(nil))
	f.Add(fullStatus.Append(nil))
	f.Fuzz(stays[wire.Status])
}

func FuzzQuery(f *testing.F) {
	f.Add(goldenQuery.Append(nil))
	f.Add(goldenHistory.Append(nil))
	f.Add(goldenTimed.Append(nil))
	f.Fuzz(stays[wire.Query])
}

func FuzzAnswer(f *testing.F) {
	f.Add(goldenAnswer.Append(nil))
	f.Add(goldenPart.Append(nil))
	f.Fuzz(stays[wire.Answer])
}

func FuzzCommand(f *testing.F) {
	f.Add(goldenCommand.Append(nil))
	f.Fuzz(stays[wire.Command])
}

func FuzzOutcome(f *testing.F) {
	f.Add(goldenOutcome.Append(nil))
	f.Fuzz(stays[wire.Outcome])
}

func FuzzSwapPermission(f *testing.F) {
	f.Add((&wire.SwapPermission{Permitted: true}).Append(nil))
	f.Fuzz(stays[wire.SwapPermission])
}

func FuzzModelInfo(f *testing.F) {
	f.Add(goldenInfo.Append(nil))
	f.Fuzz(stays[wire.ModelInfo])
}

// stays checks a message that has no sizes to be decoded with.
func stays[M any, P interface {
	*M
	Append([]byte) []byte
	Decode([]byte) error
}](t *testing.T, b []byte) {
	var m, again M
	if err := P(&m).Decode(b); err != nil {
		typed(t, err)
		return
	}
	first := P(&m).Append(nil)
	if err := P(&again).Decode(first); err != nil {
		t.Fatalf("%v, in what was appended: % x", err, first)
	}
	if second := P(&again).Append(nil); !bytes.Equal(first, second) {
		t.Fatalf("% x became % x", first, second)
	}
}

func typed(t *testing.T, err error) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Reason == wire.OK || e.Reason >= wire.Reasons || e.Error() == "" {
		t.Fatalf("error %#v", err)
	}
}

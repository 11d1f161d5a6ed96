package fault

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

var (
	pair   = []channel.Channel{{Name: "theta"}, {Name: "omega"}}
	rotors = []channel.Channel{{Name: "F1"}, {Name: "F2"}, {Name: "F3"}}
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Fault{
		"spike=0.001:5@omega,theta": {Spike, []float64{0.001, 5}, []int{1, 0}},
		"spike=0.001":               {Spike, []float64{0.001, 20}, nil},
		"bias=-1:2s@omega":          {Bias, []float64{-1, 2}, []int{1}},
		"clock-jump=10s:-300ms":     {ClockJump, []float64{10, -0.3}, nil},
		"dropout=0.1":               {Dropout, []float64{0.1, 0}, nil},
		"wind=3":                    {Wind, []float64{3, 1, 0, 0}, nil},
		"wind=0.5:250ms":            {Wind, []float64{0.5, 0.25, 0, 0}, nil},
		"wind=0.5:1s:20s:5s":        {Wind, []float64{0.5, 1, 20, 5}, nil},
		"payload=0.3":               {Payload, []float64{0.3, 0, 0}, nil},
		"payload=1:20s:500ms":       {Payload, []float64{1, 20, 0.5}, nil},
		"worn=0.2":                  {Wear, []float64{0.2, 0, 0}, nil},
		"worn=1@F2":                 {Wear, []float64{1, 0, 0}, []int{1}},
		"worn=0.2:20s:60s@F3,F1":    {Wear, []float64{0.2, 20, 60}, []int{2, 0}},
	} {
		if got, err := Parse(text, pair, rotors); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	lines := Syntax()
	for _, line := range lines[:len(lines)-1] {
		for text := range strings.SplitSeq(line, " or ") {
			text, _, _ = strings.Cut(text, " (")
			if _, err := Parse(text, pair, rotors); err != nil {
				t.Errorf("the syntax shown to people is refused: %v", err)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, part := range map[string]string{
		"":                       "is unknown; known are delay",
		"gremlin=1":              "is unknown; known are delay",
		"delay":                  "is not a duration; write delay=",
		"delay=5":                "is not a duration",
		"delay=-5ms":             "is negative",
		"delay=5ms:1s":           "one value too many",
		"freeze=1s":              "too few; write freeze=",
		"dropout=2":              "not between 0 and 1",
		"dropout=NaN":            "is not a number",
		"spike=0.1:x":            "is not a number",
		"bias=1":                 "name the state",
		"bias=1@phi":             `state "phi" is unknown, known are theta, omega`,
		"bias=1@":                `state "" is unknown`,
		"jitter=1ms@theta":       "not single channels",
		"clock-jump=1s":          "too few",
		"clock-jump=1s:1s@theta": "not single channels",
	} {
		if _, err := Parse(text, pair, rotors); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want %q", text, err, part)
		}
	}
	for kind, values := range map[string]string{
		"wind":    " x -1 NaN Inf 1: 1:2 1:-2s 1:0s 1:1s:x 1:1s:1s:-1s 1:1s:1s:1s:1s 1@F1",
		"payload": " x -1 NaN 1e9 1: 1:-2s 1:1s:1s:1s",
		"late":    " x -1ms 1 1ms:x 1ms@F4 1ms@theta",
		"worn":    " x 1.1 -0.1 0.1@ 0.1@F4 0.1@theta 0.1:x@F1",
	} {
		for v := range strings.SplitSeq(values, " ") {
			if _, err := Parse(kind+"="+v, pair, rotors); err == nil || !strings.Contains(err.Error(), "write "+kind+"=") {
				t.Errorf("%s=%s: %v", kind, v, err)
			}
		}
	}
}

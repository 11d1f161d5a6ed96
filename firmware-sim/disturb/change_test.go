package disturb

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

func TestOnset(t *testing.T) {
	o := Onset{At: 10, Over: 4}
	for at, want := range map[float64]float64{0: 0, 9.999: 0, 10: 0, 11: 0.25, 14: 1, 1e9: 1} {
		if got := o.Share(at); got != want {
			t.Errorf("at %v s: %v, expected %v", at, got, want)
		}
	}
	if (Onset{}).Share(0) != 1 || (Onset{At: 1}).Share(1) != 1 {
		t.Error("what has no time to grow is not there at once")
	}
}

func TestParsePayload(t *testing.T) {
	for text, want := range map[string]Payload{
		"0.3": {Mass: 0.3}, "0.3:20s": {0.3, Onset{At: 20}}, "1:20s:500ms": {1, Onset{20, 0.5}},
	} {
		if got, err := ParsePayload(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "x", "-1", "NaN", "1e9", "1:", "1:-2s", "1:1s:1s:1s"} {
		if _, err := ParsePayload(bad); err == nil || !strings.Contains(err.Error(), "write payload=") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWear(t *testing.T) {
	inputs := []channel.Channel{{Name: "F1"}, {Name: "F2"}, {Name: "F3"}}
	for text, want := range map[string]Wear{
		"0.2":               {Loss: 0.2},
		"1@F2":              {Loss: 1, Inputs: []int{1}},
		"0.2:20s:60s@F3,F1": {0.2, []int{2, 0}, Onset{20, 60}},
	} {
		if got, err := ParseWear(text, inputs); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "x", "1.1", "-0.1", "0.1@", "0.1@F4", "0.1:x@F1"} {
		if _, err := ParseWear(bad, inputs); err == nil || !strings.Contains(err.Error(), "write worn=") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	acting := []float64{1, 2, 4}
	all, one := Wear{Loss: 0.5}, Wear{Loss: 1, Inputs: []int{1}, Onset: Onset{At: 3}}
	all.Apply(acting, 0)
	one.Apply(acting, 2)
	if acting[0] != 0.5 || acting[1] != 1 || acting[2] != 2 {
		t.Errorf("%v", acting)
	}
	if one.Apply(acting, 3); acting[0] != 0.5 || acting[1] != 0 || acting[2] != 2 {
		t.Errorf("%v", acting)
	}
}

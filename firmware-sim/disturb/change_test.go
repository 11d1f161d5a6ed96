package disturb

import "testing"

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

func TestWear(t *testing.T) {
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

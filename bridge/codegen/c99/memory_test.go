package c99

import (
	"math/rand/v2"
	"testing"
)

// Values that are alive at the same time do not overlap, whatever the loops; what is touched in a loop and outside is alive in all
// of it.
func TestAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var values []*value
		for range 1 + rng.IntN(30) {
			values = append(values, &value{rows: 1 + rng.IntN(20), width: 1 + 3*rng.IntN(2), active: rng.IntN(2) == 0})
		}
		var list []instruction
		open := 0
		for range 1 + rng.IntN(80) {
			switch n := rng.IntN(8); {
			case n == 0:
				list = append(list, instruction{begins: true})
				open++
			case n == 1 && open > 0:
				list = append(list, instruction{ends: true})
				open--
			default:
				list = append(list, instruction{touches: []*value{values[rng.IntN(len(values))], values[rng.IntN(len(values))]}})
			}
		}
		for ; open > 0; open-- {
			list = append(list, instruction{ends: true})
		}
		size := allocate(list)
		for i, a := range values {
			if a.at+a.memory() > size && touches(list, a) > 0 {
				t.Fatalf("value %d ends at %d of %d", i, a.at+a.memory(), size)
			}
			for _, b := range values[:i] {
				if touches(list, a) > 0 && touches(list, b) > 0 && a.first <= b.last && b.first <= a.last && a.at < b.at+b.memory() && b.at < a.at+a.memory() {
					t.Fatalf("values of instructions %d-%d and %d-%d have places %d and %d", a.first, a.last, b.first, b.last, a.at, b.at)
				}
			}
		}
		within(t, list)
	}
}

func touches(list []instruction, v *value) (n int) {
	for _, o := range list {
		for _, x := range o.touches {
			if x == v {
				n++
			}
		}
	}
	return n
}

// within checks that a value that is touched in a loop is alive in all of it, or is touched nowhere else.
func within(t *testing.T, list []instruction) {
	t.Helper()
	var open []int
	for end, o := range list {
		if o.begins {
			open = append(open, end)
		}
		if !o.ends {
			continue
		}
		begin := open[len(open)-1]
		open = open[:len(open)-1]
		for _, inner := range list[begin:end] {
			for _, v := range inner.touches {
				inside := touches(list[begin:end], v) == touches(list, v)
				if !inside && (v.first > begin || v.last < end) {
					t.Fatalf("a value of a loop %d-%d is alive in %d-%d", begin, end, v.first, v.last)
				}
			}
		}
	}
}

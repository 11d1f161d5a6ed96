package c99

import (
	"cmp"
	"slices"
)

// loop is a range of instructions that are repeated.
type loop struct{ begin, end int }

// allocate gives all values places in the work area, by liveness, and returns its size. Of a list of instructions a value is
// alive from the first to the last that touches it; where it is touched within a loop and outside, in the whole loop.
func allocate(list []instruction) int {
	var values []*value
	touched := map[*value][]int{}
	var open []int
	var loops []loop
	for i := range list {
		switch o := &list[i]; {
		case o.begins:
			open = append(open, i)
		case o.ends:
			loops = append(loops, loop{open[len(open)-1], i})
			open = open[:len(open)-1]
		}
		for _, v := range list[i].touches {
			if v.array != "" {
				continue
			}
			if touched[v] == nil {
				values = append(values, v)
			}
			touched[v] = append(touched[v], i)
		}
	}
	for _, v := range values {
		at := touched[v]
		v.first, v.last = at[0], at[len(at)-1]
		for _, l := range loops { // inner ones precede outer ones
			within := slices.ContainsFunc(at, func(i int) bool { return i > l.begin && i <= l.end })
			if within && (v.first <= l.begin || v.last >= l.end) { // also where the loop's head reads it
				v.first, v.last = min(v.first, l.begin), max(v.last, l.end)
			}
		}
	}
	return pack(values)
}

// pack places the largest values first, each as low as others that are alive at the same time permit.
func pack(values []*value) (size int) {
	slices.SortStableFunc(values, func(a, b *value) int { return cmp.Compare(b.memory(), a.memory()) })
	var placed []*value // by ascending place
	for _, v := range values {
		v.at = 0
		for _, p := range placed {
			if p.last < v.first || v.last < p.first {
				continue
			}
			if v.at+v.memory() <= p.at {
				break
			}
			v.at = max(v.at, p.at+p.memory())
		}
		i, _ := slices.BinarySearchFunc(placed, v.at, func(p *value, at int) int { return cmp.Compare(p.at, at) })
		placed = slices.Insert(placed, i, v)
		size = max(size, v.at+v.memory())
	}
	return size
}

package blackbox_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// recorder writes logs by the description of the format.
type recorder struct{ bytes.Buffer }

// head begins a log with main frames of so many fields in each encoding.
func (r *recorder) head(names []string, encodings []int, more ...string) {
	list := func(of func(i int) int) string {
		var all []string
		for i := range names {
			all = append(all, strconv.Itoa(of(i)))
		}
		return strings.Join(all, ",")
	}
	fmt.Fprintf(r, "H Product:Blackbox flight data recorder by Nicholas Sherlock\nH Data version:2\nH I interval:32\nH P interval:1/1\n")
	fmt.Fprintf(r, "H Field I name:%s\nH Field I signed:%s\n", strings.Join(names, ","), list(func(i int) int { return min(1, i/2) }))
	fmt.Fprintf(r, "H Field I predictor:%s\nH Field I encoding:%s\n", list(func(int) int { return 0 }), list(func(i int) int { return encodings[i] }))
	predictors := []int{6, 2}
	fmt.Fprintf(r, "H Field P predictor:%s\n", list(func(i int) int {
		if i < 2 {
			return predictors[i]
		}
		return 1 + 2*(i%2)
	}))
	fmt.Fprintf(r, "H Field P encoding:%s\n", list(func(i int) int {
		if i == 0 {
			return 9
		}
		return encodings[i]
	}))
	for _, line := range more {
		fmt.Fprintf(r, "H %s\n", line)
	}
}

func (r *recorder) unsigned(v uint32) {
	for v >= 0x80 {
		r.WriteByte(byte(v) | 0x80)
		v >>= 7
	}
	r.WriteByte(byte(v))
}

func (r *recorder) signed(v int32) { r.unsigned(uint32(v<<1) ^ uint32(v>>31)) }

// bits packs values of so many bits each, the highest first, into whole bytes.
func (r *recorder) bits(widths []int, values []int32) {
	var all []byte
	for i, w := range widths {
		for b := w - 1; b >= 0; b-- {
			all = append(all, byte(values[i]>>b&1))
		}
	}
	for len(all)%8 != 0 {
		all = append(all, 0)
	}
	for i := 0; i < len(all); i += 8 {
		var v byte
		for _, b := range all[i : i+8] {
			v = v<<1 | b
		}
		r.WriteByte(v)
	}
}

// fits reports whether all values are within so many bits.
func fits(values []int32, bits ...int) bool {
	for i, v := range values {
		if b := bits[i%len(bits)]; v < -(1<<(b-1)) || v >= 1<<(b-1) {
			return false
		}
	}
	return true
}

// group writes values in an encoding.
func (r *recorder) group(encoding int, values []int32) {
	switch encoding {
	case 0:
		r.signed(values[0])
	case 1:
		r.unsigned(uint32(values[0]))
	case 3:
		r.unsigned(uint32(-values[0]) & 0x3fff)
	case 6:
		if len(values) == 1 {
			r.signed(values[0])
			return
		}
		tags := 0
		for i, v := range values {
			if v != 0 {
				tags |= 1 << i
			}
		}
		r.WriteByte(byte(tags))
		for _, v := range values {
			if v != 0 {
				r.signed(v)
			}
		}
	case 7, 10:
		wide := []int{6, 6, 6}
		middle := []int{4, 4, 4}
		if encoding == 10 {
			middle, wide = []int{5, 5, 4}, []int{8, 7, 7}
		}
		switch {
		case fits(values, 2):
			r.bits([]int{2, 2, 2, 2}, append([]int32{0}, values...))
		case fits(values, middle...):
			r.bits(append([]int{16 - middle[0] - middle[1] - middle[2]}, middle...), append([]int32{1 << (14 - middle[0] - middle[1] - middle[2])}, values...))
		case fits(values, wide...) && encoding == 10:
			r.bits(append([]int{2}, wide...), append([]int32{2}, values...))
		case fits(values, wide...):
			r.bits([]int{2, 6, 8, 8}, append([]int32{2}, values...))
		default:
			sizes := make([]int, 3)
			for i, v := range values {
				for sizes[i] = 1; sizes[i] < 4 && !fits([]int32{v}, 8*sizes[i]); sizes[i]++ {
				}
			}
			r.WriteByte(byte(3<<6 | (sizes[2]-1)<<4 | (sizes[1]-1)<<2 | (sizes[0] - 1)))
			for i, v := range values {
				for b := range sizes[i] {
					r.WriteByte(byte(v >> (8 * b)))
				}
			}
		}
	case 8:
		widths := make([]int, 4)
		tags := 0
		for i, v := range values {
			for _, w := range []int{0, 4, 8, 16} {
				if widths[i] = w; w == 0 && v == 0 || w > 0 && fits([]int32{v}, w) {
					break
				}
			}
			tags |= map[int]int{0: 0, 4: 1, 8: 2, 16: 3}[widths[i]] << (2 * i)
		}
		r.WriteByte(byte(tags))
		r.bits(widths, values)
	}
}

// every is main frames with every encoding, in groups.
func every() (names []string, encodings []int, groups [][]int) {
	names, encodings = []string{"loopIteration", "time"}, []int{1, 0}
	groups = [][]int{{0}, {1}}
	for i, g := range []struct{ encoding, n int }{{0, 1}, {3, 1}, {6, 5}, {0, 1}, {6, 1}, {7, 3}, {10, 3}, {8, 4}, {0, 1}, {6, 8}} {
		var group []int
		for j := range g.n {
			group = append(group, len(names))
			names, encodings = append(names, fmt.Sprintf("v%d[%d]", i, j)), append(encodings, g.encoding)
		}
		groups = append(groups, group)
	}
	return names, encodings, groups
}

// flight writes n frames of random values, and returns these. Every sixth frame is whole.
func (r *recorder) flight(rng *rand.Rand, n int, begins uint32) (values [][]int32) {
	names, encodings, groups := every()
	r.head(names, encodings)
	var last, before []int32
	for i := range n {
		now := make([]int32, len(names))
		now[0], now[1] = int32(i), int32(begins+uint32(1000*i+rng.IntN(200)))
		for j := 2; j < len(names); j++ {
			size := []int{2, 7, 30, 120, 8000}[rng.IntN(5)]
			if encodings[j] == 7 || encodings[j] == 10 {
				size = []int{1, 7, 60, 3000, 1 << 22, 1 << 30}[rng.IntN(6)]
			}
			if now[j] = int32(rng.IntN(2*size) - size); rng.IntN(3) == 0 {
				now[j] = 0
			}
			if encodings[j] == 3 {
				now[j] %= 4000 // their differences have 14 bits
			}
		}
		kind := byte('P')
		if i%32 == 0 {
			kind, last, before = 'I', nil, nil
		}
		r.WriteByte(kind)
		for _, g := range groups {
			if kind == 'P' && g[0] == 0 {
				continue
			}
			var raw []int32
			for _, j := range g {
				v := now[j]
				if kind == 'P' {
					switch {
					case j == 1:
						v -= 2*last[j] - before[j]
					case j%2 == 0:
						v -= last[j]
					default:
						v -= int32((int64(last[j]) + int64(before[j])) / 2)
					}
				}
				raw = append(raw, v)
			}
			r.group(encodings[g[0]], raw)
		}
		if before = last; kind == 'I' {
			before = now
		}
		last = now
		values = append(values, now)
	}
	return values
}

func (r *recorder) end() { r.WriteString("E\xffEnd of log\x00") }

//go:build linux

package mlp

import (
	"math"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// guards are pages that cannot be touched, around and between the numbers of a test.
type guards struct{ maps [][]byte }

// numbers returns n numbers that end right before a page that cannot be touched, or begin
// right behind one.
func (g *guards) numbers(t *testing.T, n int, end bool) []float64 {
	page := os.Getpagesize()
	body := max(1, (8*n+page-1)/page) * page
	m, err := syscall.Mmap(-1, 0, body+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	g.maps = append(g.maps, m)
	for _, guard := range [][]byte{m[:page], m[page+body:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if end {
		at += body - 8*n
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(m[at:]))), n)
}

func (g *guards) release() {
	for _, m := range g.maps {
		_ = syscall.Munmap(m)
	}
	g.maps = g.maps[:0]
}

// Numbers beside a page that cannot be touched are activated as elsewhere, those beside
// them stay, and what is no number stays so.
func TestActivationsStayInTheirSlice(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 4))
		var g guards
		defer g.release()
		for _, end := range []bool{false, true} {
			const most = 41
			body := g.numbers(t, most, end)
			for n := range most + 1 {
				for a, want := range map[Activation]func(float64) float64{Sigmoid: sigmoid, Tanh: math.Tanh} {
					for i := range body {
						body[i] = rng.NormFloat64() * math.Pow(10, 5*rng.Float64()-3)
					}
					body[rng.IntN(most)] = math.NaN()
					was := append([]float64(nil), body...)
					from := 0
					if end {
						from = most - n
					}
					a.Activate(body[from : from+n])
					for i, v := range was {
						if i >= from && i < from+n {
							v = want(v)
						}
						if got := body[i]; !(math.Abs(got-v) <= 9e-16*math.Abs(v)) && !(math.IsNaN(got) && math.IsNaN(v)) {
							t.Fatalf("%s of %d numbers: number %d, %v, becomes %v, want %v", a, n, i-from, was[i], got, v)
						}
					}
				}
			}
		}
	})
}

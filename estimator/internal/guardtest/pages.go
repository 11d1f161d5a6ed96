//go:build linux

package guardtest

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// Pages are numbers with pages around and between them that cannot be touched. The zero
// value is ready; Release gives the memory back.
type Pages struct{ maps [][]byte }

// Numbers returns n numbers that end right before a page that cannot be touched, or begin
// right behind one.
func (p *Pages) Numbers(t *testing.T, n int, end bool) []float64 {
	page := os.Getpagesize()
	body := max(1, (8*n+page-1)/page) * page
	m, err := syscall.Mmap(-1, 0, body+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	p.maps = append(p.maps, m)
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

// Release unmaps all numbers.
func (p *Pages) Release() {
	for _, m := range p.maps {
		_ = syscall.Munmap(m)
	}
	p.maps = p.maps[:0]
}

package matmul

import "golang.org/x/sys/cpu"

var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// kernel sets the 4×12 tile c with rows stride numbers apart to a·b, or adds it: a is
// k columns of 4, b is k rows of 12.
//
//go:noescape
func kernel(k int, a, b, c *float64, stride int, add bool)

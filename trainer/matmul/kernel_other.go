//go:build !amd64

package matmul

const fast = false

func kernel(int, *float64, *float64, *float64, int, bool) {
	panic("matmul: no kernel for this processor")
}

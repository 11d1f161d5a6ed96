//go:build !amd64

package matmul

func use(bool) {}

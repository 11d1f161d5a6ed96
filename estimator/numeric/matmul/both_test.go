package matmul

import "testing"

// both runs a test with the kernels, where this processor has them, and without.
func both(t *testing.T, test func(t *testing.T)) {
	if fast {
		t.Run("kernel", test)
	}
	was := fast
	use(false)
	defer use(was)
	t.Run("gonum", test)
}

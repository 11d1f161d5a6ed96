package mlp

import "testing"

// both runs a test with the vector unit, where this processor has it, and without.
func both(t *testing.T, test func(t *testing.T)) {
	if vector {
		t.Run("vector", test)
	}
	was := vector
	use(false)
	defer use(was)
	t.Run("plain", test)
}

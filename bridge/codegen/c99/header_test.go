package c99

import "testing"

// What a model names does not end the comment that it stands in.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{"rad/s": "rad/s", "a */ b": "a * / b", "m/*s": "m/ *s", "two\nlines": "two lines", "N·m": "N·m"} {
		if got := plain(text); got != want {
			t.Errorf("%q becomes %q, expected %q", text, got, want)
		}
	}
}

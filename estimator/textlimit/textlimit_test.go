package textlimit_test

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/dgm-robotics/dgm/estimator/textlimit"
)

func TestTOML(t *testing.T) {
	long := strings.Repeat("a.", 40) + "a"
	for text, part := range map[string]string{
		"a = 1\n[b.c]\nd = [[1.5, 2.5], [3]] # " + long + "\ne = \"" + long + "\"\n'x.y'.z = { u = 1 }": "",
		"a = \"\"\"\n" + long + "\\\"\"\"\"\nb = '''" + long + "'''":                                    "",
		"a = 'it\n" + "b = 1":                                  "",
		"a = 1\n" + long + " = 1":                              "line 2: a key of more than 32 parts",
		"[" + long + "]":                                       "line 1: a key",
		"x = { " + long + " = 1 }":                             "line 1: a key",
		"x = \"\"\"\n\n\"\"\"\ny = " + strings.Repeat("[", 40): "line 4: more than 32 brackets",
		strings.Repeat("{ a = ", 40):                           "brackets",
		strings.Repeat("#", textlimit.MostBytes+1):             "bytes",
		"\"": "", "'''": "", "\"\\": "", "#": "",
	} {
		err := textlimit.TOML([]byte(text))
		if (err == nil) != (part == "") || err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%.40q: %v, want %q", text, err, part)
		}
	}
}

// What passes is parsed in bounded time and memory, whatever it is.
func FuzzTOML(f *testing.F) {
	f.Add([]byte("a = 1\n[b.c]\nd = \"\"\"x\"\"\" # y"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if textlimit.TOML(text) == nil {
			var v map[string]any
			_, _ = toml.Decode(string(text), &v)
		}
	})
}

package mapfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

// Whatever the text is, it is read, or an Error names the file.
func FuzzParse(f *testing.F) {
	f.Add("name = \"a\"\nage = \"50ms\"\n[[part]]\nfactor = 1e300\n")
	f.Add("age = \"-1s\"")
	f.Add("other = [1, \"a\"]\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		var into struct {
			Name string
			Age  mapfile.Duration
			Part []struct{ Factor float64 }
		}
		err := mapfile.Parse("map.toml", []byte(text), &into)
		var e *mapfile.Error
		switch {
		case err == nil && into.Age < 0:
			t.Fatalf("a negative duration: %v", into.Age)
		case err != nil && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), "map.toml: ")):
			t.Fatalf("error of type %T: %v", err, err)
		}
	})
}

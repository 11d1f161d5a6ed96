package importer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

// Whatever stands in a map, it is checked, or an Error names the file and the remedy.
func FuzzMap(f *testing.F) {
	presets, err := filepath.Glob("presets/*.toml")
	if err != nil || len(presets) == 0 {
		f.Fatal("no presets: ", err)
	}
	for _, name := range presets {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("vehicle = \"v\"\n[time]\ncolumn = \"t\"\n[[channel]]\nname = \"x\"\nrole = \"state\"\nscale = inf\n[[valid]]\n[[reset]]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := importer.ParseMap("map.toml", text)
		var e *mapfile.Error
		if err != nil && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), "map.toml: ")) {
			t.Fatalf("error of type %T: %v", err, err)
		}
	})
}

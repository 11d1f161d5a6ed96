package csv_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Whatever the table is: an *Error in one line and nothing written, or a log that
// reads back whole.
func FuzzImport(f *testing.F) {
	for _, table := range []string{
		"t,x\n1,2\n2,3\n", "t;x\n1;\n", "# t\tx\n1\t2\n", "\"t\",\"x\"\n1,\"2\"\n", "t,x\n1e3,nan\n1e3,inf\n",
		"\xef\xbb\xbft,x\n1,2\n", "\x1f\x8b\x08\x00", "t,x\n2,1\n1,1\n", "t,x\n1", "t,x,\n1,2,\n",
	} {
		f.Add(table)
	}
	m, err := importer.ParseMap("map.toml", []byte(shortMap+"max_gap = \"1s\"\n"))
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	in, out := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.msgpack")
	f.Fuzz(func(t *testing.T, table string) {
		if err := os.WriteFile(in, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := importTables(context.Background(), m, []string{in}, out, nil)
		if err != nil {
			var e *mapfile.Error
			var lost *importer.LossError
			if !errors.As(err, &e) && !errors.As(err, &lost) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of type %T: %q", err, err)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("failed, and there is a log: %v", err)
			}
			return
		}
		log, err := flightlog.ReadFile(out)
		if err != nil || log.Damage != nil || len(log.Segments) != s.Segments {
			t.Fatalf("log %+v, summary %+v, %v", log, s, err)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	})
}

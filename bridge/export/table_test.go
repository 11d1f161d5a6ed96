package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/export"
)

func TestCSV(t *testing.T) {
	_, path := made(t, 10)
	out := filepath.Join(t.TempDir(), "flight.csv")
	s, err := export.CSV(context.Background(), path, out, nil)
	if err != nil || s.Samples != 10 {
		t.Fatal(s, err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 11 {
		t.Fatal(len(rows), err)
	}
	if d := cmp.Diff(append([]string{"segment", "name", "t [ns]"}, "x0 [m]", "x1 [m]", "u0 [N]", "Temp. 1 [K]"), rows[0]); d != "" {
		t.Error(d)
	}
	if rows[4][4] != "" || rows[4][3] != strconv.FormatFloat(math.Sin(0.03), 'g', -1, 64) || rows[4][2] != "1030000000" || rows[4][1] != "a" || rows[10][0] != "1" || rows[10][1] != "b" {
		t.Error(rows[4], rows[10])
	}
}

// A size limit of the process replaces a full disk: it is reported once, and
// nothing is left.
func TestTableOnAFullDisk(t *testing.T) {
	_, path := made(t, 500)
	dir := t.TempDir()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	limit := old
	limit.Cur = 4096
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	out := filepath.Join(dir, "f.csv")
	_, err := export.CSV(context.Background(), path, out, nil)
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	if err == nil || strings.Count(err.Error(), out+": cannot be written") != 1 || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// An export that is interrupted ends at the next record, however short the log is, and
// leaves nothing.
func TestInterrupted(t *testing.T) {
	m, path := made(t, 500)
	for name, export := range map[string]func(ctx context.Context, out string, progress func(float64)) error{
		"f.csv": func(ctx context.Context, out string, progress func(float64)) error {
			_, err := export.CSV(ctx, path, out, progress)
			return err
		},
		"f.mcap": func(ctx context.Context, out string, progress func(float64)) error {
			_, err := export.MCAP(ctx, path, out, export.Options{Model: m, Progress: progress})
			return err
		},
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		// The first report comes before the first record.
		err := export(ctx, filepath.Join(dir, name), func(float64) { cancel() })
		if left, e := os.ReadDir(dir); !errors.Is(err, context.Canceled) || e != nil || len(left) != 0 {
			t.Errorf("%s: %v, left over: %v", name, err, left)
		}
	}
}

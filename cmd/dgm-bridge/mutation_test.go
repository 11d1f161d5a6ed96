package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

var mutations = flag.Int("mutations", 100, "damaged files of each format")

// reading is what a reader makes of a file: for each message a sum of its topic and values, and the same
// with its time.
type reading struct {
	values, timed []uint64
	problems      int
	refused       error
}

func readingOf(path string) (c reading) {
	c.refused = func() error {
		f, err := formatOf("", path)
		if err != nil {
			return err
		}
		s, err := f.open(path, telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
			if t.Unread != nil {
				return nil
			}
			fields := t.Fields()
			for _, one := range fields[:min(len(fields), 50)] {
				paths = append(paths, one.Path)
			}
			return paths
		}})
		if err != nil {
			return err
		}
		defer s.Close()
		for {
			m, err := s.Next()
			if errors.Is(err, io.EOF) {
				c.problems = s.Problems().Count()
				return nil
			}
			if err != nil {
				return err
			}
			h := fnv.New64a()
			fmt.Fprint(h, m.Topic.Name, m.Topic.Instance)
			for _, v := range m.Values {
				fmt.Fprintf(h, " %x", math.Float64bits(v))
			}
			c.values = append(c.values, h.Sum64())
			fmt.Fprint(h, m.Time)
			c.timed = append(c.timed, h.Sum64())
		}
	}()
	return c
}

// mutate damages a copy of a file as disks, radios and copies do.
func mutate(rng *rand.Rand, file []byte) (what string, out []byte) {
	out = bytes.Clone(file)
	at, n := rng.IntN(len(out)), 1+rng.IntN(200)
	end := min(at+n, len(out))
	switch rng.IntN(6) {
	case 0:
		out[at] ^= 1 << rng.IntN(8)
		return fmt.Sprintf("a bit of byte %d", at), out
	case 1:
		clear(out[at:end])
		return fmt.Sprintf("zeros from byte %d to %d", at, end), out
	case 2:
		return fmt.Sprintf("cut at byte %d", at), out[:at]
	case 3:
		return fmt.Sprintf("without bytes %d to %d", at, end), slices.Delete(out, at, end)
	case 4:
		return fmt.Sprintf("bytes %d to %d twice", at, end), slices.Insert(out, end, out[at:end]...)
	}
	for i := at; i < end; i++ {
		out[i] = byte(rng.Uint32())
	}
	return fmt.Sprintf("noise from byte %d to %d", at, end), out
}

// What a format protects by checksums: everything; the content of a message, but not its stamp, and messages
// may be missing; or nothing, and then a damage that leaves records in their form cannot be detected.
const (
	everything = iota
	messages
	nothing
)

// Whatever happens to a log, reading it takes little memory and time, and either the reader reports it, or what is
// read is what was read before, or the format has nothing by which it could be detected.
func TestDamagedLogsAreReported(t *testing.T) {
	if testing.Short() {
		t.Skip("imports hundreds of logs, one after the other: long under the race detector")
	}
	const mostBytes, mostTime = 64 << 20, time.Second
	for name, protects := range map[string]int{"flight.ulg": nothing, "flight.BIN": nothing, "flight.tlog": messages, "flight.mcap": messages, "flight.log": everything} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("../../bridge/internal/reference/testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), name)
			read := func(b []byte) reading {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				return readingOf(path)
			}
			good := read(file)
			if good.refused != nil || good.problems != 0 || len(good.timed) < 10 {
				t.Fatalf("undamaged: %d messages, %d problems, %v", len(good.timed), good.problems, good.refused)
			}
			known := map[uint64]bool{}
			for _, v := range good.values {
				known[v] = true
			}
			var reported, same, undetectable int
			rng := rand.New(rand.NewPCG(23, 4))
			for range *mutations {
				what, damaged := mutate(rng, file)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := processorTime(t)
				c := read(damaged)
				took := processorTime(t) - began
				runtime.ReadMemStats(&after)
				if bytes := after.TotalAlloc - before.TotalAlloc; bytes > mostBytes || took > mostTime {
					t.Errorf("%s: read with %d MB and %v of processor time", what, bytes>>20, took)
				}
				strange := slices.ContainsFunc(c.values, func(v uint64) bool { return !known[v] })
				switch {
				case c.refused != nil || c.problems > 0:
					reported++
				case slices.Equal(c.timed, good.timed):
					same++
				case protects == nothing || protects == messages && !strange:
					undetectable++
				default:
					t.Errorf("%s: %d messages of %d, other than before, and no problem is reported", what, len(c.timed), len(good.timed))
				}
				if c.refused != nil && strings.Contains(c.refused.Error(), "\n") {
					t.Errorf("%s: the error has several lines: %q", what, c.refused)
				}
			}
			t.Logf("%d damaged files: %d reported, %d read as before, %d that the format cannot show", *mutations, reported, same, undetectable)
		})
	}
}

// processorTime returns what this process has used, which does not depend on how busy the computer is.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

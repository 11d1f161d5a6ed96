package ulog_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/flightlog/inspect"
)

var large = flag.Int("large", 0, "MiB of a log to import in TestLargeLog")

// lengthen writes a log whose data section is that of another, over and over,
// each time later, until it has size bytes. It returns how often that was.
func lengthen(t testing.TB, w io.Writer, log []byte, size int) (times int) {
	t.Helper()
	at := 16
	for !strings.ContainsRune("ALC", rune(log[at+2])) {
		at += 3 + int(binary.LittleEndian.Uint16(log[at:]))
	}
	head := bytes.Clone(log[:at])
	var data []byte
	var stamps []int
	low, high := uint64(1<<63), uint64(0)
	for at+3 <= len(log) {
		end := at + 3 + int(binary.LittleEndian.Uint16(log[at:]))
		if end > len(log) {
			break
		}
		switch log[at+2] {
		case 'A':
			head = append(head, log[at:end]...)
		case 'D':
			v := binary.LittleEndian.Uint64(log[at+5:])
			low, high = min(low, v), max(high, v)
			stamps = append(stamps, len(data)+5)
			fallthrough
		default:
			data = append(data, log[at:end]...)
		}
		at = end
	}
	written, err := w.Write(head)
	for ; written < size && err == nil; times++ {
		var n int
		n, err = w.Write(data)
		written += n
		for _, i := range stamps {
			binary.LittleEndian.PutUint64(data[i:], binary.LittleEndian.Uint64(data[i:])+high-low+10_000)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// A long log is imported in memory that does not depend on its length, and gives
// as many rows as its parts: go test ./bridge/ulog -run LargeLog -large 2000 -v
func TestLargeLog(t *testing.T) {
	size := *large << 20
	if size == 0 {
		size = 20 << 20
	}
	log, err := os.ReadFile(samples(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "long.ulg")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	times := lengthen(t, w, log, size)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	m, err := importer.Preset("px4-quadrotor")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "flight.msgpack")
	peak := uint64(0)
	debug.FreeOSMemory() // of this test and of others
	begin := cpu(t)
	s, err := importer.Import(context.Background(), importer.Job{Format: "ulog", Map: m, Inputs: []string{path}, Out: out, All: true,
		Open: func(path string, wants telemetry.Wants) (telemetry.Source, error) { return ulog.Open(path, wants) },
		Progress: func(float64) {
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			peak = max(peak, mem.Sys-mem.HeapReleased)
		}})
	took := cpu(t) - begin
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB in %.2f s of processors: %.0f MB/s with three passes, %.1f MB of memory", size>>20, took.Seconds(), 1e-6*float64(size)/took.Seconds(), 1e-6*float64(peak))
	if peak > 100e6 {
		t.Errorf("%d bytes of memory", peak)
	}
	// 315 positions in the sample.
	if s.Rows != 315*times {
		t.Errorf("%d rows from %d parts, expected 315 of each", s.Rows, times)
	}
	rep, err := inspect.File(out)
	if err != nil || rep.Samples != s.Rows {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := flightlog.ReadFile(out); size < 100<<20 && err != nil {
		t.Error(err)
	}
}

// cpu is the time that processors have spent on this test: another program's work
// does not count.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Skip("the processor time is not available on this system: ", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkReader(b *testing.B) {
	log, err := os.ReadFile(samples(b)[0])
	if err != nil {
		b.Fatal(err)
	}
	var long bytes.Buffer
	lengthen(b, &long, log, 32<<20)
	b.SetBytes(int64(long.Len()))
	for b.Loop() {
		r := ulog.NewReader("long.ulg", bytes.NewReader(long.Bytes()), telemetry.Wants{Select: func(t *telemetry.Topic) []string {
			if t.Name == "vehicle_attitude" {
				return []string{"q[0]", "q[1]", "q[2]", "q[3]"}
			}
			return nil
		}})
		n := 0
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			n++
		}
		if n < 100_000 {
			b.Fatal(n, " messages")
		}
	}
}

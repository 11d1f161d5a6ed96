package flightlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

func TestCreateFileAppearsWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "flight.msgpack")
	f, err := flightlog.CreateFile(path, header)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.Writer)
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log stands under its name before Commit: %v", err)
	}
	f.Abort()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("after Abort: %v", entries)
	}
	f, err = flightlog.CreateFile(path, header)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	write(t, f.Writer)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := same(&want, log); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("after Commit: %v", entries)
	}
}

func TestCreateFileFailsAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "missing", "flight.msgpack")
	if _, err := flightlog.CreateFile(path, header); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("folder missing: %v", err)
	}
	path = filepath.Join(dir, "flight.msgpack")
	_, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "a b"})
	if err == nil || !strings.HasPrefix(err.Error(), path+": header: vehicle: ") {
		t.Errorf("bad header: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left over: %v", entries)
	}
}

// A recording goes on after a power cut that tore its last record.
func TestAppendFileGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.msgpack")
	for i := range 2 {
		f, err := flightlog.AppendFile(path, header)
		if err != nil {
			t.Fatal(err)
		}
		write(t, f.Writer)
		if i == 1 { // the power is cut
			f.Abort()
		} else if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-5); err != nil {
		t.Fatal(err)
	}
	f, err := flightlog.AppendFile(path, header)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.Writer)
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	// Flushed is readable, whatever happens to the process now.
	log, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var n []int
	for _, s := range log.Segments {
		n = append(n, len(s.T))
	}
	if len(n) != 6 || n[3] != 1 || n[5] != 2 || len(log.Damages) != 2 || log.Damage.Tail || !log.Damages[1].Tail {
		t.Errorf("segments of %v samples, damage %v", n, log.Damages)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if log, err = flightlog.ReadFile(path); err != nil || len(log.Damages) != 1 {
		t.Errorf("after Commit: damage %v, %v", log.Damages, err)
	}
	f.Abort()
	f.Abort()
}

func TestAppendFileRefusesOthersLogs(t *testing.T) {
	path := onDisk(t, golden(t))
	before, _ := os.ReadFile(path)
	other := header
	other.Vehicle = "pend2"
	swapped := header
	swapped.Channels = append([]channel.Channel{}, header.Channels...)
	swapped.Channels[0], swapped.Channels[2] = swapped.Channels[2], swapped.Channels[0]
	for want, h := range map[string]flightlog.Header{
		`vehicle "pend1", not "pend2"`: other,
		`expected "theta", found`:      swapped,
	} {
		_, err := flightlog.AppendFile(path, h)
		if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "record to another file") {
			t.Errorf("%s: %v", want, err)
		}
	}
	text := onDisk(t, []byte("notes of the day"))
	if _, err := flightlog.AppendFile(text, header); !errors.Is(err, flightlog.ErrNotLog) {
		t.Errorf("appending to a text: %v", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("a refused log was changed")
	}
}

// A size limit of the process stands in for a full disk.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	created, live := filepath.Join(dir, "created.msgpack"), filepath.Join(dir, "live.msgpack")
	c, err := flightlog.CreateFile(created, header)
	if err != nil {
		t.Fatal(err)
	}
	l, err := flightlog.AppendFile(live, header)
	if err != nil {
		t.Fatal(err)
	}
	limit := old
	limit.Cur = 3000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	errs := map[string]error{}
	for path, f := range map[string]*flightlog.File{created: c, live: l} {
		for range 1000 {
			if errs[path] = f.Sample(1, make([]float64, 3), make([]float64, 1), make([]float64, 1)); errs[path] != nil {
				break
			}
		}
		if err := f.Commit(); errs[path] == nil {
			errs[path] = err
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	for path, err := range errs {
		if err == nil || !strings.HasPrefix(err.Error(), path+": cannot be written") || !errors.Is(err, syscall.EFBIG) {
			t.Errorf("error %v", err)
		}
	}
	// The log that was made is gone, the recording is good up to the limit.
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left over: %v", entries)
	}
	log, err := flightlog.ReadFile(live)
	if err != nil || len(log.Segments) != 1 || len(log.Segments[0].T) < 20 || log.Damage == nil {
		t.Errorf("the recording: %v, %+v", err, log)
	}
}

package live_test

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A disk that is full ends a recording, which reports it once and keeps what is there.
func TestRecordOnAFullDisk(t *testing.T) {
	nc := serve(t)
	out := filepath.Join(t.TempDir(), "recorded.msgpack")
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	limit := old
	limit.Cur = 16384
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip("no file size limits here: ", err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		s := wire.State{X: []float64{1, 2}, U: []float64{3}, Layout: wire.Layout(channels)}
		for ; ctx.Err() == nil; s.Seq++ {
			s.T += 1e6
			if err := nc.Publish(wire.StateSubject("pend1"), s.Append(nil)); err != nil {
				return // the test is over
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	sum, err := live.Record(ctx, nc, live.RecordConfig{Vehicle: "pend1", Out: out, Channels: channels, Duration: time.Minute})
	if err == nil || strings.Count(err.Error(), "cannot be written") != 1 || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%+v, error %v", sum, err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil || len(log.Segments) != 1 || len(log.Segments[0].T) < 50 || len(log.Segments[0].T) > sum.States {
		t.Errorf("%+v, %v", sum, err)
	}
}

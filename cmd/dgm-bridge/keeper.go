package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// When a recording is uploaded.
const (
	always = "always"
	alarm  = "alarm"
)

// keeper records a vehicle in logs of one length and uploads those that its policy asks for. In its folder are logs that are
// not decided on, in the folder upload there those that wait to be sent.
type keeper struct {
	when     string // "" = no service
	vehicle  string
	dir      string
	around   time.Duration // of a log, and before and after an alarm
	megabyte int64         // most MB that wait

	nc       *nats.Conn
	channels []channel.Channel // (optional) of the vehicle
	wait     time.Duration
	log      func(string)

	alarmed atomic.Int64 // ns, when the last alarm was reported
	flown   atomic.Pointer[fleet.Flown]
}

// flags are the flags of the service.
func (k *keeper) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&k.when, "when", "", "record a vehicle and upload: always, or alarm (around alarms of its estimator)")
	f.StringVar(&k.vehicle, "vehicle", "", "with --when: states come from dgm.state.<vehicle>, alarms from dgm.status.<vehicle>")
	f.StringVar(&k.dir, "dir", "", "with --when: folder in which logs wait, for this service alone")
	f.DurationVar(&k.around, "around", 2*time.Minute, "with --when: length of a log, and how long before and after an alarm is uploaded")
	f.Int64Var(&k.megabyte, "most-mb", 10_000, "with --when: limit of the folder in MB; beyond it the oldest logs are removed")
}

// check returns what is wrong with the flags and files of the command.
func (k *keeper) check(files []string) error {
	switch {
	case k.when == "" && len(files) == 0:
		return cli.Usage("no flight log is given; with --when a vehicle is recorded")
	case k.when == "" && k.vehicle+k.dir != "":
		return cli.Usage("--vehicle and --dir need --when")
	case k.when == "":
		return nil
	case k.when != always && k.when != alarm:
		return cli.Usage("--when %q is neither always nor alarm", k.when)
	case len(files) > 0:
		return cli.Usage("--when records a vehicle: %s cannot be given", files[0])
	case k.dir == "":
		return cli.Usage("--when needs a folder: --dir")
	case k.around < time.Second:
		return cli.Usage("--around %v must be at least 1s", k.around)
	case k.megabyte < 1:
		return cli.Usage("--most-mb %d must be at least 1", k.megabyte)
	}
	if err := wire.CheckVehicle(k.vehicle); err != nil {
		return cli.Usage("--vehicle: %v", err)
	}
	return nil
}

// piece is a recorded log that is not decided on.
type piece struct {
	path       string
	from, till time.Time
}

// wanted reports whether a log is uploaded; it is decided when around has passed since its end.
func (k *keeper) wanted(p *piece) bool {
	return k.when == always || k.alarmed.Load() >= p.from.Add(-k.around).UnixNano()
}

// run records and uploads until the context ends.
func (k *keeper) run(ctx context.Context) error {
	if err := os.MkdirAll(k.outbox(), 0o750); err != nil {
		return err
	}
	// What an earlier run has left was not decided on, and may have ended with the alarm.
	left, err := filepath.Glob(filepath.Join(k.dir, "*.msgpack"))
	for _, path := range left {
		if _, e := logs.Header(path); e != nil { // such as one that the loss of power left empty
			k.log(fmt.Sprintf("%v; it stays where it is", e))
			continue
		}
		err = errors.Join(err, k.keep(path))
	}
	if err != nil {
		return err
	}
	sub, err := k.nc.Subscribe(wire.StatusSubject(k.vehicle), func(m *nats.Msg) {
		var s wire.Status
		if s.Decode(m.Data) != nil || s.Vehicle != k.vehicle {
			return
		}
		f := fleet.FlownBy(&s)
		if k.flown.Store(&f); len(f.Alarms) > 0 {
			k.alarmed.Store(time.Now().UnixNano())
		}
	})
	if err != nil {
		return err
	}
	var sending sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	sending.Go(func() { k.send(ctx) })
	err = k.record(ctx)
	cancel()
	sending.Wait()
	return errors.Join(err, sub.Unsubscribe())
}

// remark returns what the estimator reported last.
func (k *keeper) remark() string {
	if f := k.flown.Load(); f != nil {
		return f.Text()
	}
	return ""
}

// outbox returns the folder of logs that wait to be sent.
func (k *keeper) outbox() string { return filepath.Join(k.dir, "upload") }

// keep lets a log wait to be sent.
func (k *keeper) keep(path string) error {
	return os.Rename(path, filepath.Join(k.outbox(), filepath.Base(path)))
}

// record records one log after the other, and decides on each when the next one is complete.
func (k *keeper) record(ctx context.Context) error {
	var undecided []piece
	for ctx.Err() == nil {
		p := piece{from: time.Now()}
		k.flown.Store(nil) // of an estimator that has ended nothing gets into this log
		p.path = filepath.Join(k.dir, fmt.Sprintf("%s-%s.msgpack", k.vehicle, p.from.UTC().Format("20060102T150405.000000000")))
		sum, err := live.Record(ctx, k.nc, live.RecordConfig{Vehicle: k.vehicle, Out: p.path, Channels: k.channels, Source: "dgm-bridge upload", Duration: k.around, Remark: k.remark})
		if err != nil {
			return err // such as a full disk
		}
		if sum.Refused > 0 {
			k.log(fmt.Sprintf("%s refused, no state of these channels: %s", cli.Count(sum.Refused, "message"), sum.Why))
		}
		p.till = time.Now()
		if sum.States > 0 {
			undecided = append(undecided, p)
		} else if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for len(undecided) > 0 && (k.when == always || time.Since(undecided[0].till) >= k.around) {
			act := os.Remove
			if k.wanted(&undecided[0]) {
				act = k.keep
			}
			if err := act(undecided[0].path); err != nil {
				return err
			}
			undecided = undecided[1:]
		}
		if err := k.limit(); err != nil {
			return err
		}
	}
	return nil
}

// waiting lists the logs that wait to be sent, the oldest first.
func (k *keeper) waiting() ([]os.FileInfo, error) {
	entries, err := os.ReadDir(k.outbox())
	var all []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // else it was sent and removed meanwhile
			all = append(all, info)
		}
	}
	slices.SortStableFunc(all, func(a, b os.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	return all, err
}

// limit removes the oldest logs that are more than may wait.
func (k *keeper) limit() error {
	all, err := k.waiting()
	sum := int64(0)
	for _, info := range slices.Backward(all) {
		if sum += info.Size(); sum > k.megabyte*1e6 {
			k.log(fmt.Sprintf("%s is removed: more than %d MB wait for the link", info.Name(), k.megabyte))
			if e := os.Remove(filepath.Join(k.outbox(), info.Name())); !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

// send sends what waits, the oldest first. What cannot be sent is tried again later and keeps nothing else.
func (k *keeper) send(ctx context.Context) {
	failed := map[string]time.Time{}
	for ctx.Err() == nil {
		all, err := k.waiting()
		if err != nil {
			k.log(err.Error())
		}
		for _, info := range all {
			if ctx.Err() != nil || time.Since(failed[info.Name()]) < k.around {
				continue
			}
			path := filepath.Join(k.outbox(), info.Name())
			l, sent, err := upload(ctx, k.nc, path, k.wait, k.log)
			if err == nil {
				delete(failed, info.Name())
				k.log(fmt.Sprintf("log %.12s of %s is stored, %d bytes", l.ID, k.vehicle, sent.Bytes+sent.Had))
				err = os.Remove(path)
			} else {
				failed[info.Name()] = time.Now()
			}
			if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) {
				k.log(err.Error())
			}
		}
		cli.Wait(ctx, time.Second)
	}
}

// upload stores a log, beginning again after errors of the link until it has waited for too long
// without progress.
func upload(ctx context.Context, nc *nats.Conn, path string, wait time.Duration, log func(string)) (l fleet.Log, sent fleet.Sent, err error) {
	last := time.Now()
	for {
		var store *fleet.Logs
		if store, err = fleet.Uploads(nc); err == nil {
			l, sent, err = store.Upload(ctx, path, func(s fleet.Sent) {
				if s.Bytes > 0 {
					last = time.Now()
				}
			})
		}
		if err == nil || !fleet.Transient(err) || ctx.Err() != nil || time.Since(last) > wait {
			return l, sent, err
		}
		log(fmt.Sprintf("%v; trying again", err))
		if cli.Wait(ctx, 2*time.Second); ctx.Err() != nil {
			return l, sent, context.Cause(ctx)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/node/realtime"
)

// A child is this program started again with other arguments, to do something in a
// process of its own. It ends when its standard input does, so that it cannot
// outlive the program that started it.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// asChild names the environment variable that makes a test's program a child.
const asChild = "DGM_BENCH_CHILD"

func startChild(args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self, args...)}
	c.cmd.Env = append(os.Environ(), asChild+"=1")
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	return c, nil
}

func (c *child) stop() error {
	_ = c.stdin.Close()
	return c.cmd.Wait()
}

// resident returns the memory of the child that is in RAM, MB; 0 where the system
// does not report it.
func (c *child) resident() float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "VmRSS:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	return 0
}

// untilStdinEnds returns a context that ends with the standard input.
func untilStdinEnds(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx, cancel
}

// burnCommand keeps every core busy.
func burnCommand() *cobra.Command {
	return &cobra.Command{
		Use: "burn", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := untilStdinEnds(cmd.Context(), cmd.InOrStdin())
			defer cancel()
			var wg sync.WaitGroup
			for range runtime.NumCPU() {
				wg.Go(func() {
					x := 1.
					for i := 0; ctx.Err() == nil; i++ {
						for range 10000 {
							x = x*1.0000001 + 1e-9
						}
					}
					runtime.KeepAlive(x)
				})
			}
			wg.Wait()
			return nil
		},
	}
}

// applyRealtime applies the real-time settings of a child that answers states.
func applyRealtime(priority int) error {
	rt := realtime.Settings{Priority: priority, LockMemory: priority > 0, Collect: 400, Memory: 256 << 20}
	return rt.Apply()
}

// serveCommand is an estimator in a process of its own.
func serveCommand() *cobra.Command {
	var url, file, name, record, trust, adapt string
	var points, priority, procs int
	var most uint64
	var other []string
	var swap time.Duration
	cmd := &cobra.Command{Use: "serve", Hidden: true, Args: cobra.NoArgs}
	f := cmd.Flags()
	f.StringVar(&url, "nats", "", "")
	f.StringVar(&file, "model", "", "")
	f.StringVar(&name, "vehicle", vehicle, "")
	f.IntVar(&points, "points", 0, "")
	f.IntVar(&priority, "priority", 0, "")
	f.IntVar(&procs, "procs", 0, "")
	f.StringVar(&record, "record", "", "")
	f.StringVar(&trust, "trust", "", "")
	f.StringVar(&adapt, "adapt", "", "")
	f.Uint64Var(&most, "most-file-bytes", 0, "")
	f.StringSliceVar(&other, "other", nil, "")
	f.DurationVar(&swap, "swap", 0, "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := untilStdinEnds(cmd.Context(), cmd.InOrStdin())
		defer cancel()
		if err := applyRealtime(priority); err != nil {
			return err
		}
		if procs > 0 {
			runtime.GOMAXPROCS(procs)
		}
		var models []*model.Model
		for _, path := range append(other, file) {
			m, err := model.ReadFile(path)
			if err != nil {
				return err
			}
			models = append(models, m)
		}
		m := models[len(models)-1]
		if most > 0 {
			if err := limitFiles(most); err != nil {
				return err
			}
		}
		cfg := node.Config{Vehicle: name, Priority: priority, Record: record, TrustFile: trust, Adapt: adapt, Every: 100 * time.Millisecond}
		cfg.Times = speed.Times(m.Horizon, points)
		n, err := node.New(cfg, m)
		if err != nil {
			return err
		}
		nc, err := node.Link{URL: url, Name: "dgm-bench estimator"}.Connect()
		if err != nil {
			return err
		}
		defer nc.Close()
		if swap > 0 {
			go swapEvery(ctx, n, swap, models)
		}
		if err := n.Run(ctx, nc); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}
	return cmd
}

// swapEvery replaces the model of a node by one of several in turns, until the context ends.
func swapEvery(ctx context.Context, n *node.Node, every time.Duration, models []*model.Model) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = n.Swap(models[i%len(models)]) // what is refused is on the status
		}
	}
}

// usage is what a process holds.
type usage struct {
	heap       float64 // MB in use after a collection
	goroutines int
	files      int
}

func measureUsage() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: float64(m.HeapAlloc) / (1 << 20), goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}

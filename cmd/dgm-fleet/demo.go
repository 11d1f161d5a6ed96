package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

// demo is the size of a demonstration.
type demo struct {
	robots, workers int
	segments        int // of each log
	samples         int // of each segment, at 100 Hz
	training        trainer.Config
}

func demoCommand() *cobra.Command {
	d := demo{robots: 3, workers: 2, segments: 6, samples: 2001, training: trainer.Quick()}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show logs in and models out: a server, three simulated robots, two workers",
		Long: `dgm-fleet demo starts a NATS server with JetStream in this process, simulates three pendulums, uploads a
log of each, and lets two workers train their models with the quick preset. It prints the status of the fleet and fails
if a robot has no model. Models are stored; nothing installs them on robots.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "dgm-fleet-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			return d.run(cmd.Context(), dir, cmd.OutOrStdout())
		},
	}
	return cmd
}

// serve starts a server that writes at once what it acknowledges.
func serve(dir string) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "dgm-fleet", DontListen: true, NoLog: true, NoSigs: true, NoFastProducerStall: true,
		JetStream: true, StoreDir: dir, SyncAlways: true,
	})
	if err != nil {
		return nil, fmt.Errorf("the NATS server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		s.Shutdown()
		return nil, errors.New("the NATS server does not start")
	}
	return s, nil
}

func (d *demo) run(ctx context.Context, dir string, out io.Writer) error {
	s, err := serve(filepath.Join(dir, "jetstream"))
	if err != nil {
		return err
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	connect := func(name string) (*nats.Conn, error) { return node.Link{Name: name, InProcess: s}.Connect() }
	operator, err := connect("operator")
	if err != nil {
		return err
	}
	defer operator.Close()
	if err := fleet.Setup(ctx, operator, fleet.Settings{}); err != nil {
		return err
	}
	c, err := open(ctx, operator)
	if err != nil {
		return err
	}
	screen := &lines{w: out}
	for i := range d.robots {
		if err := d.upload(ctx, c, i, dir, screen); err != nil {
			return err
		}
	}
	ids, err := submit(ctx, c, choice{vehicle: "pendulum-*"}, d.training, screen)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	for i := range d.workers {
		nc, err := connect(fmt.Sprintf("worker %d", i+1))
		if err != nil {
			return err
		}
		defer func() { stop(); workers.Wait(); nc.Close() }()
		own, err := open(ctx, nc)
		if err != nil {
			return err
		}
		w := newWorker(own, fmt.Sprintf("w%d", i+1), screen.print)
		w.Dir = dir
		workers.Go(func() { _ = w.Run(working) })
	}
	if err := ended(ctx, c.queue, ids); err != nil {
		return err
	}
	stop()
	workers.Wait()
	return conclude(ctx, c, screen)
}

// upload simulates a robot, each with other noise, and uploads its log.
func (d *demo) upload(ctx context.Context, c client, i int, dir string, out io.Writer) error {
	o := record.Options{
		Robot: robot.Typical(plant.Pendulum()), Vehicle: fmt.Sprintf("pendulum-%d", i+1),
		Segments: d.segments, Samples: d.samples, Source: "dgm-fleet demo",
	}
	o.Robot.Rate, o.Robot.Seed = 100, uint64(i+1)
	path := filepath.Join(dir, o.Vehicle+".msgpack")
	f, err := flightlog.CreateFile(path, o.Header(false))
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := record.Run(ctx, o, f.Writer, nil); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	log, sent, err := c.logs.Upload(ctx, path, nil)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s uploaded log %.12s: %s, %d bytes\n", log.Vehicle, log.ID, cli.Count(log.Samples, "sample"), sent.Bytes)
	return err
}

// ended waits until all jobs have ended.
func ended(ctx context.Context, q *fleet.Queue, ids []string) error {
	for _, id := range ids {
		for {
			s, err := q.Get(ctx, id)
			if err != nil {
				return err
			}
			if s.State.Ended() {
				break
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	return nil
}

// conclude prints the status and fails where a vehicle has no model.
func conclude(ctx context.Context, c client, out io.Writer) error {
	s, err := readStatus(ctx, c, nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printStatus(out, &s); err != nil {
		return err
	}
	for _, v := range s.Vehicles {
		if v.Newest == nil {
			return fmt.Errorf("%s has no model; the reason is beside its job", v.Vehicle)
		}
	}
	return nil
}

// lines is an output of several goroutines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lines) print(line string) { fmt.Fprintln(l, line) }

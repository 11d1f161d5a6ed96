package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
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
	payload         float64 // mass over the robot's own that is put on the first one
	after           float64 // s of its flight
	rule            fleet.Rule
	page            string // (optional) address of the page; then the robots go on until the context ends
}

func demoCommand() *cobra.Command {
	d := demo{robots: 3, workers: 2, segments: 6, samples: 2001, training: trainer.Quick(), payload: 1, after: 8, rule: fleet.UsualRule()}
	// What is trained and decided does not depend on how busy this computer is, only how long it takes.
	d.rule.CanaryFor, d.rule.Longest = 15*time.Second, 24*time.Hour
	d.training.Budget = trainer.Duration(24 * time.Hour)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Demonstrate a fleet: a server, three simulated robots, two workers, a payload",
		Long: `dgm-fleet demo starts a NATS server with JetStream in this process and simulates three pendulums. Their logs
are uploaded, two workers train their models with the quick preset, and the models are promoted to the robots, which run in
real time with an estimator each. Then the first one gets a payload: its log is uploaded, and a new model is trained,
tested as a shadow, used by the robot as the canary, and promoted. The command fails if a step does not happen. On a busy
computer it takes longer, and prints what it waits for.`,
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
	f := cmd.Flags()
	f.DurationVar(&d.rule.CanaryFor, "canary-for", d.rule.CanaryFor, "how long the robot uses the new model before it counts as promoted")
	f.StringVar(&d.page, "page", "", "serve the page of dgm-view at this address of the loopback, such as 127.0.0.1:8080, and continue until interrupted")
	f.DurationVar(&d.rule.Longest, "longest", d.rule.Longest, "how long the new model is tested as a shadow")
	return cmd
}

// serve starts a server that writes at once what it acknowledges. A page of one of the origins may read by
// WebSocket; nothing else listens.
func serve(dir string, origins []string) (*server.Server, error) {
	o := &server.Options{
		ServerName: "dgm-fleet", DontListen: true, NoLog: true, NoSigs: true, NoFastProducerStall: true,
		JetStream: true, StoreDir: dir, SyncAlways: true,
	}
	if len(origins) > 0 {
		viewer := &server.Permissions{Subscribe: &server.SubjectPermission{Allow: page.Reads}, Publish: &server.SubjectPermission{Allow: page.Asks}}
		o.Users = []*server.User{{Username: "all"}, {Username: "viewer", Permissions: viewer}}
		o.NoAuthUser = "all"
		o.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true, NoAuthUser: "viewer", AllowedOrigins: origins}
	}
	s, err := server.NewServer(o)
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

// serve starts the server, and the page where one is asked for.
func (d *demo) serve(ctx context.Context, dir string, out io.Writer) (*server.Server, error) {
	dir = filepath.Join(dir, "jetstream")
	if d.page == "" {
		return serve(dir, nil)
	}
	l, err := net.Listen("tcp", d.page)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another --page", err)
	}
	url := "http://" + l.Addr().String()
	s, err := serve(dir, page.Origins(l.Addr()))
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	go func() { _ = page.Serve(ctx, l, page.Settings{Servers: []string{s.WebsocketURL()}, Fleet: true}) }() // until the end of the demo
	_, err = fmt.Fprintln(out, "The page is at", url+"/")
	return s, err
}

func (d *demo) run(ctx context.Context, dir string, out io.Writer) error {
	s, err := d.serve(ctx, dir, out)
	if err != nil {
		return err
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	connect := func(name string) (*nats.Conn, error) { return node.Link{Name: name, InProcess: s}.Connect() }
	nc, err := connect("operator")
	if err != nil {
		return err
	}
	defer nc.Close()
	if err := fleet.Setup(ctx, nc, fleet.Settings{}); err != nil {
		return err
	}
	c, err := open(ctx, nc)
	if err != nil {
		return err
	}
	screen := &lines{w: out}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	in, err := fleet.OpenInstaller(ctx, nc, private)
	if err != nil {
		return err
	}
	began := time.Now()
	stage := func(text string) { screen.print(fmt.Sprintf("[%3.0f s] %s", time.Since(began).Seconds(), text)) }
	stop, err := d.startWorkers(ctx, connect, dir, screen)
	defer stop()
	if err != nil {
		return err
	}
	stage("the robots' logs are uploaded, and their models trained")
	for i := range d.robots {
		if _, err := d.upload(ctx, c, d.robot(i, 0), dir, screen); err != nil {
			return err
		}
	}
	ids, err := submit(ctx, c, choice{vehicle: "pendulum-*"}, d.training, screen)
	if err == nil {
		err = ended(ctx, c.queue, ids)
	}
	if err != nil {
		return err
	}
	flying, land := context.WithCancel(ctx)
	robots := &simulated{server: s, key: public, log: screen.print}
	defer func() { land(); _ = robots.wait() }()
	stage("the models are promoted, and the robots begin to move")
	for i := range d.robots {
		if err := d.begin(flying, c, in, robots, i); err != nil {
			return err
		}
	}
	stage(fmt.Sprintf("after %g s of motion a payload of %g times the mass is put on %s; its log is uploaded", d.after, d.payload, name(0)))
	if err := d.retrain(ctx, c, dir, screen); err != nil {
		return err
	}
	stage("its new model is tested: shadow, canary, promoted")
	trying, tried := context.WithCancel(ctx)
	defer tried()
	go func() { _ = d.watch(trying, c, in, screen) }() // the rollout does not need it
	err = rollOut(ctx, c, in, &operator{group: name(0), model: fleet.Newest}, d.rule, screen)
	if tried(); err != nil {
		return err
	}
	stage("promoted")
	if err := conclude(ctx, c, public, screen); err != nil {
		return err
	}
	if d.page != "" {
		stage("the robots go on until Ctrl-C")
		<-ctx.Done()
	}
	land()
	return robots.wait()
}

// mostWindows is the number of windows after which the demonstration gives a shadow up that is neither better nor worse.
const mostWindows = 300

// watch prints now and then what the rollout waits for, and ends one of which nothing more can become.
func (d *demo) watch(ctx context.Context, c client, in *fleet.Installer, screen *lines) error {
	robots, err := fleet.Listen(c.nc)
	if err != nil {
		return err
	}
	defer robots.Close()
	every := time.NewTicker(15 * time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		r, err := in.Rollout(ctx, name(0))
		if err != nil {
			continue
		}
		state := robots.Of(name(0))
		s, shadow := &state.Status, state.Status.Shadow()
		over := false
		switch {
		case !state.Live():
			screen.print("waiting for a status of " + name(0))
		case r.Stage == fleet.StageShadow && shadow == nil:
			screen.print("waiting for " + name(0) + " to read the shadow" + because(s.Refused))
			over = s.Refused != ""
		case r.Stage == fleet.StageShadow:
			screen.print(fmt.Sprintf("waiting for enough windows of the shadow: %d of at least %d, difference of scores %.3g, standard deviation %.3g", shadow.Windows, d.rule.Windows, shadow.Difference, shadow.DifferenceStd))
			over = shadow.Windows > mostWindows
		case s.Model != r.Model.Model || len(s.Models) == 0:
			screen.print("waiting for " + name(0) + " to use the new model" + because(s.Refused))
			over = s.Refused != ""
		default:
			screen.print(fmt.Sprintf("waiting for %v of use and %d comparisons: %s uses it for %.0f s", d.rule.CanaryFor, d.rule.Windows, name(0), float64(s.T-s.Models[0].Since)/1e9))
		}
		if over {
			_, err = in.Stop(ctx, name(0))
			return err
		}
	}
}

// because returns a reason as the end of a line.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ", which refused it: " + shown(reason)
}

// startWorkers starts the workers. stop ends them and waits.
func (d *demo) startWorkers(ctx context.Context, connect func(string) (*nats.Conn, error), dir string, screen *lines) (stop func(), err error) {
	working, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	stop = func() { cancel(); workers.Wait() }
	for i := range d.workers {
		nc, err := connect(fmt.Sprintf("worker %d", i+1))
		if err != nil {
			return stop, err
		}
		own, err := open(ctx, nc)
		if err != nil {
			nc.Close()
			return stop, err
		}
		w := newWorker(own, fmt.Sprintf("w%d", i+1), screen.print)
		w.Dir = dir
		workers.Go(func() { defer nc.Close(); _ = w.Run(working) })
	}
	return stop, nil
}

// name returns that of robot i.
func name(i int) string { return fmt.Sprintf("pendulum-%d", i+1) }

// robot returns robot i, each with other noise, with a payload from a time, s, on.
func (d *demo) robot(i int, payload float64) record.Options {
	o := record.Options{Robot: robot.Typical(plant.Pendulum()), Vehicle: name(i), Segments: d.segments, Samples: d.samples, Source: "dgm-fleet demo"}
	o.Robot.Rate, o.Robot.Seed, o.Robot.Payload.Mass = 100, uint64(i+1), payload
	return o
}

// begin promotes the newest model of robot i and lets the robot move.
func (d *demo) begin(ctx context.Context, c client, in *fleet.Installer, robots *simulated, i int) error {
	m, err := in.Find(ctx, name(i), fleet.Newest)
	if err != nil {
		return err
	}
	if _, err := in.Promote(ctx, name(i), m.Ref(), "its first model"); err != nil {
		return err
	}
	first, err := installed(ctx, c, in, name(i))
	if err != nil {
		return err
	}
	o := d.robot(i, 0)
	if i == 0 {
		o.Robot.Payload.Mass, o.Robot.Payload.At = d.payload, d.after
	}
	return robots.fly(ctx, name(i), o.Robot, first)
}

// retrain trains a model of the changed robot on a log of it.
func (d *demo) retrain(ctx context.Context, c client, dir string, screen *lines) error {
	o := d.robot(0, d.payload)
	o.Robot.Seed += 100
	log, err := d.upload(ctx, c, o, dir, screen)
	if err != nil {
		return err
	}
	s, err := c.queue.Submit(ctx, fleet.NewJob(log.Vehicle, []string{log.ID}, d.training.TOML(), cli.Version()), false)
	if err != nil {
		return err
	}
	return ended(ctx, c.queue, []string{s.ID})
}

// upload simulates a robot and uploads its log.
func (d *demo) upload(ctx context.Context, c client, o record.Options, dir string, out io.Writer) (log fleet.Log, err error) {
	path := filepath.Join(dir, o.Vehicle+".msgpack")
	if _, err := record.File(ctx, o, path, ""); err != nil {
		return log, err
	}
	log, sent, err := c.logs.Upload(ctx, path, nil)
	if err != nil {
		return log, err
	}
	_, err = fmt.Fprintf(out, "%s uploaded log %.12s: %s, %d bytes\n", log.Vehicle, log.ID, cli.Count(log.Samples, "sample"), sent.Bytes)
	return log, err
}

// ended waits until all jobs have ended. It asks again where the server did not answer in time.
func ended(ctx context.Context, q *fleet.Queue, ids []string) error {
	for _, id := range ids {
		for {
			s, err := q.Get(ctx, id)
			if err != nil && !fleet.Transient(err) {
				return err
			}
			if s.State.Ended() {
				break
			}
			if cli.Wait(ctx, 200*time.Millisecond); ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// conclude prints the status.
func conclude(ctx context.Context, c client, key ed25519.PublicKey, out io.Writer) error {
	robots, err := fleet.Listen(c.nc)
	if err != nil {
		return err
	}
	defer robots.Close()
	if cli.Wait(ctx, 1500*time.Millisecond); ctx.Err() != nil { // statuses come once a second
		return context.Cause(ctx)
	}
	s, err := readStatus(ctx, c, robots, key)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	return printStatus(out, &s)
}

package chaos

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/proxy"
	"github.com/dgm-robotics/dgm/estimator/node"
)

// process is a part that runs.
type process struct {
	part  part
	cmd   *exec.Cmd
	stdin io.Closer
	lines func(string)
	done  chan struct{}
}

// start starts a process, or starts it again after stop.
func (p *process) start(program string) error {
	described, err := json.Marshal(&p.part)
	if err != nil {
		return err
	}
	p.cmd = exec.Command(program, Command, string(described))
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=50")
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		s := bufio.NewScanner(out)
		for s.Scan() {
			p.lines(s.Text())
		}
		_ = p.cmd.Wait() // it was killed
	}()
	return nil
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
	_ = p.stdin.Close()
}

// Command is the hidden command of the program that calls RunPart.
const Command = "chaos-part"

// simulation is a fleet of processes on the loopback.
type simulation struct {
	program, dir string
	url          string // of the three servers
	servers      []*process
	leaf         *process
	others       []*process // workers, robots and the controller
	vehicles     []string
	proxy        *proxy.Proxy
	mounted      []string // folders

	nc     *nats.Conn
	logs   *fleet.Logs
	queue  *fleet.Queue
	in     *fleet.Installer
	robots *fleet.Robots

	mu         sync.Mutex
	sent       map[string]string // acknowledged logs: vehicle by ID
	latencies  latencies
	unanswered int
}

// ports returns free ports of the loopback.
func ports(n int) (all []int, err error) {
	var open []net.Listener
	for range n {
		l, e := net.Listen("tcp", "127.0.0.1:0")
		if e != nil {
			err = e
			break
		}
		open = append(open, l)
		all = append(all, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range open {
		err = errors.Join(err, l.Close())
	}
	return all, err
}

// begin starts a simulation: with a leaf, a quarter of the robots is behind it; on disks, each server has a file system
// of its own.
func begin(ctx context.Context, o Options, dir string, withLeaf, onDisks bool) (w *simulation, err error) {
	w = &simulation{program: o.Program, dir: dir, sent: map[string]string{}}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return w, err
	}
	free, err := ports(10)
	if err != nil {
		return w, err
	}
	var urls []string
	for i := range 3 {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", free[i]))
		name := fmt.Sprintf("n%d", i+1)
		s := part{Kind: "server", Name: name, Dir: filepath.Join(dir, name), Port: free[i], Routes: free[3+i], Leafs: free[6+i], Cluster: free[3:6]}
		w.servers = append(w.servers, &process{part: s, lines: func(string) {}})
	}
	w.url = strings.Join(urls, ",")
	for _, s := range w.servers {
		if onDisks {
			if err := w.mount(s.part.Dir); err != nil {
				return w, err
			}
			s.part.Most = 4 * diskMB << 20 // the disk is the limit
		}
		if err := s.start(w.program); err != nil {
			return w, err
		}
	}
	leafURL := w.url
	if withLeaf {
		if w.proxy, err = proxy.New(fmt.Sprintf("127.0.0.1:%d", free[6])); err != nil {
			return w, err
		}
		leafURL = fmt.Sprintf("nats://127.0.0.1:%d", free[9])
		w.leaf = &process{part: part{Kind: "server", Name: "leaf", Port: free[9], Remote: "nats-leaf://" + w.proxy.Address()}, lines: func(string) {}}
		if err := w.leaf.start(w.program); err != nil {
			return w, err
		}
	}
	if err := w.open(ctx, private); err != nil {
		return w, err
	}
	add := func(p part, lines func(string)) {
		p.Dir = dir
		w.others = append(w.others, &process{part: p, lines: lines})
	}
	add(part{Kind: "controller", Name: "controller", URL: w.url, Key: private}, func(string) {})
	for i := range o.Workers {
		add(part{Kind: "worker", Name: fmt.Sprintf("w%d", i+1), URL: w.url}, func(string) {})
	}
	for i := range o.Robots {
		v, url := fmt.Sprintf("robot-%02d", i+1), w.url
		if withLeaf && i%4 == 0 {
			url = leafURL
		}
		w.vehicles = append(w.vehicles, v)
		add(part{Kind: "robot", Name: v, URL: url, Key: public}, func(line string) { w.heard(v, line) })
	}
	for _, p := range w.others {
		if err := p.start(w.program); err != nil {
			return w, err
		}
	}
	return w, nil
}

// heard reads a line that a robot has printed.
func (w *simulation) heard(vehicle, line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var id string
	var echo, predict float64
	if n, _ := fmt.Sscanf(line, latencyLine, &echo, &predict); n == 2 {
		w.latencies.echo, w.latencies.predict = append(w.latencies.echo, echo), append(w.latencies.predict, predict)
	} else if n, _ := fmt.Sscanf(line, logLine, &id); n == 1 {
		w.sent[id] = vehicle
	} else if line == unansweredLine {
		w.unanswered++
	}
}

// open connects the operator, and sets the fleet up when the cluster is ready.
func (w *simulation) open(ctx context.Context, key ed25519.PrivateKey) (err error) {
	link := node.Link{URL: w.url, Name: "operator"}
	if w.nc, err = link.Connect(); err != nil {
		return err
	}
	if w.robots, err = fleet.Listen(w.nc); err != nil {
		return err
	}
	settings := fleet.Settings{Replicas: 3, Lease: 5 * time.Second}
	return w.retry(ctx, time.Minute, func(ctx context.Context) error {
		err := fleet.Setup(ctx, w.nc, settings)
		if err == nil {
			w.logs, err = fleet.OpenLogs(ctx, w.nc)
		}
		if err == nil {
			w.queue, err = fleet.OpenQueue(ctx, w.nc)
		}
		if err == nil {
			w.in, err = fleet.OpenInstaller(ctx, w.nc, key)
		}
		return err
	})
}

// retry does something until it succeeds, or for a time.
func (w *simulation) retry(ctx context.Context, long time.Duration, do func(ctx context.Context) error) error {
	began := time.Now()
	for {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := do(limited)
		cancel()
		if err == nil || ctx.Err() != nil || time.Since(began) > long {
			return err
		}
		cli.Wait(ctx, 300*time.Millisecond)
	}
}

// diskMB is the size of a server's file system.
const diskMB = 192

// errNoDisk is that this process may not make a file system.
var errNoDisk = errors.New("this process may not mount a file system (root may): no disk was filled; scenario full does the same with the limit of the server")

// mount makes a small file system in memory.
func (w *simulation) mount(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", diskMB), "dgm-chaos", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %v: %s", errNoDisk, err, strings.TrimSpace(string(out)))
	}
	w.mounted = append(w.mounted, dir)
	return nil
}

// end kills everything.
func (w *simulation) end() {
	for _, p := range append(append(w.others, w.servers...), w.leaf) {
		if p != nil && p.done != nil {
			p.kill()
		}
	}
	for _, dir := range w.mounted {
		_ = exec.Command("umount", dir).Run() // of a memory that ends with the computer at the latest
	}
	if w.proxy != nil {
		_ = w.proxy.Close()
	}
	if w.nc != nil {
		w.nc.Close()
	}
}

// Package chaos kills, partitions and fills a fleet on the loopback, and counts what is lost: three servers in
// a cluster, a leaf node, workers, robots and a controller, each a process of its own.
package chaos

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
)

// part is what one process does.
type part struct {
	Kind string // server, worker, robot or controller
	Name string // of the robot, its vehicle
	URL  string // of the servers
	Dir  string
	Key  []byte // public for a robot, private for the controller

	Port, Routes, Leafs int    // of a server
	Cluster             []int  // ports of routes
	Remote              string // of a leaf node
	Most                int64  // bytes that a server may store; 0 = any
}

// RunPart is a process of the fleet, described as JSON. It ends when its standard input does.
func RunPart(ctx context.Context, described string) error {
	var p part
	if err := json.Unmarshal([]byte(described), &p); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }() // the parent is gone
	if p.Kind == "server" {
		return p.serve(ctx)
	}
	nc, err := node.Link{URL: p.URL, Name: p.Name}.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	for ctx.Err() == nil {
		switch p.Kind {
		case "worker":
			err = p.work(ctx, nc)
		case "robot":
			err = p.fly(ctx, nc)
		default:
			err = p.control(ctx, nc)
		}
		if err != nil {
			cli.Wait(ctx, 200*time.Millisecond) // the servers start
		}
	}
	return nil
}

func (p *part) serve(ctx context.Context) error {
	o := &server.Options{ServerName: p.Name, Host: "127.0.0.1", Port: p.Port, NoLog: true, NoSigs: true}
	if p.Remote != "" {
		u, err := url.Parse(p.Remote)
		if err != nil {
			return err
		}
		o.LeafNode.Remotes = []*server.RemoteLeafOpts{{URLs: []*url.URL{u}}}
		o.LeafNode.ReconnectInterval = 500 * time.Millisecond
	} else {
		o.JetStream, o.StoreDir, o.JetStreamMaxStore = true, p.Dir, p.Most
		o.Cluster = server.ClusterOpts{Name: "chaos", Host: "127.0.0.1", Port: p.Routes}
		o.LeafNode.Host, o.LeafNode.Port = "127.0.0.1", p.Leafs
		for _, port := range p.Cluster {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	<-ctx.Done()
	s.Shutdown()
	return nil
}

// size of all models: what they predict does not matter here.
var size = artificial.Size{K: 2, P: 1, Features: 8, Points: 5, Horizon: 1}

// work is a worker whose models are made up, another one at each try, after a moment.
func (p *part) work(ctx context.Context, nc *nats.Conn) error {
	logs, e1 := fleet.OpenLogs(ctx, nc)
	queue, e2 := fleet.OpenQueue(ctx, nc)
	models, e3 := fleet.OpenModels(ctx, nc)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	w := &fleet.Worker{Name: p.Name, Version: "chaos", Logs: logs, Queue: queue, Models: models, Dir: p.Dir, Log: func(string) {}}
	w.Train = madeUp
	return w.Run(ctx)
}

// madeUp writes another model at each try, after a moment.
func madeUp(ctx context.Context, t fleet.Training) (fleet.Model, error) {
	cli.Wait(ctx, 200*time.Millisecond+rand.N(time.Second))
	id, file, err := made(rand.Uint64())
	if err == nil {
		err = os.WriteFile(t.Out, file, 0o666)
	}
	if err != nil {
		return fleet.Model{}, err
	}
	return fleet.Model{ID: id}, ctx.Err()
}

// made returns the ID and the file of a made-up model.
func made(seed uint64) (id string, file []byte, err error) {
	m := artificial.New(size, seed)
	if err = m.Sealed(); err != nil {
		return "", nil, err
	}
	file, err = m.Encode()
	return m.ID, file, err
}

// control carries rollouts on and delivers what was decided.
func (p *part) control(ctx context.Context, nc *nats.Conn) error {
	in, err := fleet.OpenInstaller(ctx, nc, p.Key)
	if err != nil {
		return err
	}
	queue, err := fleet.OpenQueue(ctx, nc)
	if err != nil {
		return err
	}
	robots, err := fleet.Listen(nc)
	if err != nil {
		return err
	}
	defer robots.Close()
	c := &fleet.Controller{In: in, Robots: robots, Queue: queue, Every: 500 * time.Millisecond, Log: func(string) {}}
	return c.Run(ctx, "")
}

// fly is a robot: states, an estimator that accepts models signed for it, and a log now and then. It prints
// the ID of each log whose upload was acknowledged, and latencies.
func (p *part) fly(ctx context.Context, nc *nats.Conn) error {
	n, err := node.New(node.Config{Vehicle: p.Name, Accept: model.Acceptance{Key: ed25519.PublicKey(p.Key)}, NoQueries: true, NoTrust: true, Every: 500 * time.Millisecond}, artificial.New(size, 0))
	if err != nil {
		return err
	}
	go func() { _ = n.Run(ctx, nc) }() // until ctx ends
	go n.Watch(ctx, nc, fleet.FlownObjects, fleet.FlownObject(p.Name))
	own, err := node.Link{URL: p.URL, Name: p.Name + " sensor"}.Connect()
	if err != nil {
		return err
	}
	defer own.Close()
	go func() { _ = new(sensor).run(ctx, p.Name, own, nc) }() // until ctx ends
	for i := 0; ctx.Err() == nil; i++ {
		path := filepath.Join(p.Dir, fmt.Sprintf("%s-%d-%d.msgpack", p.Name, os.Getpid(), i))
		if err := p.record(path); err != nil {
			return err
		}
		for ctx.Err() == nil {
			limited, cancel := context.WithTimeout(ctx, 10*time.Second)
			logs, err := fleet.OpenLogs(limited, nc)
			if err == nil {
				var log fleet.Log
				if log, _, err = logs.Upload(limited, path, nil); err == nil {
					fmt.Printf(logLine+"\n", log.ID)
				}
			}
			cancel()
			if err == nil {
				break
			}
			cli.Wait(ctx, 500*time.Millisecond)
		}
		_ = os.Remove(path) // a temporary folder
		cli.Wait(ctx, 2*time.Second+rand.N(2*time.Second))
	}
	return nil
}

func (p *part) record(path string) error {
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: p.Name, Channels: []channel.Channel{{Name: "angle", Unit: "rad", Role: channel.State}}})
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := f.BeginSegment("1", nil); err != nil {
		return err
	}
	for i := range 200 {
		if err := f.Sample(int64(i+1)*10e6, []float64{rand.Float64()}, nil, nil); err != nil {
			return err
		}
	}
	return f.Commit()
}

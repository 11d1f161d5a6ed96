package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// Options of Run.
type Options struct {
	Program         string // this one, whose command Command calls RunPart
	Robots, Workers int
	Duration        time.Duration // of each scenario
	Scenarios       []string      // (optional) names; defaults to all
	Log             func(line string)

	Accounts func(ctx context.Context) (Server, error)                        // starts a server with an account for each role
	Train    func(ctx context.Context, t fleet.Training) (fleet.Model, error) // as workers do
	Settings string                                                           // of a training
}

// Outcome is what was counted in one scenario.
type Outcome struct {
	Scenario     string `json:"scenario"`
	OK           bool   `json:"ok"`
	JobsLost     int    `json:"jobs_lost"`     // acknowledged and not ended
	ResultsTwice int    `json:"results_twice"` // jobs with another result than the first
	LogsLost     int    `json:"logs_lost"`     // acknowledged and not readable
	WrongModels  int    `json:"wrong_models"`  // seen in use, and not promoted to the vehicle
	Behind       int    `json:"behind"`        // robots that do not use the promoted model at the end

	Jobs   int    `json:"jobs"`
	Logs   int    `json:"logs"`
	Kills  int    `json:"kills"`
	Models int    `json:"promotions"`
	Error  string `json:"error,omitempty"`
	Skip   string `json:"skipped,omitempty"` // why the scenario was not run; it is then OK

	Tried   int             `json:"tried,omitempty"`   // what a role may not do, in wrong hands
	Through []fleet.Through `json:"through,omitempty"` // of it

	Latency Latency `json:"latency"`

	Settled float64 `json:"settled"` // s from the end of the disturbance until all was well
}

// scenario disturbs a simulation until the context ends, and then heals it.
type scenario struct {
	name    string
	leaf    bool
	disks   bool // of servers, file systems of their own
	disturb func(ctx context.Context, w *simulation, o *Outcome) error
	attack  func(ctx context.Context, a *attacked, o *Outcome) error // in place of disturb: on a server with accounts
}

var scenarios = []scenario{
	{name: "kill", disturb: killAny}, {name: "partition", leaf: true, disturb: cutLeaf}, {name: "full", disturb: fill}, {name: "disk", disks: true, disturb: fillDisks},
	{name: "stolen-robot", attack: stolenRobot}, {name: "stolen-viewer", attack: stolenViewer}, {name: "forged-status", attack: forgedStatus},
	{name: "poisoned-log", attack: poisonedLog}, {name: "clock-in-2100", attack: clockIn2100}, {name: "canary-in-silence", attack: canaryInSilence},
}

// Names returns those of all scenarios, in their order.
func Names() (all []string) {
	for _, s := range scenarios {
		all = append(all, s.name)
	}
	return all
}

// Run runs all scenarios, one after the other, each with processes of its own.
func Run(ctx context.Context, o Options) (all []Outcome, err error) {
	for _, s := range scenarios {
		if len(o.Scenarios) > 0 && !slices.Contains(o.Scenarios, s.name) {
			continue
		}
		do := run
		if s.attack != nil {
			do = attack
		}
		r, err := do(ctx, o, s)
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		if errors.Is(err, errNoDisk) {
			r.Skip, err = err.Error(), nil
		}
		if err != nil {
			r.Error = err.Error()
		}
		r.OK = err == nil && r.JobsLost+r.ResultsTwice+r.LogsLost+r.WrongModels+r.Behind+len(r.Through) == 0
		all = append(all, r)
		o.Log(fmt.Sprintf("%+v", r))
	}
	return all, nil
}

func run(ctx context.Context, o Options, s scenario) (r Outcome, err error) {
	r.Scenario = s.name
	dir, err := os.MkdirTemp("", "dgm-chaos-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	o.Log("scenario " + s.name)
	w, err := begin(ctx, o, dir, s.leaf, s.disks)
	defer w.end()
	if err != nil {
		return r, fmt.Errorf("starting: %w", err)
	}
	b := &records{simulation: w, log: o.Log, jobs: map[string]bool{}, results: map[string]string{}, promoted: map[string]map[string]bool{}, wrong: map[string]bool{}}
	b.first = artificial.New(size, 0).ID
	for began := time.Now(); len(b.jobs) == 0; cli.Wait(ctx, 100*time.Millisecond) { // on a slow computer later than the disturbance
		if err = b.once(ctx); time.Since(began) > settled || ctx.Err() != nil {
			return r, fmt.Errorf("no job was taken in the first %v: %w", settled, cmp.Or(err, ctx.Err(), errors.New("no robot has sent a log")))
		}
	}
	working, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() { defer close(kept); b.keep(working) }()
	disturbing, calm := context.WithTimeout(ctx, o.Duration)
	err = s.disturb(disturbing, w, &r)
	calm()
	stop()
	<-kept
	if err != nil {
		return r, err
	}
	w.mu.Lock()
	r.Latency = w.latencies.report(w.unanswered)
	w.mu.Unlock()
	o.Log(fmt.Sprintf("states that estimators refused since they were started last: %v", w.refused()))
	o.Log("healed; waiting for the end of all jobs")
	return r, b.settle(ctx, &r)
}

// refused returns how many states the estimators have refused, by reason.
func (w *simulation) refused() map[string]uint64 {
	all := map[string]uint64{}
	for _, v := range w.vehicles {
		for _, r := range w.robots.Of(v).Status.Reasons {
			all[r.Reason] += r.Count
		}
	}
	return all
}

// killAny kills a process at random, again and again, and starts it again.
func killAny(ctx context.Context, w *simulation, o *Outcome) error {
	for ctx.Err() == nil {
		all := append(append([]*process{}, w.servers...), w.others[:min(len(w.others), 4)]...) // servers, controller and workers as often as all robots
		p := all[rand.N(len(all))]
		if rand.N(2) == 0 {
			p = w.others[rand.N(len(w.others))]
		}
		p.kill()
		o.Kills++
		cli.Wait(ctx, rand.N(1500*time.Millisecond))
		if err := p.start(w.program); err != nil {
			return err
		}
		cli.Wait(ctx, 500*time.Millisecond+rand.N(2*time.Second))
	}
	return nil
}

// cutLeaf lets nothing pass to and from the leaf for half of the time.
func cutLeaf(ctx context.Context, w *simulation, o *Outcome) error {
	defer w.proxy.Set(0, false)
	for ctx.Err() == nil {
		w.proxy.Set(0, true)
		w.proxy.Drop()
		o.Kills++
		cli.Wait(ctx, 5*time.Second)
		w.proxy.Set(0, false)
		cli.Wait(ctx, 5*time.Second)
	}
	return nil
}

// fill leaves little room to the servers' stores, and then enough.
func fill(ctx context.Context, w *simulation, o *Outcome) error {
	cli.Wait(ctx, 3*time.Second)
	again := func(most func(dir string) int64) error {
		for _, s := range w.servers {
			s.kill()
			o.Kills++
			s.part.Most = most(s.part.Dir)
			if err := s.start(w.program); err != nil {
				return err
			}
			cli.Wait(context.WithoutCancel(ctx), 3*time.Second) // the others carry on
		}
		return nil
	}
	if err := again(func(dir string) int64 { return sizeOf(dir) + 256<<10 }); err != nil {
		return err
	}
	<-ctx.Done()
	return again(func(string) int64 { return 0 })
}

// fillDisks fills the disk of one server after the other, until nothing can be written, for a third of the time each. A server that could not
// write has ended JetStream, and is started again when there is room.
func fillDisks(ctx context.Context, w *simulation, o *Outcome) error {
	end, _ := ctx.Deadline()
	for i, s := range w.servers {
		each := time.Until(end) / time.Duration(len(w.servers)-i)
		filler := filepath.Join(s.part.Dir, "filler")
		o.Kills++
		for begin := time.Now(); ; cli.Wait(ctx, 100*time.Millisecond) {
			if err := fillUp(filler); err != nil {
				return err
			}
			if time.Since(begin) >= each || ctx.Err() != nil {
				break
			}
		}
		s.kill()
		if err := os.Remove(filler); err != nil {
			return err
		}
		if err := s.start(w.program); err != nil {
			return err
		}
		cli.Wait(context.WithoutCancel(ctx), 5*time.Second) // the others carry on
	}
	return nil
}

// fillUp appends to a file until its disk is full.
func fillUp(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	for zeros := make([]byte, 1<<20); len(zeros) > 0 && err == nil; {
		if _, err = f.Write(zeros); errors.Is(err, syscall.ENOSPC) {
			zeros, err = zeros[:len(zeros)/2], nil
		}
	}
	return errors.Join(err, f.Close())
}

// sizeOf returns the size of all files in a folder.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil // files come and go
	})
	return sum
}

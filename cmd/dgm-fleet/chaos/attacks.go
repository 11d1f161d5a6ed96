package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// tries tries everything that a role may not do, and looks for what another robot has.
func (a *attacked) tries(ctx context.Context, role string, o *Outcome) error {
	h, err := a.installed(ctx)
	if err != nil {
		return err
	}
	authority := fleet.Authority{Robots: a.Robots}
	audit, err := authority.ExamineAs(ctx, a.Connect, role)
	if err != nil {
		return err
	}
	o.Tried, o.Through = audit.Tried, audit.Through
	return a.unharmed(ctx, h)
}

// stolenRobot: the credential of one robot is in wrong hands.
func stolenRobot(ctx context.Context, a *attacked, o *Outcome) error {
	return a.tries(ctx, fleet.RobotRole(a.Robots[0]), o)
}

// stolenViewer: that of a viewer is; afterwards workers still get jobs.
func stolenViewer(ctx context.Context, a *attacked, o *Outcome) error {
	if err := a.tries(ctx, fleet.RoleViewer, o); err != nil {
		return err
	}
	return a.trains(ctx, a.Robots[1], nil, madeUp)
}

// trains submits a job on all logs of a vehicle and lets a worker do it until it is done. see, unless nil, gets the job.
func (a *attacked) trains(ctx context.Context, vehicle string, see func(fleet.JobStatus) error, train func(context.Context, fleet.Training) (fleet.Model, error)) error {
	all, _, err := a.logs.List(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, l := range all {
		if l.Vehicle == vehicle {
			ids = append(ids, l.ID)
		}
	}
	nc, err := a.as(fleet.RoleWorker)
	if err != nil {
		return err
	}
	logs, e1 := fleet.OpenLogs(ctx, nc)
	queue, e2 := fleet.OpenQueue(ctx, nc)
	models, e3 := fleet.OpenModels(ctx, nc)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	job, err := a.queue.Submit(ctx, fleet.NewJob(vehicle, ids, a.o.Settings, "chaos"), true)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	w := &fleet.Worker{Name: "chaos", Version: "chaos", Logs: logs, Queue: queue, Models: models, Dir: a.dir, Log: a.o.Log, Train: train}
	done := make(chan error, 1)
	go func() { done <- w.Run(working) }()
	defer func() { stop(); <-done }()
	for began := time.Now(); time.Since(began) < settled && ctx.Err() == nil; cli.Wait(ctx, 200*time.Millisecond) {
		s, err := a.queue.Get(ctx, job.ID)
		if err != nil {
			return err
		}
		if !s.State.Ended() {
			continue
		}
		if s.State != fleet.Done {
			return fmt.Errorf("the job has %s: %s", s.State, s.Reason)
		}
		if see != nil {
			return see(s)
		}
		return nil
	}
	return fmt.Errorf("no worker has ended the job of %s in %v", vehicle, settled)
}

// forgedStatus: one robot sends statuses of another. Nobody else gets them, and those of the other robot come.
func forgedStatus(ctx context.Context, a *attacked, o *Outcome) error {
	thief, victim := a.Robots[0], a.Robots[1]
	robots, err := fleet.Listen(a.operator)
	if err != nil {
		return err
	}
	defer robots.Close()
	subscriptions := map[string]*nats.Subscription{}
	for _, role := range []string{fleet.RoleOperator, fleet.PlannerRole(victim)} {
		nc, err := a.as(role)
		if err != nil {
			return err
		}
		if subscriptions[role], err = nc.SubscribeSync(wire.StatusSubject(victim)); err != nil {
			return err
		}
		if err := nc.Flush(); err != nil {
			return err
		}
	}
	own, e1 := a.as(fleet.RobotRole(victim))
	other, e2 := a.as(fleet.RobotRole(thief))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	st := wire.Status{Vehicle: victim, Instance: "true", T: time.Now().UnixNano()}
	forged := st
	forged.Instance = "forged"
	for range 50 {
		o.Tried++
		if err := other.Publish(wire.StatusSubject(victim), forged.Append(nil)); err != nil {
			return err
		}
	}
	if err := errors.Join(other.Flush(), own.Publish(wire.StatusSubject(victim), st.Append(nil)), own.Flush()); err != nil {
		return err
	}
	for role, seen := range subscriptions {
		m, err := seen.NextMsg(5 * time.Second)
		if err != nil {
			return fmt.Errorf("the %s gets no status of %s: %w", role, victim, err)
		}
		for ; err == nil; m, err = seen.NextMsg(500 * time.Millisecond) {
			var s wire.Status
			if s.Decode(m.Data) != nil || s.Instance != st.Instance {
				o.Through = append(o.Through, fleet.Through{Role: fleet.RobotRole(thief), Action: wire.StatusSubject(victim), Target: "the " + role + " gets it"})
			}
		}
	}
	if r := robots.Of(victim); !r.Live() || r.Status.Instance != st.Instance {
		return fmt.Errorf("the operator sees instance %q of %s, which was seen %v", r.Status.Instance, victim, r.Came)
	}
	return nil
}

// poisonedLog: one of three logs of a robot is damaged. The job goes on without it and names it.
func poisonedLog(ctx context.Context, a *attacked, _ *Outcome) error {
	vehicle := a.Robots[0]
	nc, err := a.as(fleet.RobotRole(vehicle))
	if err != nil {
		return err
	}
	own, err := fleet.Uploads(nc)
	if err != nil {
		return err
	}
	for i := range 3 {
		path := filepath.Join(a.dir, fmt.Sprintf("swing-%d.msgpack", i))
		if err := swing(path, vehicle, i, i == 1); err != nil {
			return err
		}
		if _, _, err := own.Upload(ctx, path, nil); err != nil {
			return err
		}
	}
	return a.trains(ctx, vehicle, func(s fleet.JobStatus) error {
		if left := slices.DeleteFunc(slices.Clone(s.Lines), func(l string) bool { return !strings.Contains(l, "left out") }); len(left) != 1 {
			return fmt.Errorf("%d logs are said to be left out, expected 1: %q", len(left), s.Lines)
		}
		return nil
	}, a.o.Train)
}

// swing writes the log of a pendulum, or one whose channels nobody else's have.
func swing(path, vehicle string, seed int, poisoned bool) error {
	channels := []channel.Channel{{Name: "theta", Unit: "rad", Role: channel.State}, {Name: "omega", Unit: "rad/s", Role: channel.State}}
	if poisoned {
		channels = channels[:1]
	}
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: vehicle, Channels: channels})
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := f.BeginSegment("1", nil); err != nil {
		return err
	}
	x, v := 1+0.2*float64(seed), 0.0
	for i := range 1500 {
		for range 10 {
			v -= 20 * x * (1 - x*x/6) * 0.001
			x += v * 0.001
		}
		values := []float64{x, v}
		if poisoned {
			values = []float64{0} // never moves
		}
		if err := f.Sample(int64(i+1)*10e6, values, nil, nil); err != nil {
			return err
		}
	}
	return f.Commit()
}

// clockIn2100: a worker whose clock is wrong registers a model. One that is trained after it is the newest.
func clockIn2100(ctx context.Context, a *attacked, _ *Outcome) error {
	vehicle := a.Robots[0]
	worker, err := a.as(fleet.RoleWorker)
	if err != nil {
		return err
	}
	late, err := a.registered(ctx, worker, vehicle, 1, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return err
	}
	cli.Wait(ctx, 1100*time.Millisecond)
	next, err := a.registered(ctx, worker, vehicle, 2, time.Now())
	if err != nil {
		return err
	}
	newest, err := a.in.Models.Newest(ctx, vehicle)
	if err != nil {
		return err
	}
	if newest.ID != next.ID {
		return fmt.Errorf("the newest model is %s of 2100, expected %s: %v", late.ID, next.ID, newest.Trained)
	}
	return nil
}

// canaryInSilence: a canary uses a new model and shows nothing of it. The model goes back, and nobody else gets it.
func canaryInSilence(ctx context.Context, a *attacked, _ *Outcome) error {
	canary, follower := a.Robots[0], a.Robots[1]
	old, err := a.registered(ctx, a.operator, canary, 1, time.Now())
	if err != nil {
		return err
	}
	next, err := a.registered(ctx, a.operator, canary, 2, time.Now())
	if err != nil {
		return err
	}
	for _, v := range a.Robots {
		if _, err := a.in.Promote(ctx, v, old.Ref(), "first"); err != nil {
			return err
		}
	}
	rule := fleet.UsualRule()
	rule.CanaryFor, rule.Longest = time.Second, 4*time.Second
	g := fleet.Group{Name: "all", Vehicles: []string{canary, follower}}
	if _, err := a.in.Begin(ctx, g, next.Ref(), rule); err != nil {
		return err
	}
	robots, err := fleet.Listen(a.operator)
	if err != nil {
		return err
	}
	defer robots.Close()
	own, err := a.as(fleet.RobotRole(canary))
	if err != nil {
		return err
	}
	silent, stop := context.WithTimeout(ctx, settled)
	defer stop()
	go func() { // a status now and then, without a comparison of what was predicted with what was measured
		began := time.Now()
		for ; silent.Err() == nil; cli.Wait(silent, 100*time.Millisecond) {
			st := wire.Status{Vehicle: canary, Model: old.ID, T: time.Now().UnixNano()}
			if i, err := a.in.Get(silent, canary); err == nil && i.Flown.Model == next.ID {
				st.Model = next.ID
			} else {
				st.Models = append(st.Models, wire.LoadedModel{Model: next.ID, Role: wire.RoleShadow, Windows: 40, Difference: -1, DifferenceStd: 1, Buckets: []float64{1}, Coverage: []float64{0.95}})
			}
			st.Models = slices.Insert(st.Models, 0, wire.LoadedModel{Model: st.Model, Role: wire.RoleFlown, Since: began.UnixNano()})
			_ = own.Publish(wire.StatusSubject(canary), st.Append(nil)) // the next one
		}
	}()
	c := &fleet.Controller{In: a.in, Robots: robots, Every: 200 * time.Millisecond, Log: a.o.Log}
	if err := c.Run(silent, g.Name); err != nil {
		return err
	}
	r, err := a.in.Rollout(ctx, g.Name)
	if err != nil {
		return err
	}
	if r.Stage != fleet.StageReturned {
		return fmt.Errorf("the rollout is %v: %s", r.Stage, r.Reason)
	}
	for _, v := range a.Robots {
		if i, err := a.in.Get(ctx, v); err != nil || i.Flown == nil || i.Flown.Model != old.ID {
			return fmt.Errorf("%s does not use its old model: %+v, %w", v, i, err)
		}
	}
	return nil
}

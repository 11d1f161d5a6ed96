package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Controller carries rollouts on. All that it knows is in the stores and in the statuses of the vehicles: it can be
// killed and started again at any time, and several may run.
type Controller struct {
	In     *Installer
	Robots *Robots
	Queue  *Queue        // (optional) whose jobs without a message it queues again
	Every  time.Duration // (optional) between two looks; defaults to 2 s
	Log    func(line string)

	busy map[string]string // group of the rollout that has not ended, by vehicle
}

// deliverEvery is how many looks pass between two checks of what vehicles read.
const deliverEvery = 10

// Run carries rollouts on until the context ends, or, with a group, until the rollout to that has
// ended.
func (c *Controller) Run(ctx context.Context, group string) error {
	logged := ""
	for look := 0; ; look++ {
		err := c.look(ctx, look%deliverEvery == 0)
		if err != nil && ctx.Err() == nil && err.Error() != logged {
			c.Log(fmt.Sprintf("%v; trying again", err))
		}
		logged = ""
		if err != nil {
			logged = err.Error()
		}
		if group != "" && err == nil {
			r, err := c.In.Rollout(ctx, group)
			if err == nil && r.Stage.Ended() || errors.Is(err, ErrNoRollout) {
				return err
			}
		}
		pause(ctx, cmp.Or(c.Every, 2*time.Second)) // a watch could end without a message after a reconnect
		if ctx.Err() != nil {
			return nil
		}
	}
}

// look carries every rollout on as far as it goes now. What fails for one does not keep the others.
func (c *Controller) look(ctx context.Context, deliver bool) error {
	all, _, err := c.In.Rollouts(ctx)
	if err != nil {
		return err
	}
	// Of two that began at the same moment the first one has the vehicle.
	slices.SortFunc(all, func(a, b Rollout) int { return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.Group, b.Group)) })
	c.busy = map[string]string{}
	for _, r := range all {
		for _, v := range r.Vehicles {
			if !r.Stage.Ended() && c.busy[v] == "" {
				c.busy[v] = r.Group
			}
		}
	}
	var failed error
	for i := range all {
		if !all[i].Stage.Ended() || deliver {
			if err := c.carry(ctx, all[i].Group); err != nil {
				failed = errors.Join(failed, fmt.Errorf("rollout to %s: %w", all[i].Group, err))
			}
		}
	}
	if deliver {
		failed = errors.Join(failed, c.deliverAll(ctx), c.restore(ctx))
	}
	return failed
}

// restore queues jobs again whose messages were lost.
func (c *Controller) restore(ctx context.Context) error {
	if c.Queue == nil {
		return nil
	}
	ids, err := c.Queue.Restore(ctx)
	for _, id := range ids {
		c.Log(fmt.Sprintf("job %s had no message in the queue: it is queued again", id))
	}
	return err
}

// deliverAll makes what vehicles read what was decided, after a client that was interrupted, and lets pins follow
// their tags.
func (c *Controller) deliverAll(ctx context.Context) error {
	all, _, err := c.In.List(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, i := range all {
		var err error
		if i.Pin != "" {
			var m Model
			m, err = c.In.Find(ctx, i.Vehicle, i.Pin)
			if r := m.Ref(); err == nil && !i.Flown.same(&r) {
				_, err = c.In.Pin(ctx, i.Vehicle, i.Pin)
			}
		}
		switch {
		case err != nil:
		case i.Flown != nil && time.Since(i.Changed) > validFor/2: // it is signed anew in time
			_, err = c.In.change(ctx, i.Vehicle, func(i *Installation) error {
				shadow := i.Shadow
				i.fly(*i.Flown, i.Reason)
				i.Shadow = shadow
				return nil
			})
		default:
			_, err = c.In.Deliver(ctx, i.Vehicle)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// carry carries one rollout on. A decision is stored before it is carried out, and carried out again at every look.
func (c *Controller) carry(ctx context.Context, group string) error {
	now, of, err := decided[Rollout](ctx, c.In.log, model.ForRollout, group)
	if err == nil && !now.Stage.Ended() {
		err = expired(&of)
	}
	if err != nil {
		return err
	}
	r, was, leftOut := &now, now.Stage, len(now.LeftOut)
	installed := map[string]Installation{}
	for _, v := range r.Vehicles {
		if installed[v], err = c.In.Get(ctx, v); err != nil {
			return err
		}
	}
	changed := false
	if !was.Ended() {
		if c.decide(r, installed); !r.Stage.Ended() {
			if err := c.In.notRevoked(ctx, &r.Model); err != nil {
				r.to(StageStopped, err.Error())
			}
		}
		changed = r.Stage != was || len(r.LeftOut) != leftOut || r.Before == nil
		r.note(was, installed)
	}
	if changed {
		if err := c.In.decideRollout(ctx, r, of.Number); err != nil {
			if errors.Is(err, errReplaced) {
				return nil // another controller, or an operator
			}
			return err
		}
		c.Log(fmt.Sprintf("rollout of model %s to %s: %s: %s", r.Model.Model, r.Group, r.Stage, r.Reason))
	}
	return c.act(ctx, r, installed)
}

// decide sets stage and vehicles left out by what the vehicles report.
func (c *Controller) decide(r *Rollout, installed map[string]Installation) {
	canary := r.Vehicles[0]
	for _, v := range r.Vehicles {
		if g := c.busy[v]; g != "" && g != r.Group {
			r.to(StageStopped, fmt.Sprintf("%s takes part in a rollout to %s that began before", v, g))
			return
		}
		if pin := installed[v].Pin; pin != "" && r.LeftOut[v] == "" {
			r.leaveOut(v, "pinned to "+pin)
		}
	}
	if r.LeftOut[canary] != "" {
		r.to(StageStopped, fmt.Sprintf("%s, the canary, is %s", canary, r.LeftOut[canary]))
		return
	}
	state := c.Robots.Of(canary)
	if r.Stage == StageShadow {
		c.decideTrial(r, &state)
		return
	}
	now := installed[canary]
	switch {
	case r.overruled(&now):
		r.to(StageStopped, fmt.Sprintf("%s was given model %s: %s", canary, now.Flown.Model, now.Reason))
	case uses(&state, r) && left(&state.Status):
		r.to(StageReturned, fmt.Sprintf("%s: the coverage of %d series of the model's intervals is too low", canary, state.Status.Miscalibrated))
	case r.Stage == StageCanary && !uses(&state, r) && time.Since(r.Since) > r.Rule.Longest:
		r.to(StageReturned, fmt.Sprintf("%s has not used it for %v: %s", canary, r.Rule.Longest, cmp.Or(state.Status.Refused, "it gives no reason")))
	case r.Stage == StageCanary && uses(&state, r) && !shown(&state.Status, r.Rule.Windows) && time.Since(r.Since) > r.Rule.Longest:
		r.to(StageReturned, fmt.Sprintf("%s has shown nothing of its intervals for %v: is the trust monitor on, and does it receive states?", canary, r.Rule.Longest))
	case r.Stage == StageCanary && held(&state, r):
		r.to(StageFollowing, fmt.Sprintf("%s has used it for %v within the band", canary, r.Rule.CanaryFor))
	}
	if r.Stage == StageFollowing {
		c.decideFollowers(r, installed)
	}
}

// decideTrial decides on the canary's trial of the model as a shadow.
func (c *Controller) decideTrial(r *Rollout, canary *Robot) {
	if canary.Live() {
		if s := canary.Status.Shadow(); s != nil && s.Model == r.Model.Model {
			switch v, why := r.Rule.judge(s); v {
			case better:
				r.to(StageCanary, fmt.Sprintf("better as a shadow on %s: %s", canary.Status.Vehicle, why))
				return
			case worse:
				r.to(StageStopped, fmt.Sprintf("worse as a shadow on %s: %s", canary.Status.Vehicle, why))
				return
			}
		}
	}
	if time.Since(r.Since) > r.Rule.Longest {
		r.to(StageStopped, fmt.Sprintf("not better beyond noise after %v as a shadow", r.Rule.Longest))
	}
}

// decideFollowers decides which vehicles go back or do not get the model, and when all is done.
func (c *Controller) decideFollowers(r *Rollout, installed map[string]Installation) {
	done := true
	for _, v := range r.Vehicles[1:] {
		if r.LeftOut[v] != "" {
			continue
		}
		if i := installed[v]; r.overruled(&i) {
			r.leaveOut(v, fmt.Sprintf("was given model %s: %s", i.Flown.Model, i.Reason))
			continue
		}
		state := c.Robots.Of(v)
		if uses(&state, r) && left(&state.Status) {
			r.leaveOut(v, "went back: the coverage of its intervals is too low")
			continue
		}
		if s := state.Status.Shadow(); state.Live() && s != nil && s.Model == r.Model.Model {
			if verdict, why := r.Rule.judge(s); verdict == worse {
				r.leaveOut(v, "worse as a shadow: "+why)
				continue
			}
		}
		done = done && held(&state, r)
	}
	if done {
		r.to(StageDone, fmt.Sprintf("%d of %d vehicles use it", len(r.Vehicles)-len(r.LeftOut), len(r.Vehicles)))
	}
}

// uses reports whether a vehicle says now that it uses the model of a rollout.
func uses(s *Robot, r *Rollout) bool { return s.Live() && s.Status.Model == r.Model.Model }

// held reports whether a vehicle has used the model for long enough, with measurements to compare.
func held(s *Robot, r *Rollout) bool {
	if !uses(s, r) || len(s.Status.Models) == 0 || s.Status.Models[0].Model != r.Model.Model {
		return false
	}
	return shown(&s.Status, r.Rule.Windows) && s.Status.T-s.Status.Models[0].Since >= int64(r.Rule.CanaryFor)
}

// act makes the installations what the stage asks for.
func (c *Controller) act(ctx context.Context, r *Rollout, installed map[string]Installation) error {
	var failed error
	for n, v := range r.Vehicles {
		if g := c.busy[v]; r.Stage.Ended() && g != "" && g != r.Group {
			continue // it takes part in another one
		}
		i := installed[v]
		flies, tries := i.Flown.same(&r.Model), i.Shadow.same(&r.Model)
		var err error
		switch {
		case r.Stage == StageReturned || r.LeftOut[v] != "":
			if why := r.LeftOut[v]; flies || tries {
				err = c.back(ctx, v, r, cmp.Or(why, r.Reason))
			}
		case r.Stage.Ended():
			if tries {
				_, err = c.In.Shadow(ctx, v, nil)
			}
		case r.Stage == StageShadow || r.Stage == StageCanary && n > 0:
			if !flies && !tries {
				_, err = c.In.Shadow(ctx, v, &r.Model)
			}
		case !flies:
			err = c.promote(ctx, v, r)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// promote lets a vehicle use the model of a rollout, unless it was given another one since the stage began.
func (c *Controller) promote(ctx context.Context, vehicle string, r *Rollout) error {
	_, err := c.In.change(ctx, vehicle, func(i *Installation) error {
		if i.Pin == "" && !r.overruled(i) {
			i.fly(r.Model, fmt.Sprintf("rollout to %s: %s", r.Group, r.Stage))
		}
		return nil
	})
	return err
}

// back ends the trial of the model of a rollout, and lets a vehicle that was given the model by it go back. What an
// operator has decided after the end stays.
func (c *Controller) back(ctx context.Context, vehicle string, r *Rollout, reason string) error {
	_, err := c.In.change(ctx, vehicle, func(i *Installation) error {
		if i.Shadow.same(&r.Model) {
			i.Shadow = nil
		}
		if i.Flown.same(&r.Model) && i.Before != nil && i.Before.Sequence == r.Before[vehicle] && i.Pin == "" {
			i.fly(*i.Before, reason)
		}
		return nil
	})
	return err
}

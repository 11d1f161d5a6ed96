package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Stage of a rollout.
type Stage string

// The stages. The last three are ends.
const (
	StageShadow    Stage = "shadow"    // all vehicles try the model beside their own
	StageCanary    Stage = "canary"    // the first one uses it
	StageFollowing Stage = "following" // the others use it, too
	StageDone      Stage = "done"
	StageReturned  Stage = "returned" // the canary went back
	StageStopped   Stage = "stopped"  // not better, or an operator has decided otherwise
)

// Ended reports whether nothing more becomes of the rollout.
func (s Stage) Ended() bool { return s == StageDone || s == StageReturned || s == StageStopped }

// Rollout is a model on its way to the vehicles of a group.
type Rollout struct {
	Group    string            `json:"group"`
	Vehicles []string          `json:"vehicles"` // the canary first
	Model    Ref               `json:"model"`
	Rule     Rule              `json:"rule"`
	Stage    Stage             `json:"stage"`
	Begun    time.Time         `json:"begun"`
	Since    time.Time         `json:"since"`              // of the stage
	Reason   string            `json:"reason"`             // for the stage
	Before   map[string]uint64 `json:"before"`             // sequence numbers of the models that vehicles used before they got this one by it
	LeftOut  map[string]string `json:"left_out,omitempty"` // vehicles that do not get the model, or went back, and why
}

func (r Rollout) check(key string) error {
	if r.Group != key {
		return fmt.Errorf("it is the rollout to %.80q", r.Group)
	}
	if !slices.Contains([]Stage{StageShadow, StageCanary, StageFollowing, StageDone, StageReturned, StageStopped}, r.Stage) {
		return fmt.Errorf("stage %.40q is not known", r.Stage)
	}
	if err := r.Rule.check(); err != nil {
		return err
	}
	return Group{Name: r.Group, Vehicles: r.Vehicles}.check(r.Group)
}

// to begins another stage.
func (r *Rollout) to(s Stage, reason string) {
	r.Stage, r.Since, r.Reason = s, time.Now().UTC(), reason
}

// note notes what the vehicles that do not use the model use when another stage begins, and forgets those that
// do not get it any more. No clocks are compared: those of operators and controllers differ.
func (r *Rollout) note(was Stage, installed map[string]Installation) {
	unnoted := r.Before == nil
	if unnoted {
		r.Before = map[string]uint64{}
	}
	for _, v := range r.Vehicles {
		i := installed[v]
		switch {
		case unnoted && i.Flown.same(&r.Model) && i.Before != nil: // it was begun by a version that noted nothing
			r.Before[v] = i.Before.Sequence
		case i.Flown == nil || i.Flown.same(&r.Model):
		case r.Stage.Ended() || r.LeftOut[v] != "":
			delete(r.Before, v)
		case r.Stage != was || unnoted:
			r.Before[v] = i.Flown.Sequence
		}
	}
}

// overruled reports whether somebody has given a vehicle another model since the stage began.
func (r *Rollout) overruled(i *Installation) bool {
	return r.Before != nil && i.Flown != nil && !i.Flown.same(&r.Model) && i.Flown.Sequence != r.Before[i.Vehicle]
}

// leaveOut notes that a vehicle does not get the model.
func (r *Rollout) leaveOut(vehicle, reason string) {
	if r.LeftOut == nil {
		r.LeftOut = map[string]string{}
	}
	r.LeftOut[vehicle] = reason
}

// Rollouts lists all rollouts, the last one of each group.
func (in *Installer) Rollouts(ctx context.Context) (all []Rollout, unreadable []string, err error) {
	return allDecided[Rollout](ctx, in.log, model.ForRollout)
}

// Rollout returns the last rollout to a group.
func (in *Installer) Rollout(ctx context.Context, group string) (Rollout, error) {
	r, of, err := decided[Rollout](ctx, in.log, model.ForRollout, group)
	if err == nil && of.Number == 0 {
		err = in.noRollout(ctx, group)
	}
	return r, err
}

// noRollout returns an error that names the groups to which there was a rollout.
func (in *Installer) noRollout(ctx context.Context, group string) error {
	all, _, err := in.Rollouts(ctx)
	if err != nil {
		return err
	}
	groups := []string{}
	for _, r := range all {
		groups = append(groups, r.Group)
	}
	return fmt.Errorf("rollout to %s: %w; with a rollout %s", group, ErrNoRollout, listed(groups))
}

// ErrNoRollout is that there was none to a group.
var ErrNoRollout = errors.New("there was none")

// decideRollout stores the state of a rollout, if the last decision about it still is the given one, else errReplaced.
func (in *Installer) decideRollout(ctx context.Context, r *Rollout, after uint64) error {
	return in.log.decide(ctx, model.Statement{Purpose: model.ForRollout, Fleet: r.Group, Model: r.Model.Model}, r, after)
}

// Begin begins a rollout. One of the same model that has not ended goes on; one of another model is an error. Each
// vehicle must have a model by the fleet, to which it can go back.
func (in *Installer) Begin(ctx context.Context, g Group, m Ref, rule Rule) (Rollout, error) {
	r := Rollout{Group: g.Name, Vehicles: g.Vehicles, Model: m, Rule: rule, Begun: time.Now().UTC(), Before: map[string]uint64{}}
	r.to(StageShadow, "begun")
	err := r.check(g.Name)
	if err == nil {
		err = in.notRevoked(ctx, &m)
	}
	if err != nil {
		return r, fmt.Errorf("rollout to %s: %w", g.Name, err)
	}
	installed := map[string]Installation{}
	for _, v := range g.Vehicles {
		i, err := in.Get(ctx, v)
		installed[v] = i
		switch {
		case err != nil:
			return r, err
		case i.Pin != "":
			r.leaveOut(v, "pinned to "+i.Pin)
		case i.Flown == nil:
			return r, fmt.Errorf("%s has no model by the fleet to go back to: promote its present one first", v)
		case v == g.Vehicles[0] && i.Flown.same(&m):
			r.to(StageCanary, v+" uses it already")
		}
	}
	if r.LeftOut[g.Vehicles[0]] != "" {
		return r, fmt.Errorf("the canary %s is %s: release the pin, or make a group with another canary", g.Vehicles[0], r.LeftOut[g.Vehicles[0]])
	}
	r.note("", installed)
	if err := in.alone(ctx, g); err != nil {
		return r, err
	}
	was, of, err := decided[Rollout](ctx, in.log, model.ForRollout, g.Name)
	switch {
	case err != nil && !errors.Is(err, errEntry):
		return r, err
	case err == nil && of.Number > 0 && !was.Stage.Ended() && was.Model.same(&m):
		return was, nil
	case err == nil && of.Number > 0 && !was.Stage.Ended():
		return was, fmt.Errorf("a rollout of model %s to %s is at stage %s: wait for its end, or end it by dgm-fleet rollout --stop", was.Model.Model, g.Name, was.Stage)
	}
	if err := in.decideRollout(ctx, &r, of.Number); err != nil {
		return r, fmt.Errorf("rollout to %s: %w", g.Name, err)
	}
	return r, nil
}

// alone returns an error where a rollout to another group has a vehicle of this one.
func (in *Installer) alone(ctx context.Context, g Group) error {
	all, _, err := in.Rollouts(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		for _, v := range r.Vehicles {
			if r.Group != g.Name && !r.Stage.Ended() && slices.Contains(g.Vehicles, v) {
				return fmt.Errorf("%s takes part in a rollout to %s: wait for its end, or end it by dgm-fleet rollout --stop", v, r.Group)
			}
		}
	}
	return nil
}

// Stop ends a rollout: vehicles that use the model keep it.
func (in *Installer) Stop(ctx context.Context, group string) (Rollout, error) {
	for {
		r, of, err := decided[Rollout](ctx, in.log, model.ForRollout, group)
		if err == nil && of.Number == 0 {
			return r, in.noRollout(ctx, group)
		}
		if err != nil {
			return r, fmt.Errorf("rollout to %s: %w", group, err)
		}
		if !r.Stage.Ended() {
			r.to(StageStopped, "stopped by an operator")
			if err = in.decideRollout(ctx, &r, of.Number); errors.Is(err, errReplaced) {
				continue
			}
		}
		return r, errors.Join(err, in.endTrials(ctx, &r))
	}
}

// endTrials ends the trials of a rollout's model as a shadow.
func (in *Installer) endTrials(ctx context.Context, r *Rollout) error {
	var failed error
	for _, v := range r.Vehicles {
		i, err := in.Get(ctx, v)
		if err == nil && i.Shadow.same(&r.Model) {
			_, err = in.Shadow(ctx, v, nil)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

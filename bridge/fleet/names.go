package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Group are vehicles that get a model one after the other: the first is the canary.
type Group struct {
	Name     string   `json:"name"`
	Vehicles []string `json:"vehicles"`
}

func (g Group) check(key string) error {
	if g.Name != key {
		return fmt.Errorf("it is the group %.80q", g.Name)
	}
	if len(g.Vehicles) == 0 {
		return errors.New("it has no vehicle")
	}
	for i, v := range g.Vehicles {
		if err := wire.CheckVehicle(v); err != nil {
			return err
		}
		if slices.Contains(g.Vehicles[:i], v) {
			return fmt.Errorf("vehicle %s is there twice", v)
		}
	}
	return nil
}

// tag is a name of a model.
type tag struct {
	Name string `json:"name"`
	Ref
}

func (t tag) check(key string) error {
	if t.Name != key {
		return fmt.Errorf("it is the tag %.80q", t.Name)
	}
	return nil
}

// SetGroup makes or replaces a group.
func (in *Installer) SetGroup(ctx context.Context, g Group) error {
	if err := g.check(g.Name); err != nil {
		return fmt.Errorf("group %s: %w", g.Name, err)
	}
	return in.name(ctx, model.Statement{Purpose: model.ForGroup, Fleet: g.Name}, &g)
}

// Tag gives a model a name, in place of the one that has it.
func (in *Installer) Tag(ctx context.Context, name string, m *Model) error {
	return in.name(ctx, model.Statement{Purpose: model.ForTag, Fleet: name, Model: m.ID}, &tag{name, m.Ref()})
}

// name decides what a name means, whatever it meant before.
func (in *Installer) name(ctx context.Context, s model.Statement, v any) error {
	err := wire.CheckVehicle(s.Fleet) // the same letters
	if err == nil {
		err = in.log.replace(ctx, s, v)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.Purpose, s.Fleet, err)
	}
	return nil
}

// Newest is, in the place of a model's ID, the newest one of the vehicle.
const Newest = "newest"

// Find returns a model by a tag, by its ID or the beginning of that, or the newest one of a vehicle.
func (in *Installer) Find(ctx context.Context, vehicle, name string) (found Model, err error) {
	all, _, err := in.Models.List(ctx)
	if err != nil {
		return found, err
	}
	var t tag
	if wire.CheckVehicle(name) == nil && name != Newest {
		if t, _, err = decided[tag](ctx, in.log, model.ForTag, name); err != nil {
			return found, err
		}
	}
	n := 0
	switch {
	case t.Name != "":
		for _, m := range all {
			if r := m.Ref(); r.same(&t.Ref) {
				found, n = m, 1
			}
		}
	case name == Newest:
		if found = newestOf(all, vehicle); found.ID != "" {
			n = 1
		}
	default:
		found, n = byID(all, name)
	}
	switch {
	case n != 1:
		return found, fmt.Errorf("%s: %d models are named %q: give the ID, a tag, or %s; dgm-fleet status lists models", vehicle, n, name, Newest)
	case found.Digest == "":
		return found, fmt.Errorf("model %s: its entry has no digest of its file: train it again", found.ID)
	}
	return found, nil
}

// byID returns the model of an ID, or one whose ID begins so, and how many of these have another ID.
func byID(all []Model, name string) (found Model, n int) {
	for _, m := range all {
		switch {
		case m.ID == name:
			return m, 1
		case len(name) < 4 || !strings.HasPrefix(m.ID, name):
		case n == 0 || m.ID != found.ID: // one model of two jobs is one
			found, n = m, n+1
		}
	}
	return found, n
}

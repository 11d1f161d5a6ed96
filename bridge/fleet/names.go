package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Group are vehicles that get a model one after the other: the first is the canary.
type Group struct {
	Name     string   `json:"name"`
	Vehicles []string `json:"vehicles"`
}

func (g Group) check(key string) error {
	if "group."+g.Name != key {
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
	if "tag."+t.Name != key {
		return fmt.Errorf("it is the tag %.80q", t.Name)
	}
	return nil
}

// SetGroup makes or replaces a group.
func (in *Installer) SetGroup(ctx context.Context, g Group) error {
	return in.put(ctx, "group."+g.Name, g.Name, &g, g.check("group."+g.Name))
}

// Tag gives a model a name, in place of the one that has it.
func (in *Installer) Tag(ctx context.Context, name string, m *Model) error {
	t := tag{name, m.Ref()}
	return in.put(ctx, "tag."+name, name, &t, nil)
}

func (in *Installer) put(ctx context.Context, key, name string, v any, err error) error {
	if err == nil {
		err = wire.CheckVehicle(name) // the same letters
	}
	if err == nil {
		_, err = in.names.Put(ctx, key, encoded(v))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Replace(key, ".", " ", 1), explained(err))
	}
	return nil
}

// Group returns a group. A name that is none is that of a vehicle alone.
func (in *Installer) Group(ctx context.Context, name string) (Group, error) {
	if err := wire.CheckVehicle(name); err != nil {
		return Group{}, err
	}
	g, _, err := get[Group](ctx, in.names, "group."+name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Group{Name: name, Vehicles: []string{name}}, nil
	}
	return g, explained(err)
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
		if t, _, err = get[tag](ctx, in.names, "tag."+name); err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
			return found, explained(err)
		}
	}
	n := 0
	for _, m := range all {
		r := m.Ref()
		switch {
		case t.Name != "":
			if r.same(&t.Ref) {
				return m, nil
			}
		case name == Newest:
			if m.Job.Vehicle == vehicle && m.Trained.After(found.Trained) {
				found, n = m, 1
			}
		case len(name) >= 4 && strings.HasPrefix(m.ID, name):
			if n == 0 || m.ID != found.ID { // one model of two jobs is one
				n++
			}
			found = m
		}
	}
	if n != 1 {
		return found, fmt.Errorf("%s: %d models are named %q: give the ID, a tag, or %s; dgm-fleet status lists models", vehicle, n, name, Newest)
	}
	return found, nil
}

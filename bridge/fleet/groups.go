package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Group returns a group. A name that is none is that of a vehicle alone, of which something is stored; the error for another name has
// the groups that there are.
func (in *Installer) Group(ctx context.Context, name string) (Group, error) {
	if err := wire.CheckVehicle(name); err != nil {
		return Group{}, err
	}
	g, of, err := decided[Group](ctx, in.log, model.ForGroup, name)
	if err != nil || of.Number > 0 {
		return g, err
	}
	g = Group{Name: name, Vehicles: []string{name}}
	all, _, err := allDecided[Group](ctx, in.log, model.ForGroup)
	if err != nil {
		return g, err
	}
	groups := []string{}
	for _, other := range all {
		groups = append(groups, other.Name)
		if slices.Contains(other.Vehicles, name) {
			return g, nil
		}
	}
	known, err := in.stores(ctx, name)
	if err == nil && !known {
		err = fmt.Errorf("%q is no group, and no vehicle of which there is a model, a log, a decision or a store; %s; a vehicle that is new gets its group: dgm-fleet group %s %s", name, listed(groups), name, name)
	}
	return g, err
}

// listed returns groups for people.
func listed(groups []string) string {
	if len(groups) == 0 {
		return "there is no group"
	}
	return "groups are " + strings.Join(groups, ", ")
}

// stores reports whether something is stored of a vehicle.
func (in *Installer) stores(ctx context.Context, vehicle string) (bool, error) {
	if i, of, err := in.get(ctx, vehicle); err != nil || of.Number > 0 {
		return i.Vehicle == vehicle, err
	}
	if _, err := in.js.Stream(ctx, "OBJ_"+OwnFlown(vehicle)); err == nil {
		return true, nil
	}
	models, _, err := list[Model](ctx, in.js, modelIndex, vehicle+".*")
	if err != nil || len(models) > 0 {
		return len(models) > 0, err
	}
	logs, _, err := list[Log](ctx, in.js, logIndex, vehicle+".*")
	return len(logs) > 0, err
}

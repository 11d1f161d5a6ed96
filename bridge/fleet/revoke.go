package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Revoke decides that no vehicle uses a model any more, and lets those that do go back to the model before. It returns the
// installations that it changed. The error names each vehicle that has no other model to go back to. Vehicles remember the revocation
// from the next model on that they get.
func (in *Installer) Revoke(ctx context.Context, id, reason string) (changed []Installation, err error) {
	r := Revocation{Model: id, Reason: reason, Since: time.Now().UTC()}
	if err := in.log.replace(ctx, model.Statement{Purpose: model.ForRevocation, Model: id}, &r); err != nil {
		return nil, fmt.Errorf("revoking model %s: %w", id, err)
	}
	all, _, err := in.List(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, i := range all {
		if !i.Flown.is(id) && !i.Shadow.is(id) {
			continue
		}
		i, err := in.change(ctx, i.Vehicle, func(i *Installation) error {
			if i.Shadow.is(id) {
				i.Shadow = nil
			}
			if !i.Flown.is(id) {
				return nil
			}
			if i.Before == nil || in.notRevoked(ctx, i.Before) != nil {
				return fmt.Errorf("%s uses model %s and has no other one to go back to: promote another one", i.Vehicle, id)
			}
			i.Pin = ""
			i.fly(*i.Before, "model "+id+" was revoked: "+reason)
			return nil
		})
		if failed = errors.Join(failed, err); err == nil {
			changed = append(changed, i)
		}
	}
	return changed, failed
}

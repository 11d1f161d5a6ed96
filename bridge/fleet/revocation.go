package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Revocation is that a model is not to be used any more, by any vehicle.
type Revocation struct {
	Model  string    `json:"model"` // ID
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

func (r Revocation) check(key string) error {
	if r.Model != key {
		return fmt.Errorf("it is the revocation of %.80q", r.Model)
	}
	return nil
}

// Revocations lists all revocations, by model.
func (in *Installer) Revocations(ctx context.Context) ([]Revocation, error) {
	all, _, err := allDecided[Revocation](ctx, in.log, model.ForRevocation)
	return all, err
}

// notRevoked returns an error where one of some models is revoked.
func (in *Installer) notRevoked(ctx context.Context, models ...*Ref) error {
	all, err := in.Revocations(ctx)
	if err != nil {
		return err
	}
	for _, m := range models {
		for _, r := range all {
			if m.is(r.Model) {
				return fmt.Errorf("model %s was revoked: %s", r.Model, r.Reason)
			}
		}
	}
	return nil
}

// revoked returns the IDs of the models that were revoked last, for the statements that vehicles read.
func revoked(all []Revocation) (ids []string) {
	slices.SortFunc(all, func(a, b Revocation) int { return b.Since.Compare(a.Since) })
	for _, r := range all[:min(len(all), model.MaxRevoked)] {
		ids = append(ids, r.Model)
	}
	return ids
}

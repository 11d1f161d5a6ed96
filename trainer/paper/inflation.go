package paper

import (
	"context"
	"slices"
)

// inflate sets the factor of the flows' variances: where their terms were chosen by refits on
// data drawn from them, where they were not, and there are trajectories enough, by refits
// that leave some out. A known field's are true as they are.
func (m *Model) inflate(ctx context.Context, d *Data, r Recipe, seed uint64) error {
	const each = 4 // trajectories in what is left out
	switch {
	case r.Known != nil || r.Refits == 0:
		return nil
	case slices.ContainsFunc(m.Flows, func(f *Flow) bool { return f.Poly != nil && !f.Poly.dense }):
		return m.bootstrap(ctx, d, r, seed)
	case r.Refits > 1 && len(d.Trajectories) >= each*r.Refits:
		return m.jackknife(ctx, d, r, seed)
	}
	return nil
}

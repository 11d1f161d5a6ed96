package paper

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// run learns one seed of a set and scores it.
func (s *set) run(ctx context.Context, seed int) (*result, error) {
	d, err := s.draw(uint64(seed))
	if err != nil {
		return nil, err
	}
	on, err := s.test(uint64(seed))
	if err != nil {
		return nil, err
	}
	recipe := paper.DefaultRecipe(d)
	began := time.Now()
	m, err := paper.Learn(ctx, d, recipe, uint64(seed))
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", s.name, seed, err)
	}
	r := &result{
		Set: s.name, Seed: seed, Seconds: time.Since(began).Seconds(), Recipe: recipe.String(),
		Phases: phases{Members: m.Took.Members, Flows: m.Took.Flows, Smoother: m.Took.Smoother},
		Rerun:  m.Rerun, Dropped: m.Dropped,
	}
	if err := r.score(on.predict(d.K, m.Predict), d.K); err != nil {
		return nil, err
	}
	if r.Flows, err = on.integrated(d.K, m); err != nil {
		return nil, fmt.Errorf("%s, seed %d, refined dynamics: %w", s.name, seed, err)
	}
	for _, f := range m.Flows {
		r.Free = append(r.Free, math.Round(10*f.Free)/10)
	}
	for _, f := range m.Members {
		alone, err := score.Trajectories(on.predict(d.K, func(mean, std, x0, times []float64) {
			f.Predict(mean, std, x0, times)
			for i, v := range std {
				std[i] = math.Sqrt(v)
			}
		}), d.K)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d, a member: %w", s.name, seed, err)
		}
		r.Members = append(r.Members, alone.LogLik)
	}
	return r, nil
}

// integrated scores the refined dynamics themselves.
func (t *trial) integrated(k int, m *paper.Model) (*scores, error) {
	fine := true
	trs := t.predict(k, func(mean, std, x0, times []float64) { fine = m.Integrate(mean, std, x0, times) && fine })
	if !fine {
		return nil, nil
	}
	for i := range trs {
		tr := &trs[i]
		tr.Truth, tr.Mean, tr.Std = tr.Truth[k:], tr.Mean[k:], tr.Std[k:]
	}
	s, err := score.Trajectories(trs, k)
	if err != nil {
		return nil, err
	}
	return &scores{s.LogLik, s.Coverage50, s.Coverage95}, nil
}

// predict asks for mean and standard deviation along all trajectories.
func (t *trial) predict(k int, ask func(mean, std, x0, times []float64)) []score.Trajectory {
	var out []score.Trajectory
	for i, x0 := range t.starts {
		tr := score.Trajectory{Truth: t.truth[i], Mean: make([]float64, len(t.times)*k), Std: make([]float64, len(t.times)*k)}
		ask(tr.Mean, tr.Std, x0, t.times)
		out = append(out, tr)
	}
	return out
}

// plan is what a command is asked for.
type plan struct {
	sets        []set
	seeds, from int
	out         string
}

// finish runs all seeds of all sets that have no file yet, and returns all
// results by set. It tells on progress what is done and how long the rest will take.
func (p *plan) finish(ctx context.Context, progress io.Writer) ([][]*result, error) {
	all := make([][]*result, len(p.sets))
	type job struct{ set, seed int }
	var jobs []job
	for i := range p.sets {
		all[i] = make([]*result, p.seeds)
		for j := range p.seeds {
			r, ok, err := read(p.out, p.sets[i].name, p.from+j)
			if err != nil {
				return nil, err
			}
			if !ok {
				jobs = append(jobs, job{i, j})
				continue
			}
			all[i][j] = r
		}
	}
	if done := p.seeds*len(p.sets) - len(jobs); done > 0 {
		fmt.Fprintf(progress, "%d of %d seeds are there already\n", done, p.seeds*len(p.sets))
	}
	spent := make([]time.Duration, len(p.sets)) // of one seed, the last that was run
	for at, j := range jobs {
		s := &p.sets[j.set]
		began := time.Now()
		r, err := s.run(ctx, p.from+j.seed)
		if err != nil {
			return nil, err
		}
		if err := r.write(p.out); err != nil {
			return nil, err
		}
		all[j.set][j.seed] = r
		spent[j.set] = time.Since(began)
		left := time.Duration(0)
		for _, k := range jobs[at+1:] {
			left += spent[k.set] // of sets that were not begun: unknown
		}
		fmt.Fprintf(progress, "%s seed %d: log likelihood %.3f, coverage %.2f %.2f %.2f, %.0f s; %s\n",
			s.name, r.Seed, r.LogLik, r.Coverage50, r.Coverage90, r.Coverage95, r.Seconds, remaining(len(jobs)-at-1, left))
		if r.Flows != nil {
			fmt.Fprintf(progress, "    refined dynamics, integrated: %.3f, coverage of 95 %% %.2f\n", r.Flows.LogLik, r.Flows.Coverage95)
		}
	}
	return all, nil
}

func remaining(jobs int, left time.Duration) string {
	if jobs == 0 {
		return "done"
	}
	return fmt.Sprintf("%d to go, %s and more", jobs, left.Round(time.Second))
}

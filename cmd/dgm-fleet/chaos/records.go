package chaos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// records are what was acknowledged and decided.
type records struct {
	*simulation
	log      func(line string)
	first    string                     // model that robots begin with
	jobs     map[string]bool            // acknowledged
	results  map[string]string          // model by job, as first seen
	promoted map[string]map[string]bool // models that were promoted, by vehicle
	wrong    map[string]bool            // vehicle and model that was seen and not promoted
	waiting  []fleet.JobStatus          // that have not ended, when they were counted last
	twice    int
	n        int // promotions
}

// keep submits jobs, promotes models and watches, until the context ends.
func (b *records) keep(ctx context.Context) {
	for ctx.Err() == nil {
		_ = b.once(ctx) // the servers may be down: what is not acknowledged does not count
		b.watch()
		cli.Wait(ctx, 500*time.Millisecond)
	}
}

func (b *records) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	logs, _, err := b.logs.List(ctx)
	if err != nil {
		return err
	}
	newest := map[string]fleet.Log{}
	for _, l := range logs {
		if l.Uploaded.After(newest[l.Vehicle].Uploaded) {
			newest[l.Vehicle] = l
		}
	}
	for range 2 { // no more than the workers do
		l, any := newest[b.vehicles[rand.N(len(b.vehicles))]]
		j := fleet.NewJob(l.Vehicle, []string{l.ID}, "", "chaos")
		if !any || b.jobs[j.ID] {
			continue
		}
		if _, err := b.queue.Submit(ctx, j, false); err != nil {
			return err
		}
		b.jobs[j.ID] = true
	}
	if err := b.note(ctx); err != nil {
		return err
	}
	v, other := b.vehicles[rand.N(len(b.vehicles))], b.vehicles[rand.N(len(b.vehicles))]
	if err := b.swapFiles(ctx, v, other); err != nil {
		return err
	}
	return b.promote(ctx, b.vehicles[rand.N(len(b.vehicles))])
}

// swapFiles gives a vehicle the model that is signed for another one, or one that is not signed, as an intruder might.
func (b *records) swapFiles(ctx context.Context, vehicle, other string) error {
	js, err := jetstream.New(b.nc)
	if err != nil {
		return err
	}
	files, err := js.ObjectStore(ctx, fleet.FlownObjects)
	if err != nil {
		return err
	}
	file, err := artificial.New(size, rand.Uint64()).Encode()
	if vehicle != other {
		file, err = files.GetBytes(ctx, fleet.FlownObject(other))
	}
	if err != nil || rand.N(4) > 0 {
		return nil // now and then
	}
	_, err = files.PutBytes(ctx, fleet.FlownObject(vehicle), file)
	return err
}

// note compares results with those that were seen before.
func (b *records) note(ctx context.Context) error {
	models, _, err := b.in.Models.List(ctx)
	if err != nil {
		return err
	}
	for _, m := range models {
		if was, known := b.results[m.Job.ID]; known && was != m.ID {
			b.twice++
		}
		b.results[m.Job.ID] = m.ID
	}
	return nil
}

// promote promotes the newest model of a vehicle, if it has one.
func (b *records) promote(ctx context.Context, v string) error {
	m, err := b.in.Find(ctx, v, fleet.Newest)
	if err != nil {
		return nil // none yet
	}
	if b.promoted[v] == nil {
		b.promoted[v] = map[string]bool{}
	}
	b.promoted[v][m.ID] = true // though it may not be acknowledged
	if _, err = b.in.Promote(ctx, v, m.Ref(), "chaos"); err == nil {
		b.n++
	}
	return err
}

// watch notes models in use that were not promoted.
func (b *records) watch() {
	for _, v := range b.vehicles {
		if m := b.robots.Of(v).Status.Model; m != "" && m != b.first && !b.promoted[v][m] {
			b.wrong[v+" "+m] = true
		}
	}
}

// settled is how long is waited for the end of one more job, and for one more robot.
const settled = 3 * time.Minute

// settle promotes to every robot, waits until all jobs have ended and all robots use what was promoted, and counts.
func (b *records) settle(ctx context.Context, o *Outcome) error {
	var err error
	for _, v := range b.vehicles {
		err = errors.Join(err, b.retry(ctx, time.Minute, func(ctx context.Context) error { return b.promote(ctx, v) }))
	}
	if err != nil {
		return fmt.Errorf("promoting after the disturbance: %w", err)
	}
	began := time.Now()
	least, since := math.MaxInt, began
	for ; ; cli.Wait(ctx, time.Second) {
		b.watch()
		if err = b.count(ctx, o); err == nil && o.JobsLost+o.Behind < least {
			least, since = o.JobsLost+o.Behind, time.Now()
		}
		if least == 0 || time.Since(since) > settled || ctx.Err() != nil {
			break
		}
	}
	o.Settled = time.Since(began).Seconds()
	for _, j := range b.waiting {
		b.log(fmt.Sprintf("job %s has not ended: %s, worker %s, try %d, updated %s: %q", j.ID, j.State, j.Worker, j.Tries, j.Updated.Format(time.TimeOnly), j.Lines))
	}
	if err != nil {
		return err
	}
	return b.countLogs(ctx, o)
}

func (b *records) count(ctx context.Context, o *Outcome) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := b.note(ctx); err != nil {
		return err
	}
	jobs, _, err := b.queue.List(ctx)
	if err != nil {
		return err
	}
	b.waiting = nil
	o.Jobs, o.JobsLost, o.ResultsTwice, o.WrongModels, o.Models = len(b.jobs), len(b.jobs), b.twice, len(b.wrong), b.n
	for _, j := range jobs {
		if b.jobs[j.ID] && j.State.Ended() {
			o.JobsLost--
		} else if b.jobs[j.ID] {
			b.waiting = append(b.waiting, j)
		}
		if j.State == fleet.Done && j.ModelID != b.results[j.ID] {
			o.ResultsTwice++
		}
	}
	o.Behind = 0
	for _, v := range b.vehicles {
		i, err := b.in.Get(ctx, v)
		if err != nil {
			return err
		}
		if r := b.robots.Of(v); i.Flown != nil && (!r.Live() || r.Status.Model != i.Flown.Model) {
			o.Behind++
		}
	}
	return nil
}

// countLogs reads every log whose upload was acknowledged.
func (b *records) countLogs(ctx context.Context, o *Outcome) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.Logs, o.LogsLost = len(b.sent), 0
	for id, v := range b.sent {
		err := b.retry(ctx, 20*time.Second, func(ctx context.Context) error {
			path, err := b.logs.Fetch(ctx, v, id, b.dir)
			if err == nil {
				err = os.Remove(path)
			}
			return err
		})
		if err != nil {
			o.LogsLost++
		}
	}
	return nil
}

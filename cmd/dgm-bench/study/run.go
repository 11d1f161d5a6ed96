package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// Unit is one piece of work: its row, which Run fills, and a report of what Run does, which is
// printed where the unit takes long.
type Unit struct {
	*Row
	Report func(doing string)
	more   []*Row
}

// also separates the variant of a unit from the name of a further row of it.
const also = "/"

// Also returns a further row of the unit, under the unit's key with a name added to the
// variant.
func (u *Unit) Also(name string) *Row {
	k := u.Key
	k.Variant += also + name
	u.more = append(u.more, NewRow(k))
	return u.more[len(u.more)-1]
}

// Fail stores that a unit has no values and why, which is a result too, unless it was interrupted.
func (u *Unit) Fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	u.Put("failed", err.Error())
	return nil
}

// Work is a key with what runs its unit.
type Work struct {
	Key
	Run func(ctx context.Context, u *Unit) error // (optional) defaults to the study's
}

// runner works through the units of a study that have no stored row.
type runner struct {
	study    *Study
	store    *Results
	progress io.Writer
	workers  int

	mutex   sync.Mutex // of what follows, and of progress
	todo    []Work
	begun   int // of todo
	running int
	took    estimate
	failed  []error
}

// run works through units and returns the rows of those that are whole, in the order of the units, with the error of the others.
// After an interrupt finished units stay stored.
func (s *Study) run(ctx context.Context, progress io.Writer, store *Results, units []Work) ([]*Row, error) {
	r := &runner{study: s, store: store, progress: progress, workers: 1}
	for _, w := range units {
		if old := store.find(s.file(), w.Key); old == nil || s.Whole != nil && !s.Whole(old) {
			r.todo = append(r.todo, w)
		} else if err := s.complete(old); err != nil {
			return nil, err
		}
	}
	stored := len(units) - len(r.todo)
	if stored > 0 {
		fmt.Fprintf(progress, "%d of %d results are stored already\n", stored, len(units))
	}
	quiet := context.AfterFunc(ctx, func() {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		if r.running > 0 {
			fmt.Fprintln(progress, "Stopping: finished units are kept, running ones are lost. Ctrl-C again ends at once.")
		}
	})
	defer quiet()
	if s.Side {
		r.workers = max(1, min(runtime.GOMAXPROCS(0), len(r.todo)))
	}
	err := r.all(ctx)
	if errors.Is(err, context.Canceled) && store.Dir != "" {
		fmt.Fprintf(progress, "%d of %d results are in %s; the same command resumes there\n", stored+r.took.n, len(units), store.Dir)
	}
	return s.rowsOf(store, units), err
}

// all works through all units that are to do. One that fails costs its own rows: the others go on, and the error names all
// that have failed.
func (r *runner) all(ctx context.Context) error {
	work := make(chan Work, len(r.todo))
	for _, w := range r.todo {
		work <- w
	}
	close(work)
	var wait sync.WaitGroup
	for range r.workers {
		wait.Go(func() {
			for w := range work {
				if ctx.Err() != nil {
					return
				}
				if err := r.one(ctx, w); err != nil && ctx.Err() == nil {
					r.fail(w.Key, err)
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(ctx.Err(), errors.Join(r.failed...))
}

// fail notes that a unit has failed.
func (r *runner) fail(k Key, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.failed = append(r.failed, fmt.Errorf("%s: %w", k, err))
	if left := len(r.todo) - r.begun; left > 0 {
		fmt.Fprintf(r.progress, "%s has failed: %v; %d left\n", k, err, left)
	}
}

// one works through a unit.
func (r *runner) one(ctx context.Context, w Work) error {
	r.mutex.Lock()
	r.begun++
	r.running++
	r.mutex.Unlock()
	began := time.Now()
	report, end := r.reports(w.Key, patience)
	u := &Unit{Row: NewRow(w.Key), Report: report}
	run := w.Run
	if run == nil {
		run = r.study.Run
	}
	err := run(ctx, u)
	end()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.running--
	if err == nil {
		err = r.keep(u)
	}
	if err != nil {
		return err
	}
	r.took.add(w.Key, time.Since(began))
	fmt.Fprintf(r.progress, "%s: %s; %s\n", w.Key, r.study.summary(u.Row), r.took.remaining(r.todo[r.begun:], r.running, r.workers))
	return nil
}

func (r *runner) keep(u *Unit) error {
	if err := r.study.complete(u.Row); err != nil {
		return err
	}
	rows := append([]*Row{u.Row}, u.more...)
	if r.study.Units != nil && r.store.Dir != "" {
		for _, row := range rows {
			row.Put("measured", fmt.Sprintf("%s, %d cores", time.Now().Format(time.DateOnly), runtime.NumCPU()))
		}
	}
	return r.store.add(r.study.file(), rows)
}

// patience is after how long, and how often, a running unit is reported.
const patience = 15 * time.Second

// reports returns the unit's report. What it is given is printed where nothing was for the
// patience; in its absence, that the unit runs. end ends this.
func (r *runner) reports(k Key, patience time.Duration) (report func(doing string), end func()) {
	began := time.Now()
	last, doing := began, "running"
	print := func() {
		if time.Since(last) >= patience {
			last = time.Now()
			fmt.Fprintf(r.progress, "%s: after %s %s\n", k, time.Since(began).Round(time.Second), doing)
		}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(max(patience, time.Second))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				r.mutex.Lock()
				print()
				r.mutex.Unlock()
			}
		}
	}()
	report = func(what string) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		doing = what
		print()
	}
	return report, func() { close(done); <-ended }
}

// estimate knows how long units took.
type estimate struct {
	of  map[string]time.Duration // by set and variant, the last
	sum time.Duration
	n   int
}

func (e *estimate) add(k Key, d time.Duration) {
	if e.of == nil {
		e.of = map[string]time.Duration{}
	}
	e.of[k.Set+"-"+k.Variant] = d
	e.sum += d
	e.n++
}

// remaining returns how much is left: a unit of a set and variant that was not timed yet
// is assumed to take as long as the others on average.
func (e *estimate) remaining(left []Work, running, workers int) string {
	switch {
	case len(left) == 0 && running > 0:
		return fmt.Sprintf("%d running", running)
	case len(left) == 0:
		return "all done"
	}
	var d time.Duration
	for _, k := range left {
		one, ok := e.of[k.Set+"-"+k.Variant]
		if !ok {
			one = e.sum / time.Duration(e.n)
		}
		d += one
	}
	return fmt.Sprintf("%d left, about %s", len(left), (d / time.Duration(workers)).Round(time.Second))
}

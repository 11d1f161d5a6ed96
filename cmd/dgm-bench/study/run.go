package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

// Unit is one piece of work: its row, which Run fills, and a report of what Run does, which is
// printed where the unit takes long.
type Unit struct {
	*Row
	Report func(doing string)
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

// run works through the units that have no stored row and returns the rows of those that are whole, in the order of the
// units. One that fails costs its own rows: the others go on, and the error names all that have failed. After an interrupt
// finished units stay stored.
func (s *Study) run(ctx context.Context, progress io.Writer, store *Results, units []Work) ([]*Row, error) {
	var todo []Work
	for _, w := range units {
		if old := store.find(s.file(), w.Key); old == nil {
			todo = append(todo, w)
		} else if err := s.complete(old); err != nil {
			return nil, err
		}
	}
	stored := len(units) - len(todo)
	if stored > 0 {
		fmt.Fprintf(progress, "%d of %d results are stored already\n", stored, len(units))
	}
	var failed []error
	for i, w := range todo {
		began := time.Now()
		u := &Unit{Row: NewRow(w.Key), Report: reports(progress, w.Key, patience)}
		run := w.Run
		if run == nil {
			run = s.Run
		}
		err := run(ctx, u)
		if ctx.Err() != nil {
			if store.Dir != "" {
				fmt.Fprintf(progress, "%d of %d results are in %s; the same command resumes there\n", stored+i-len(failed), len(units), store.Dir)
			}
			return s.rowsOf(store, units), ctx.Err()
		}
		if err == nil {
			err = s.keep(store, u)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.Key, err))
			fmt.Fprintf(progress, "%s has failed: %v; %d left\n", w.Key, err, len(todo)-i-1)
			continue
		}
		fmt.Fprintf(progress, "%s: %s; %s, %d left\n", w.Key, s.summary(u.Row), time.Since(began).Round(time.Second), len(todo)-i-1)
	}
	return s.rowsOf(store, units), errors.Join(failed...)
}

// keep stores the row of a unit.
func (s *Study) keep(store *Results, u *Unit) error {
	if err := s.complete(u.Row); err != nil {
		return err
	}
	if s.Units != nil && store.Dir != "" {
		u.Put("measured", fmt.Sprintf("%s, %d cores", time.Now().Format(time.DateOnly), runtime.NumCPU()))
	}
	return store.add(s.file(), u.Row)
}

// patience is how often, at most, it is printed what a unit does.
const patience = 15 * time.Second

// reports returns the report of a unit.
func reports(progress io.Writer, k Key, patience time.Duration) func(doing string) {
	began := time.Now()
	last := began
	return func(doing string) {
		if time.Since(last) >= patience {
			last = time.Now()
			fmt.Fprintf(progress, "%s: after %s %s\n", k, time.Since(began).Round(time.Second), doing)
		}
	}
}

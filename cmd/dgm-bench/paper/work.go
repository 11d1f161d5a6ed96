package paper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"
)

// finish does all pieces of work that have no file yet, and returns all results. It
// tells on progress what is done and how long the rest will take.
func (s *study[R]) finish(ctx context.Context, progress io.Writer, p *plan) ([]*R, error) {
	keys := s.keys(p)
	all := make([]*R, len(keys))
	var todo []int
	for i, k := range keys {
		r, ok, err := load[R](p.out, k)
		if err != nil {
			return nil, err
		}
		if !ok || s.whole != nil && !s.whole(p.out, k) {
			todo = append(todo, i)
			continue
		}
		all[i] = r
	}
	if done := len(keys) - len(todo); done > 0 {
		fmt.Fprintf(progress, "%d of %d results are there already\n", done, len(keys))
	}
	workers := 1
	if s.side {
		workers = max(1, min(runtime.GOMAXPROCS(0), len(todo)))
	}
	var mutex sync.Mutex
	quiet := context.AfterFunc(ctx, func() {
		mutex.Lock()
		defer mutex.Unlock()
		fmt.Fprintln(progress, "Stopping; what is finished stays, what is under way is lost. Ctrl-C once more ends at once.")
	})
	defer quiet()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		wait          sync.WaitGroup
		first         error
		next, running int
		took          = estimate{}
	)
	work := func() {
		defer wait.Done()
		for {
			mutex.Lock()
			at := next
			next++
			if at >= len(todo) || ctx.Err() != nil {
				mutex.Unlock()
				return
			}
			i := todo[at]
			began := time.Now()
			running++
			mutex.Unlock()
			inside, told := tellTo(ctx, keys[i], progress, &mutex, patience)
			r, err := s.run(inside, p.out, keys[i])
			told()
			if err == nil {
				err = keys[i].write(p.out, r)
			}
			mutex.Lock()
			running--
			if err != nil {
				if first == nil {
					first = fmt.Errorf("%s: %w", keys[i].name(), err)
				}
				stop()
				mutex.Unlock()
				return
			}
			all[i] = r
			took.add(keys[i], time.Since(began))
			left := todo[min(next, len(todo)):]
			fmt.Fprintf(progress, "%s: %s; %s\n", keys[i].name(), s.tell(r), took.remaining(keys, left, running, workers))
			mutex.Unlock()
		}
	}
	for range workers {
		wait.Add(1)
		go work()
	}
	wait.Wait()
	if first == nil {
		first = ctx.Err()
	}
	if errors.Is(first, context.Canceled) {
		done := len(slices.DeleteFunc(slices.Clone(all), func(r *R) bool { return r == nil }))
		fmt.Fprintf(progress, "%d of %d results are in %s; the same command goes on from there\n", done, len(keys), p.out)
	}
	if first != nil {
		return nil, first
	}
	return all, nil
}

// patience is after how long a piece of work says what it does, and how often.
const patience = 15 * time.Second

type telling struct{}

// tellTo returns a context in which a piece of work can say what it does, which is passed on
// where nothing was for a while; where it says nothing, that it is under way is. stop ends that.
func tellTo(ctx context.Context, k key, progress io.Writer, one *sync.Mutex, patience time.Duration) (inside context.Context, stop func()) {
	began := time.Now()
	last, doing := began, "it is under way"
	tell := func() {
		if time.Since(last) < patience {
			return
		}
		last = time.Now()
		fmt.Fprintf(progress, "%s: after %s %s\n", k.name(), time.Since(began).Round(time.Second), doing)
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
				one.Lock()
				tell()
				one.Unlock()
			}
		}
	}()
	told := func(what string) {
		one.Lock()
		defer one.Unlock()
		doing = what
		tell()
	}
	return context.WithValue(ctx, telling{}, told), func() { close(done); <-ended }
}

// toldTo returns what a piece of work says what it does to.
func toldTo(ctx context.Context) func(what string) {
	tell, ok := ctx.Value(telling{}).(func(what string))
	if !ok {
		return func(string) {}
	}
	return tell
}

// estimate knows how long pieces of work took.
type estimate struct {
	of  map[string]time.Duration // by set and variant, the last
	sum time.Duration
	n   int
}

func (e *estimate) add(k key, d time.Duration) {
	if e.of == nil {
		e.of = map[string]time.Duration{}
	}
	e.of[k.Set+"-"+k.Variant] = d
	e.sum += d
	e.n++
}

// remaining tells how much is left to do: what was not begun yet is taken to last as
// long as the others did.
func (e *estimate) remaining(keys []key, left []int, running, workers int) string {
	switch {
	case len(left) == 0 && running > 0:
		return fmt.Sprintf("%d under way", running)
	case len(left) == 0:
		return "nothing to go"
	}
	d := time.Duration(0)
	for _, i := range left {
		one, ok := e.of[keys[i].Set+"-"+keys[i].Variant]
		if !ok {
			one = e.sum / time.Duration(e.n)
		}
		d += one
	}
	return fmt.Sprintf("%d to go, about %s", len(left), (d / time.Duration(workers)).Round(time.Second))
}

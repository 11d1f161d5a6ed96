package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// key says which piece of work of which study a result is of. Its parts, with
// hyphens between, are the name of the file.
type key struct {
	Study    string `json:"study,omitempty"` // empty: the tables, whose files are named by the set
	Set      string `json:"set"`
	Variant  string `json:"variant,omitempty"`
	Seed     int    `json:"seed"`
	Settings string `json:"settings,omitempty"` // what a flag has changed, for results that are not of the same kind
	Version  int    `json:"version,omitempty"`  // of the recipe, where it was followed
}

// version is that of the recipe: a change that moves results makes it another.
const version = 2

// file returns the name of the file of a result.
func (k key) file(dir string) string { return filepath.Join(dir, k.name()+".json") }

func (k key) name() string {
	parts := []string{k.Study, k.Set, k.Variant, fmt.Sprint(k.Seed)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "-")
}

// largest is how many bytes a result may have: hundreds of them lie side by side in
// the repository.
const largest = 2048

// write puts a result into the file of its key.
func (k key) write(dir string, result any) error {
	b, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("%s: %w", k.name(), err)
	}
	if len(b) >= largest {
		return fmt.Errorf("%s: the result has %d bytes, %d are allowed", k.name(), len(b)+1, largest)
	}
	return durable.WriteFile(k.file(dir), append(b, '\n'))
}

// load returns the result in a file; ok is false where there is no file. The key in
// it must be the one of its name.
func load[R any](dir string, want key) (r *R, ok bool, err error) {
	path := want.file(dir)
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var is key
	r = new(R)
	if err := errors.Join(json.Unmarshal(b, &is), json.Unmarshal(b, r)); err != nil {
		return nil, false, fmt.Errorf("%s is no result (%w): remove it, and the seed is run again", path, err)
	}
	if is.name() != want.name() {
		return nil, false, fmt.Errorf("%s holds %s: give it its own name back, or remove it", path, is.name())
	}
	if is.Settings != want.Settings {
		return nil, false, fmt.Errorf("%s was made with %q, asked for is %q: give another --out, or remove it", path, is.Settings, want.Settings)
	}
	if is.Version != want.Version {
		return nil, false, fmt.Errorf("%s was made by version %d of the recipe, this is version %d: give another --out, or remove it", path, is.Version, want.Version)
	}
	if r, ok := any(r).(interface{ check() error }); ok {
		if err := r.check(); err != nil {
			return nil, false, fmt.Errorf("%s is no result (%w): remove it, and the seed is run again", path, err)
		}
	}
	return r, true, nil
}

// study is one experiment: for every set, variant and seed a piece of work, whose
// result has type R and stands in a file of its own.
type study[R any] struct {
	name, short, long string
	files             string   // first part of the names of its files; empty: none
	sets              []string // that may be asked for
	usual             []string // (optional) sets that are run unless others are asked for
	seeds, from       int
	side              bool // pieces of work run side by side, each on one processor
	recipe            bool // results are the recipe's

	flags    func(cmd *cobra.Command)     // (optional) further flags
	check    func() error                 // (optional) what is wrong with their values
	kinds    []string                     // (optional) variants, of which a flag may choose
	variants func() []string              // (optional) variants, where other flags say what they are
	settings func() string                // (optional) what they change about results
	whole    func(dir string, k key) bool // (optional) whether all but the result is there
	run      func(ctx context.Context, dir string, k key) (*R, error)
	tell     func(r *R) string
	sections func(dir string, all []*R) ([]section, error)
}

// unseen is the first of the seeds of noise and starts that nobody had looked at when the
// recipe was made.
const unseen = 100

// part is a study without the type of its results.
type part struct {
	command  *cobra.Command
	sections func(dir string) ([]section, error) // of all results that are there
}

// plan is what a command is asked for.
type plan struct {
	sets        []string
	variants    []string
	seeds, from int
	out         string
}

// keys returns the pieces of work of a plan.
func (s *study[R]) keys(p *plan) []key {
	variants, settings, made := p.variants, "", 0
	if s.recipe {
		made = version
	}
	if s.variants != nil {
		variants = s.variants()
	}
	if s.settings != nil {
		settings = s.settings()
	}
	var all []key
	for _, set := range p.sets {
		for _, v := range variants {
			for seed := range p.seeds {
				k := key{Study: s.files, Set: set, Variant: v, Seed: p.from + seed, Settings: settings, Version: made}
				if !slices.Contains(all, k) {
					all = append(all, k)
				}
			}
		}
	}
	return all
}

// part returns the study's command and what it adds to the report.
func (s *study[R]) part() part {
	p := plan{from: s.from}
	var asked string
	usual := s.usual
	if usual == nil {
		usual = s.sets
	}
	cmd := &cobra.Command{Use: s.name, Short: s.short, Long: s.long, Args: cobra.NoArgs}
	f := cmd.Flags()
	f.StringVar(&asked, "sets", strings.Join(usual, ","), "data sets, separated by commas, of "+strings.Join(s.sets, ","))
	f.IntVar(&p.seeds, "seeds", s.seeds, "noise seeds of each set")
	f.IntVar(&p.from, "first-seed", s.from, "first of the seeds")
	f.StringVar(&p.out, "out", results, "folder of the results")
	p.variants = []string{""}
	if s.kinds != nil {
		f.StringSliceVar(&p.variants, "variants", s.kinds, "of "+strings.Join(s.kinds, ","))
	}
	if s.flags != nil {
		s.flags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if p.seeds < 1 || p.from < 0 {
			return cli.Usage("--seeds must be at least 1 and --first-seed at least 0")
		}
		p.sets = strings.Split(asked, ",")
		for _, n := range p.sets {
			if !slices.Contains(s.sets, n) {
				return cli.Usage("--sets %s: %q is none of %s", asked, n, strings.Join(s.sets, ", "))
			}
		}
		for _, v := range p.variants {
			if s.kinds != nil && !slices.Contains(s.kinds, v) {
				return cli.Usage("--variants: %q is none of %s", v, strings.Join(s.kinds, ", "))
			}
		}
		if s.check != nil {
			if err := s.check(); err != nil {
				return err
			}
		}
		if len(s.keys(&p)) == 0 {
			return cli.Usage("a flag with an empty list leaves nothing to do")
		}
		if err := writable(p.out); err != nil {
			return err
		}
		all, err := s.finish(cmd.Context(), cmd.ErrOrStderr(), &p)
		if err != nil {
			return err
		}
		parts, err := s.sections(p.out, all)
		if err != nil {
			return err
		}
		// The pictures in the folder are of all that is there.
		if whole, err := s.gather(p.out); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "pictures are of these results only: %v\n", err)
		} else if drawn, err := s.sections(p.out, whole); err == nil && len(drawn) == len(parts) {
			for i := range parts {
				parts[i].Pictures = drawn[i].Pictures
			}
		}
		return show(cmd.OutOrStdout(), p.out, parts)
	}
	return part{cmd, func(dir string) ([]section, error) {
		all, err := s.gather(dir)
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return s.sections(dir, all)
	}}
}

// writable makes a folder and tells whether a file can be written to it, before hours of
// work end there.
func writable(dir string) error {
	if dir == "" {
		return cli.Usage("--out must not be empty")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return fmt.Errorf("--out %s: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// results is where results are committed.
var results = filepath.Join("cmd", "dgm-bench", "results")

// gather reads all results of the study that are in a folder, in the order of sets,
// then of the names of their files.
func (s *study[R]) gather(dir string) ([]*R, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []*R
	var first *key
	for _, set := range s.sets {
		prefix := key{Study: s.files, Set: set}.name() // ends with seed 0
		prefix = strings.TrimSuffix(prefix, "0")
		var found []key
		for _, e := range entries {
			last := strings.TrimSuffix(e.Name()[strings.LastIndex(e.Name(), "-")+1:], ".json")
			if _, err := strconv.Atoi(last); err != nil || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), ".json") {
				continue // not a seed's
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			var k key
			if err := json.Unmarshal(b, &k); err != nil {
				return nil, fmt.Errorf("%s is no result (%w): remove it, and the seed is run again", filepath.Join(dir, e.Name()), err)
			}
			if s.recipe && k.Version != version && k.Study == s.files {
				return nil, fmt.Errorf("%s was made by version %d of the recipe, this is version %d: remove it", filepath.Join(dir, e.Name()), k.Version, version)
			}
			if first == nil {
				first = &k
			}
			if k.Study == s.files && k.Settings != first.Settings {
				return nil, fmt.Errorf("%s was made with %q, %s.json with %q: keep them in folders of their own", filepath.Join(dir, e.Name()), k.Settings, first.name(), first.Settings)
			}
			if k.name()+".json" == e.Name() && k.Study == s.files && k.Set == set {
				found = append(found, k)
			}
		}
		slices.SortFunc(found, func(a, b key) int {
			if c := natural(a.Variant, b.Variant); c != 0 {
				return c
			}
			return a.Seed - b.Seed
		})
		for _, k := range found {
			r, ok, err := load[R](dir, k)
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

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
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		mutex         sync.Mutex
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
			r, err := s.run(ctx, p.out, keys[i])
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
	if first != nil {
		return nil, first
	}
	return all, nil
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

// natural orders texts with numbers in them by these.
func natural(a, b string) int {
	x, y := digits(a), digits(b)
	if x.text != y.text {
		return strings.Compare(x.text, y.text)
	}
	for i := range min(len(x.numbers), len(y.numbers)) {
		if c := x.numbers[i] - y.numbers[i]; c != 0 {
			return c
		}
	}
	return len(x.numbers) - len(y.numbers)
}

type parsed struct {
	text    string // up to the first number
	numbers []int
}

func digits(s string) parsed {
	p := parsed{}
	inside := false
	for _, c := range s {
		if c < '0' || c > '9' {
			inside = false
			if len(p.numbers) == 0 {
				p.text += string(c)
			}
			continue
		}
		if !inside {
			p.numbers = append(p.numbers, 0)
		}
		inside = true
		p.numbers[len(p.numbers)-1] = 10*p.numbers[len(p.numbers)-1] + int(c-'0')
	}
	return p
}

package paper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

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

// changes returns what flags have changed; empty where nothing.
func (k key) changes() string { return k.Settings }

// version is that of the recipe: a change that moves results makes it another.
const version = 5

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
	b, err := read(path)
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	is, err := keyOf(path, b)
	if err != nil {
		return nil, false, err
	}
	if is.name() != want.name() {
		return nil, false, fmt.Errorf("%s holds %s: give it its own name back, or remove it", path, is.name())
	}
	if is.Settings != want.Settings {
		return nil, false, fmt.Errorf("%s was made with %s, asked for is %s: give another --out, or remove it", path, said(is.Settings), said(want.Settings))
	}
	if is.Version != want.Version {
		return nil, false, stale{{path, is.Version}}
	}
	r, err = decode[R](path, b)
	return r, err == nil, err
}

// said tells settings.
func said(settings string) string {
	if settings == "" {
		return "the defaults"
	}
	return settings
}

// keyOf returns the key in what a file holds.
func keyOf(path string, b []byte) (k key, err error) {
	if err := json.Unmarshal(b, &k); err != nil {
		return k, noResult(path, err)
	}
	if k.Set == "" {
		return k, noResult(path, errors.New("it names no set"))
	}
	return k, nil
}

func noResult(path string, err error) error {
	return fmt.Errorf("%s is no result (%w): remove it, and the seed is run again", path, err)
}

// decode returns the result in what a file holds, if it is whole.
func decode[R any](path string, b []byte) (*R, error) {
	r := new(R)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, noResult(path, err)
	}
	var there map[string]json.RawMessage
	if err := json.Unmarshal(b, &there); err != nil {
		return nil, noResult(path, err)
	}
	if lacks := missing(reflect.TypeFor[R](), there); lacks != "" {
		return nil, noResult(path, fmt.Errorf("it has no %s", lacks))
	}
	if r, ok := any(r).(interface{ check() error }); ok {
		if err := r.check(); err != nil {
			return nil, noResult(path, err)
		}
	}
	return r, nil
}

// missing returns the first field of a struct that is always written and is not there.
func missing(t reflect.Type, there map[string]json.RawMessage) string {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			if lacks := missing(f.Type, there); lacks != "" {
				return lacks
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if _, ok := there[name]; !ok && options == "" {
			return name
		}
	}
	return ""
}

// stale are results that were made by another version of the recipe.
type stale []outdated

type outdated struct {
	path string
	made int
}

func (s stale) Error() string {
	const most = 20
	var names []string
	for _, one := range s[:min(len(s), most)] {
		names = append(names, fmt.Sprintf("%s (version %d of the recipe)", one.path, one.made))
	}
	if more := len(s) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("this is version %d: give another folder, or remove %s", version, strings.Join(names, ", "))
}

// results returns where results are put: where they are committed, if that is here.
func results() string {
	if committed := filepath.Join("cmd", "dgm-bench"); isFolder(committed) {
		return filepath.Join(committed, "results")
	}
	return "paper-results"
}

func isFolder(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.IsDir()
}

// strays returns a line for every .json in a folder that no study takes for its own.
func strays(dir string, all []part) (lines []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, isJSON := strings.CutSuffix(e.Name(), ".json")
		if !isJSON {
			continue
		}
		path := filepath.Join(dir, e.Name())
		claimed := slices.ContainsFunc(all, func(p part) bool { return p.claims(name) })
		k, err := readKey(path)
		switch {
		case err != nil && claimed: // the study says so
		case err != nil:
			lines = append(lines, fmt.Sprintf("%s is not named as a result, and is none", path))
		case !slices.ContainsFunc(all, func(p part) bool { return p.knows(k) }):
			lines = append(lines, fmt.Sprintf("%s holds %s, and no study makes such", path, k.name()))
		case k.name() != name:
			lines = append(lines, fmt.Sprintf("%s holds %s: give it its own name back", path, k.name()))
		}
	}
	return lines, nil
}

// read returns what is in a file, which is not a pipe and not larger than a result.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 16*largest {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", path, 16*largest)
	}
	return os.ReadFile(path)
}

func readKey(path string) (k key, err error) {
	b, err := read(path)
	if err != nil {
		return k, err
	}
	return keyOf(path, b)
}

// claims tells whether a name, without its ending, is one of the study's results.
func (s *study[R]) claims(name string) bool {
	_, err := strconv.ParseUint(name[strings.LastIndex(name, "-")+1:], 10, 31)
	return err == nil && slices.ContainsFunc(s.sets, func(set string) bool { return strings.HasPrefix(name, s.prefix(set)) })
}

// prefix is what the names of all results of a set begin with.
func (s *study[R]) prefix(set string) string {
	return strings.TrimSuffix(key{Study: s.files, Set: set}.name(), "0") // without its seed
}

// knows tells whether a key is one of the study's.
func (s *study[R]) knows(k key) bool {
	return k.Study == s.files && slices.Contains(s.sets, k.Set) && k.Seed >= 0 && s.makes(k.Variant)
}

// makes tells whether there is such a variant. Those that flags decide are numbers and names
// that its sections read.
func (s *study[R]) makes(variant string) bool {
	switch {
	case s.kinds != nil:
		return slices.Contains(s.kinds, variant)
	case s.variants != nil:
		return variant != ""
	}
	return variant == ""
}

// gather reads all results of the study that are in a folder, in the order of sets,
// then of variants and seeds. Results of several settings are not put together.
func (s *study[R]) gather(dir string) ([]*R, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type found struct {
		key
		result *R
	}
	var all []*R
	var old stale
	var first *key
	for _, set := range s.sets {
		var own []found
		for _, e := range entries {
			name, isJSON := strings.CutSuffix(e.Name(), ".json")
			if !isJSON || !s.claims(name) || !strings.HasPrefix(name, s.prefix(set)) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			b, err := read(path)
			if err != nil {
				return nil, err
			}
			k, err := keyOf(path, b)
			if err != nil {
				return nil, err
			}
			if !s.knows(k) || k.Set != set || k.name() != name {
				continue // of another study, or under another's name
			}
			if k.Version != s.made(k.Variant) {
				old = append(old, outdated{path, k.Version})
				continue
			}
			r, err := decode[R](path, b)
			if err != nil {
				return nil, err
			}
			if first == nil {
				first = &k
			}
			if k.Settings != first.Settings {
				return nil, fmt.Errorf("%s was made with %s, %s.json with %s: keep them in folders of their own", path, said(k.Settings), first.name(), said(first.Settings))
			}
			own = append(own, found{k, r})
		}
		slices.SortFunc(own, func(a, b found) int {
			if c := natural(a.Variant, b.Variant); c != 0 {
				return c
			}
			return a.Seed - b.Seed
		})
		for _, f := range own {
			all = append(all, f.result)
		}
	}
	if old != nil {
		return nil, old
	}
	return all, nil
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

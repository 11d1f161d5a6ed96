package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Files of one package call each other in one direction: a reader starts at the top
// and never has to come back.
func TestFilesDoNotCallInCircles(t *testing.T) {
	folders := map[string]bool{}
	for _, f := range load(t, root) {
		if !f.test() {
			folders[f.folder()] = true
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		for _, c := range circles(callsBetween(t, folder)) {
			t.Errorf("%s: files call each other in circles: %s", folder, c)
		}
	}
}

// call is a function of one file used in another.
type call struct{ from, to, function string }

// callsBetween returns the calls from file to file of a package. Imports are not
// resolved: what a package calls of its own is known without them.
func callsBetween(t *testing.T, folder string) []call {
	t.Helper()
	set := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return calls(set, files)
}

func calls(set *token.FileSet, files []*ast.File) []call {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Error: func(error) {}, Importer: nothing{}, DisableUnusedImportCheck: true}
	own, _ := conf.Check("p", set, files, &info) // errors are of what is imported
	var out []call
	for id, use := range info.Uses {
		fn, ok := use.(*types.Func)
		if !ok || fn.Pkg() != own {
			continue
		}
		from, to := set.Position(id.Pos()).Filename, set.Position(fn.Origin().Pos()).Filename
		if from != to && to != "" {
			out = append(out, call{filepath.Base(from), filepath.Base(to), fn.Name()})
		}
	}
	return out
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// circles returns the sets of files that reach each other by calls, each with one call
// for every pair of neighbours.
func circles(all []call) []string {
	next := map[string]map[string]string{}
	for _, c := range all {
		if next[c.from] == nil {
			next[c.from] = map[string]string{}
		}
		if f, ok := next[c.from][c.to]; !ok || c.function < f {
			next[c.from][c.to] = c.function
		}
	}
	reach := map[string]map[string]bool{}
	for f := range next {
		seen, todo := map[string]bool{}, []string{f}
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			for to := range next[at] {
				if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		reach[f] = seen
	}
	var out []string
	done := map[string]bool{}
	for _, f := range slices.Sorted(maps.Keys(reach)) {
		if !reach[f][f] || done[f] {
			continue
		}
		var edges []string
		for _, a := range slices.Sorted(maps.Keys(reach)) {
			if !reach[f][a] || !reach[a][f] {
				continue
			}
			done[a] = true
			for _, b := range slices.Sorted(maps.Keys(next[a])) {
				if reach[f][b] && reach[b][f] {
					edges = append(edges, fmt.Sprintf("%s → %s (%s)", a, b, next[a][b]))
				}
			}
		}
		out = append(out, strings.Join(edges, ", "))
	}
	return out
}

func TestCirclesAreFound(t *testing.T) {
	set := token.NewFileSet()
	var files []*ast.File
	for name, text := range map[string]string{
		"a.go": "package p\nimport \"x\"\ntype T struct{ v x.V }\nfunc A() { B() }\n",
		"b.go": "package p\nfunc B() { var t T; t.C() }\n",
		"c.go": "package p\nfunc (t *T) C() { A() }\nfunc D() { A() }\n",
		"d.go": "package p\nfunc E() { D() }\n",
	} {
		f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	got := circles(calls(set, files))
	want := []string{"a.go → b.go (B), b.go → c.go (C), c.go → a.go (A)"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

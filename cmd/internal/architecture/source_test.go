package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// source is what the rules see of one Go file.
type source struct {
	path    string // from the top of the repository, with slashes
	pkg     string // the name in its package clause
	doc     bool   // a comment documents the package
	init    bool   // it has a func init
	lines   int
	imports []string // those within this module as folders, the others as written
}

func (s *source) folder() string { return path.Dir(s.path) }

// test reports whether the file is compiled into tests only.
func (s *source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// under reports whether p, a folder, a file or an import path, is folder or below it.
func under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, folder+"/")
}

func underAny(p string, folders []string) bool {
	for _, f := range folders {
		if under(p, f) {
			return true
		}
	}
	return false
}

// parse reads the text of one file of the given module.
func parse(module, path string, text []byte) (*source, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, pkg: f.Name.Name, doc: f.Doc != nil, lines: bytes.Count(text, []byte("\n"))}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			s.init = true
		}
	}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		s.imports = append(s.imports, strings.TrimPrefix(p, module+"/"))
	}
	return s, nil
}

// load reads every Go file of the repository that the go command would look at.
func load(t *testing.T, root string) []*source {
	t.Helper()
	module := moduleOf(t, root)
	var all []*source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s, err := parse(module, filepath.ToSlash(rel), text)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// moduleOf returns the path of the module whose go.mod is in root.
func moduleOf(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	module, ok := strings.CutPrefix(first, "module ")
	if !ok {
		t.Fatalf("go.mod does not begin with its module: %q", first)
	}
	return strings.TrimSpace(module)
}

package estimator_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/dgm-robotics/dgm"

// A rule says who must not import what, and why.
type rule struct {
	who    []string // packages: a folder of the module and all below it; "" = the module
	except []string // not these
	never  []string // import paths, of the module without its name, and all below them; with "$" at the end only that one
	tests  bool     // test files too
	deep   bool     // nor through other packages of the module
	why    string
}

// The rules. To break one is to change this list, and its reason.
var rules = []rule{
	{
		who: []string{"estimator"}, never: []string{"trainer", "bridge", "firmware-sim", "cmd"}, deep: true,
		why: "what flies is the bottom: it must build, be tested and be reviewed without what trained it, fed it or simulated it",
	},
	{
		who: []string{"trainer"}, never: []string{"bridge", "firmware-sim", "cmd"}, tests: true, deep: true,
		why: "the trainer learns from logs, wherever they come from; a known plant reaches it as a value from cmd",
	},
	{
		who: []string{"bridge"}, never: []string{"trainer", "firmware-sim", "cmd"}, tests: true, deep: true,
		why: "importing a log must not need the trainer; what both need belongs under estimator",
	},
	{
		who: []string{"firmware-sim"}, never: []string{"trainer", "bridge", "cmd"}, tests: true, deep: true,
		why: "the simulator stands in for a robot: what knows the truth must not know who is to learn it",
	},
	{
		who: []string{"estimator"},
		except: []string{
			"estimator/model", "estimator/flightlog", "estimator/wire", "estimator/node", "estimator/durable", "estimator/msgbin", "estimator/ode", "estimator/rollout",
		},
		never: []string{"os", "net", "log", "log/slog", "time", "sync", "context", "math/rand", "syscall", "golang.org/x/sys"},
		why:   "the predictor has no I/O, clock, goroutine, log or chance: same state, same model, same bits, on the robot and in replay",
	},
	{
		who: []string{"estimator"}, except: []string{"estimator/node"}, never: []string{"github.com/nats-io"},
		why: "the network is the node's business; everything else that flies must run where there is none",
	},
	{
		who: []string{""}, except: []string{"cmd", "estimator/node", "firmware-sim/live", "bridge"}, never: []string{"github.com/nats-io/nats.go"},
		why: "only processes talk: a package that computes gets values and returns values",
	},
	{
		who: []string{""}, except: []string{"cmd/dgm-demo", "cmd/dgm-bench"}, never: []string{"github.com/nats-io/nats-server"},
		why: "the server is 10 MB and listens: in the demo, the bench and tests, never in a program for a robot",
	},
	{
		who: []string{""}, except: []string{"trainer"}, never: []string{"gonum.org/v1/plot", "github.com/schollz/progressbar", "github.com/guptarohit/asciigraph"},
		why: "pictures and progress bars are for the desk, and bring font and image code along",
	},
	{
		who: []string{"estimator", "cmd/dgm-estimator"}, never: []string{"gonum.org/v1/plot", "github.com/foxglove", "github.com/stretchr", "github.com/bluenviron"}, deep: true,
		why: "the program for the robot stays small and auditable",
	},
	{
		who: []string{""}, never: []string{"math/rand$", "io/ioutil", "github.com/pkg/errors", "github.com/stretchr/testify"}, tests: true,
		why: "math/rand/v2 with a seed, os, errors and plain comparisons do it",
	},
	{
		who: []string{""}, except: []string{"cmd"}, never: []string{"github.com/spf13/cobra", "flag"},
		why: "flags end at the doorway; a package takes a struct",
	},
}

// source is one Go file of the module.
type source struct {
	pkg     string // folder, slash-separated; "" = the root
	file    string
	test    bool
	imports []string
	inits   int
}

// sources parses every Go file of the module at root.
func sources(root string) ([]source, error) {
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "build") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s := source{pkg: strings.TrimPrefix(filepath.ToSlash(filepath.Dir(rel)), "."), file: filepath.ToSlash(rel), test: strings.HasSuffix(name, "_test.go")}
		for _, i := range file.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				s.inits++
			}
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// below reports whether a path is base or lies below it.
func below(path, base string) bool {
	return base == "" || path == base || strings.HasPrefix(path, base+"/")
}

func anyBelow(path string, bases []string) bool {
	return slices.ContainsFunc(bases, func(b string) bool {
		exact, only := strings.CutSuffix(b, "$")
		return only && path == exact || !only && below(path, b)
	})
}

// local strips the module's name: "estimator/wire" for one of its own packages,
// and the whole path for others.
func local(path string) string {
	if path == modulePath {
		return ""
	}
	return strings.TrimPrefix(path, modulePath+"/")
}

// violations lists what breaks a rule, each with its reason.
func violations(all []source, rules []rule) []string {
	// What packages import, without their tests.
	direct := map[string][]string{}
	for _, s := range all {
		if !s.test {
			direct[s.pkg] = append(direct[s.pkg], s.imports...)
		}
	}
	var out []string
	for _, r := range rules {
		for _, s := range all {
			if s.test && !r.tests || !anyBelow(s.pkg, r.who) || anyBelow(s.pkg, r.except) {
				continue
			}
			for _, imp := range s.imports {
				if chain := reaches(direct, local(imp), r, map[string]bool{}); chain != "" {
					out = append(out, fmt.Sprintf("%s imports %s\n\twhy not: %s", s.file, chain, r.why))
				}
			}
		}
	}
	return out
}

// reaches returns how an import gets to what a rule forbids, or "".
func reaches(direct map[string][]string, imp string, r rule, seen map[string]bool) string {
	if anyBelow(imp, r.never) {
		return imp
	}
	if !r.deep || seen[imp] {
		return ""
	}
	seen[imp] = true
	for _, next := range direct[imp] {
		if chain := reaches(direct, local(next), r, seen); chain != "" {
			return imp + " → " + chain
		}
	}
	return ""
}

func TestImportRules(t *testing.T) {
	all, err := sources("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found %d Go files only: not at the root of the module", len(all))
	}
	for _, v := range violations(all, rules) {
		t.Error(v)
	}
}

// A rule that cannot fail protects nothing.
func TestImportRulesCatch(t *testing.T) {
	at := func(pkg string, imports ...string) source {
		return source{pkg: pkg, file: pkg + "/x.go", imports: imports}
	}
	testFile := at("trainer", modulePath+"/firmware-sim/plant")
	testFile.test = true
	for name, tc := range map[string]struct {
		files []source
		want  int
	}{
		"the bottom imports the trainer": {[]source{at("estimator/model", modulePath+"/trainer/fit")}, 1},
		"and through another package":    {[]source{at("estimator/node", modulePath+"/cmd2"), at("cmd2", modulePath+"/bridge/csv")}, 1},
		"trainer and simulator":          {[]source{at("trainer/fit", modulePath+"/firmware-sim/plant")}, 1},
		"in a test as well":              {[]source{testFile}, 1},
		"a clock in the predictor":       {[]source{at("estimator", "time")}, 1},
		"a goroutine's lock":             {[]source{at("estimator/feature", "sync/atomic")}, 1},
		"the network in a log":           {[]source{at("estimator/flightlog", "github.com/nats-io/nats.go")}, 2},
		"a server on the robot":          {[]source{at("cmd/dgm-estimator", "github.com/nats-io/nats-server/v2/server")}, 1},
		"plots outside of the trainer":   {[]source{at("cmd/dgm-eval", "gonum.org/v1/plot/vg")}, 1},
		"the old random numbers":         {[]source{at("trainer/fit", "math/rand")}, 1},
		"flags in a package":             {[]source{at("trainer", "github.com/spf13/cobra")}, 1},
		"all is well": {[]source{
			at("estimator", "math", modulePath+"/estimator/model"), at("estimator/model", "os"), at("cmd/dgm-demo", "github.com/nats-io/nats-server/v2/server"),
			at("trainer/plot", "gonum.org/v1/plot"), at("cmd/dgm-train", modulePath+"/trainer", modulePath+"/firmware-sim/plant"),
			at("estimators", modulePath+"/trainer"),
		}, 0},
	} {
		if got := violations(tc.files, rules); len(got) != tc.want {
			t.Errorf("%s: %d violations, want %d: %q", name, len(got), tc.want, got)
		}
	}
}

// Names that gather what belongs nowhere, and code that runs because it was
// linked, hide what depends on what.
func TestNoDrawersAndNoInit(t *testing.T) {
	all, err := sources("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, part := range strings.Split(s.pkg, "/") {
			if slices.Contains([]string{"util", "utils", "common", "helpers", "misc", "shared", "pkg"}, part) {
				t.Errorf("%s: a folder named %q says nothing; put the code where it is used", s.file, part)
			}
		}
		if s.inits > 0 {
			t.Errorf("%s: func init runs unasked; make what it makes where it is needed", s.file)
		}
	}
}

package architecture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..", "..")

func TestNoRuleIsBroken(t *testing.T) {
	files := load(t, root)
	if len(files) < 100 {
		t.Fatalf("only %d Go files found: is this the whole repository?", len(files))
	}
	for _, b := range breaks(files) {
		t.Error(b)
	}
	for _, b := range idle(files) {
		t.Error(b)
	}
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, b := range misplaced(names) {
		t.Error(b)
	}
}

// Every package of estimator has a layer, and imports lower ones only.
func TestLayersAreInOrder(t *testing.T) {
	place := map[string]int{}
	for i, s := range layers {
		if _, twice := place[s.folder]; twice {
			t.Errorf("%s is in the table twice", s.folder)
		}
		for _, on := range s.imports {
			if _, ok := place[on]; !ok {
				t.Errorf("%s imports %s, which does not precede it in the table", s.folder, on)
			}
		}
		place[s.folder] = i
	}
	seen := map[string]bool{}
	for _, f := range load(t, root) {
		if under(f.path, "estimator") && !f.test() {
			seen[f.folder()] = true
		}
	}
	for folder := range seen {
		if _, ok := place[folder]; !ok {
			t.Errorf("%s is missing in the table of layers: add what it may import and why", folder)
		}
	}
	for folder := range place {
		if !seen[folder] {
			t.Errorf("%s is in the table of layers but not in the repository", folder)
		}
	}
}

// A rule without a reason is an order.
func TestEveryRuleHasAReason(t *testing.T) {
	var reasons []string
	for _, f := range slices.Concat(fences, testOnly) {
		reasons = append(reasons, f.why)
	}
	for _, s := range layers {
		reasons = append(reasons, s.why)
	}
	for _, g := range slices.Concat(guests, avoided) {
		reasons = append(reasons, g.why)
	}
	for _, p := range permits {
		reasons = append(reasons, p.why)
	}
	for i, why := range reasons {
		if len(strings.Fields(why)) < 4 {
			t.Errorf("reason %d says too little: %q", i, why)
		}
	}
}

// What each rule forbids is caught, and its neighbour that is allowed is not.
func TestBreaksAreCaught(t *testing.T) {
	const module = "example.org/robot"
	long := "// Package x is long.\npackage x\n" + strings.Repeat("\n", maxLines)
	for _, c := range []struct {
		name, path, text string
		want             string // a part of what is reported; empty: nothing is
	}{
		{"estimator on trainer", "estimator/a.go", doc(`import "example.org/robot/trainer/window"`), "nothing in estimator may"},
		{"estimator on bridge, in a test", "estimator/a_test.go", `package a_test; import _ "example.org/robot/bridge/csv"`, "nothing in estimator may"},
		{"estimator on the simulator", "estimator/model/a.go", doc(`import "example.org/robot/firmware-sim/plant"`), "nothing in estimator may"},
		{"estimator on a command", "estimator/node/a.go", doc(`import "example.org/robot/cmd/internal/cli"`), "nothing in estimator may"},
		{"trainer on the simulator", "trainer/a.go", doc(`import "example.org/robot/firmware-sim/plant"`), "nothing in trainer may"},
		{"trainer on bridge", "trainer/nets/a.go", doc(`import "example.org/robot/bridge/csv"`), "nothing in trainer may"},
		{"bridge on trainer", "bridge/csv/a.go", doc(`import "example.org/robot/trainer"`), "nothing in bridge may"},
		{"the simulator on trainer", "firmware-sim/plant/a.go", doc(`import "example.org/robot/trainer"`), "nothing in firmware-sim may"},
		{"cmd joins what is kept apart", "cmd/dgm-x/a.go", doc(`import ("example.org/robot/trainer"; "example.org/robot/firmware-sim/plant")`), ""},
		{"trainer on estimator", "trainer/a.go", doc(`import "example.org/robot/estimator/model"`), ""},
		{"models for tests in a product", "cmd/dgm-x/a.go", doc(`import "example.org/robot/estimator/model/modeltest"`), "only tests may"},
		{"models for tests in a test", "cmd/dgm-x/a_test.go", `package main; import _ "example.org/robot/estimator/model/modeltest"`, ""},

		{"model on its predictor", "estimator/model/a.go", doc(`import "example.org/robot/estimator"`), "estimator/model may import"},
		{"feature on model", "estimator/feature/a.go", doc(`import "example.org/robot/estimator/model"`), "estimator/feature may import"},
		{"predictor on node", "estimator/a.go", doc(`import "example.org/robot/estimator/node"`), "estimator may import"},
		{"messages on model", "estimator/wire/a.go", doc(`import "example.org/robot/estimator/model"`), "estimator/wire may import"},
		{"node on its parts", "estimator/node/a.go", doc(`import "example.org/robot/estimator/node/internal/prediction"`), ""},
		{"upwards in a test", "estimator/model/a_test.go", `package model_test; import _ "example.org/robot/estimator"`, ""},
		{"a new package", "estimator/gust/a.go", doc(`import "example.org/robot/estimator/channel"`), "is missing in the table of layers"},

		{"network in the trainer", "trainer/a.go", doc(`import "github.com/nats-io/nats.go"`), "only [estimator/node"},
		{"network in the predictor", "estimator/a.go", doc(`import "github.com/nats-io/nats.go/micro"`), "only [estimator/node"},
		{"network in the node", "estimator/node/a.go", doc(`import "github.com/nats-io/nats.go"`), ""},
		{"server in the node", "estimator/node/a.go", doc(`import "github.com/nats-io/nats-server/v2/server"`), "only [cmd/dgm-demo"},
		{"server in the robot's command", "cmd/dgm-estimator/a.go", doc(`import "github.com/nats-io/nats-server/v2/server"`), "only [cmd/dgm-demo"},
		{"server in a test of it", "cmd/dgm-estimator/a_test.go", `package main; import _ "github.com/nats-io/nats-server/v2/server"`, ""},
		{"server in the demo", "cmd/dgm-demo/a.go", doc(`import "github.com/nats-io/nats-server/v2/server"`), ""},
		{"plots on the robot", "estimator/node/a.go", doc(`import "gonum.org/v1/plot/vg"`), "only [trainer"},
		{"plots in the simulator", "firmware-sim/plant/a.go", doc(`import "gonum.org/v1/plot"`), "only [trainer"},
		{"a factorisation in flight", "estimator/a.go", doc(`import "gonum.org/v1/gonum/lapack/lapack64"`), "only [trainer"},
		{"matrices in flight", "estimator/a.go", doc(`import "gonum.org/v1/gonum/mat"`), "only [trainer cmd/dgm-bench examples]"},
		{"products in flight", "estimator/a.go", doc(`import "gonum.org/v1/gonum/blas/blas64"`), ""},
		{"test library in a product", "trainer/a.go", doc(`import "pgregory.net/rapid"`), "only tests may"},
		{"an unknown module", "trainer/a.go", doc(`import "github.com/stranger/thing"`), "no place in the table of guests"},
		{"an unknown module in a test", "trainer/a_test.go", `package a; import _ "github.com/stranger/thing"`, "no place in the table of guests"},
		{"a module whose name only begins alike", "estimator/node/a.go", doc(`import "github.com/nats-io/nats.gopher"`), "no place in the table of guests"},

		{"files in the predictor", "estimator/a.go", doc(`import "os"`), "no I/O"},
		{"a clock in the features", "estimator/feature/a.go", doc(`import "time"`), "no I/O"},
		{"a lock in the nets", "estimator/numeric/mlp/a.go", doc(`import "sync/atomic"`), "no I/O"},
		{"a log in the messages", "estimator/wire/a.go", doc(`import "log/slog"`), "no I/O"},
		{"chance in the predictor", "estimator/a.go", doc(`import "math/rand/v2"`), "no I/O"},
		{"files elsewhere in model", "estimator/model/check.go", doc(`import "os"`), "no I/O"},
		{"files where models are read", "estimator/model/file.go", doc(`import "os"`), ""},
		{"more than the permit says", "estimator/model/file.go", doc(`import "time"`), "no I/O"},
		{"a clock in a test", "estimator/a_test.go", `package a_test; import _ "time"`, ""},
		{"mathematics in the predictor", "estimator/a.go", doc(`import ("math"; "math/bits"; "io"; "encoding/binary")`), ""},
		{"flags outside of a command", "trainer/a.go", doc(`import "flag"`), "flags end at the doorway"},
		{"flags in a command", "cmd/dgm-x/a.go", doc(`import "flag"`), ""},
		{"flags in a test", "trainer/a_test.go", `package a; import _ "flag"`, ""},
		{"the old random numbers", "trainer/a_test.go", `package a; import _ "math/rand"`, "takes its seed"},
		{"the new random numbers", "trainer/a.go", doc(`import "math/rand/v2"`), ""},
		{"C", "firmware-sim/live/a.go", doc(`import "C"`), "static binary"},
		{"C in the library", "cmd/libdgm/export.go", doc(`import "C"`), ""},

		{"a package named for nothing", "trainer/utils/a.go", "// Package utils is.\npackage utils", "without a meaning"},
		{"a folder named for nothing", "trainer/common/a.go", "// Package fine is.\npackage fine", "without a meaning"},
		{"its tests", "trainer/helpers/a_test.go", "package helpers_test", "without a meaning"},
		{"init", "trainer/a.go", doc(`func init() {}`), "func init"},
		{"init in a test", "trainer/a_test.go", `package a; func init() {}`, ""},
		{"a method named init", "trainer/a.go", doc(`type x int; func (x) init() {}`), ""},
		{"too long", "trainer/a.go", long, "not one thing"},
		{"too long, a test", "trainer/a_test.go", strings.Replace(long, "package x", "package x_test", 1), "not one thing"},
		{"no package comment", "trainer/a.go", "package a", "no package comment"},
		{"a comment apart from the package", "trainer/a.go", "// A licence.\n\npackage a", "no package comment"},
		{"a test needs none", "trainer/a_test.go", "package a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(module, c.path, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			got := breaks([]*source{s})
			switch {
			case c.want == "" && len(got) != 0:
				t.Errorf("allowed, but reported: %q", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("got %q, want one line with %q", got, c.want)
			}
			if len(got) > 0 && !strings.Contains(got[0], filepath.ToSlash(filepath.Dir(c.path))) {
				t.Errorf("does not say where: %q", got[0])
			}
		})
	}
}

// doc puts a declaration into a documented package.
func doc(declaration string) string {
	return "// Package a is documented.\npackage a\n" + declaration
}

func TestUnusedPermitsAreReported(t *testing.T) {
	every := 0
	for _, p := range permits {
		every += len(p.world)
	}
	if got := len(idle(nil)); got != every {
		t.Errorf("without any file %d of %d permits are reported as idle", got, every)
	}
	s := &source{path: "estimator/durable/file.go", imports: []string{"os/signal", "io/fs"}}
	for _, b := range idle([]*source{s}) {
		if strings.HasPrefix(b, "estimator/durable ") {
			t.Errorf("in use, but reported: %s", b)
		}
	}
}

func TestMisplacedIsReported(t *testing.T) {
	if got := misplaced([]string{".git", ".ci", "estimator", "go.sum", "build", "fit.test", "cpu.prof"}); len(got) != 0 {
		t.Errorf("in their place, but reported: %q", got)
	}
	for _, n := range []string{"doc", "main.go", "internal", "pkg", "scripts", "notes.md"} {
		if got := misplaced([]string{n}); len(got) != 1 || !strings.HasPrefix(got[0], n) {
			t.Errorf("%s: got %q", n, got)
		}
	}
}

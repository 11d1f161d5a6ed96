package c99_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/codegen/c99"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// planRows is the number of rows of a plan.
const planRows = 7

// strict are the flags under which a source must compile without a warning.
var strict = []string{"-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"}

// models returns the fixtures by name.
func models(t *testing.T) map[string]*model.Model {
	t.Helper()
	out := map[string]*model.Model{}
	for name, shape := range modeltest.Shapes() {
		out[name] = modeltest.New(shape, rand.New(rand.NewPCG(3, 4)))
	}
	for _, points := range []int{1, 3} { // fewer than are evaluated together
		few := modeltest.New(modeltest.Shapes()["history"], rand.New(rand.NewPCG(3, 4)))
		few.Points = points
		out[fmt.Sprintf("history at %d times", points)] = few
	}
	files, err := filepath.Glob("../../../estimator/model/testdata/v3*.dgm")
	if err != nil || len(files) == 0 {
		t.Fatalf("no model files: %v", err)
	}
	for _, path := range files {
		m, err := model.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = m
	}
	return out
}

// source returns a model as C.
func source(t testing.TB, m *model.Model, o c99.Options) *c99.Source {
	t.Helper()
	d, err := dynamics.DocumentOf(m, planRows)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c99.Write(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sources has what sourceOf returned.
var sources = map[string]*c99.Source{}

// sourceOf returns the source of a fixture in the type of its numbers in which it is always compiled, or else single precision.
// It is written once: large ones take a second.
func sourceOf(t testing.TB, name string, m *model.Model) *c99.Source {
	t.Helper()
	if sources[name] == nil {
		sources[name] = source(t, m, c99.Options{Double: always[name] == "double"})
	}
	return sources[name]
}

// write writes a model as C to a folder.
func write(t testing.TB, m *model.Model, o c99.Options) (dir string, s *c99.Source) {
	t.Helper()
	s = source(t, m, o)
	dir = t.TempDir()
	for name, text := range map[string][]byte{c99.HeaderFile: s.Header, c99.BodyFile: s.Body} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, s
}

// compile returns a program that answers queries. It skips the test where there is no C compiler.
func compile(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler cc")
	}
	object, program := filepath.Join(dir, "model.o"), filepath.Join(dir, "answers")
	run(t, nil, cc, append(append([]string{}, strict...), append(flags, "-c", "-o", object, filepath.Join(dir, c99.BodyFile))...)...)
	run(t, nil, cc, "-O1", "-I", dir, "-o", program, "testdata/main.c", object, "-lm")
	return program
}

func run(t testing.TB, input []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = bytes.NewReader(input)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, errors.String())
	}
	return out
}

// question returns a query; rounded to single precision where asked for.
func question(m *model.Model, rng *rand.Rand, planned, held, remembered, single bool) (q estimator.Query) {
	normal := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			if out[i] = 0.5 * rng.NormFloat64(); single {
				out[i] = float64(float32(out[i]))
			}
		}
		return out
	}
	q.X0 = normal(m.K)
	if m.P > 0 && planned {
		q.Plan = normal(planRows * m.P)
	}
	if m.P > 0 && held {
		q.U = normal(m.P)
	}
	if rows := m.History.Rows(); rows > 0 && remembered {
		q.History = normal(rows * (m.K + m.P))
	}
	return q
}

// encode appends a query as testdata/main.c reads it.
func encode[T float32 | float64](b []byte, q *estimator.Query) []byte {
	flags := [4]int32{}
	for i, v := range [][]float64{q.History, q.U, q.Plan} {
		if v != nil {
			flags[i] = 1
		}
	}
	b, _ = binary.Append(b, binary.LittleEndian, flags)
	for _, v := range [][]float64{q.X0, q.History, q.U, q.Plan} {
		for _, x := range v {
			b, _ = binary.Append(b, binary.LittleEndian, T(x))
		}
	}
	return b
}

// answer is what a query has been answered with.
type answer struct {
	code                    [2]int32
	score                   float64
	mean, std, byX, byInput []float64
}

// decode takes an answer from what testdata/main.c wrote.
func decode[T float32 | float64](t *testing.T, r *bytes.Reader, m *model.Model) (a answer) {
	t.Helper()
	if err := binary.Read(r, binary.LittleEndian, &a.code); err != nil {
		t.Fatal(err)
	}
	take := func(n int) []float64 {
		v, out := make([]T, n), make([]float64, n)
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
		for i, x := range v {
			out[i] = float64(x)
		}
		return out
	}
	n := m.K * m.Points
	a.score = take(1)[0]
	a.mean, a.std, a.byX, a.byInput = take(n), take(n), take(n*m.K), take(max(1, n*planRows*m.P))
	return a
}

// ask returns the answers to queries.
func ask[T float32 | float64](t *testing.T, program string, m *model.Model, all []estimator.Query) (out []answer) {
	t.Helper()
	var input []byte
	for i := range all {
		input = encode[T](input, &all[i])
	}
	r := bytes.NewReader(run(t, input, program))
	for range all {
		out = append(out, decode[T](t, r, m))
	}
	return out
}

// queries returns some of every condition, with all combinations of what may be null.
func queries(m *model.Model, single bool) (out []estimator.Query) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		for kind := range 8 {
			out = append(out, question(m, rng, kind&1 > 0, kind&2 > 0, kind&4 > 0, single))
		}
	}
	return out
}

// The C source answers as the reference predictor does: in double precision to 1e-9 of a standard deviation, in single
// precision to 1e-4, and its derivatives are those of the reference.
func TestCIsThePredictor(t *testing.T) {
	for name, m := range models(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("double", func(t *testing.T) {
				skipCompiling(t, always[name] == "double")
				agree[float64](t, m, c99.Options{Double: true}, 1e-9)
			})
			t.Run("float", func(t *testing.T) {
				skipCompiling(t, always[name] == "float")
				agree[float32](t, m, c99.Options{}, 1e-4)
			})
		})
	}
}

func agree[T float32 | float64](t *testing.T, m *model.Model, o c99.Options, tolerance float64) {
	dir, s := write(t, m, o)
	optimise := "-O1"
	if o.Double {
		optimise = "-O0" // compiles in a third of the time
	}
	program := compile(t, dir, optimise)
	ref, err := estimator.New(m, m.EqualTimes(m.Points))
	if err != nil {
		t.Fatal(err)
	}
	all := queries(m, !o.Double)
	worst, worstJacobian := 0.0, 0.0
	for i, a := range ask[T](t, program, m, all) {
		q := &all[i]
		want := ref.NewPrediction()
		if m.Displacement {
			want.WithJacobian()
		}
		if m.P > 0 {
			want.WithInputJacobian(max(len(q.Plan), m.P))
		}
		if !ref.Predict(want, q) || a.code != [2]int32{} {
			t.Fatalf("query %d: codes %v", i, a.code)
		}
		for j, sigma := range want.ObsStd {
			worst = max(worst, math.Abs(a.mean[j]-want.Mean[j])/sigma, math.Abs(a.std[j]-want.Std[j])/sigma)
		}
		worst = max(worst, math.Abs(a.score-want.OOD)/(1+want.OOD))
		if !m.Displacement && o.Double {
			if d := furthest(a.byX, differences(ref, q)); d > 1e-6 {
				t.Errorf("query %d: derivatives differ from central differences by %v", i, d)
			}
		}
		worstJacobian = max(worstJacobian, furthest(a.byX, want.Jacobian), furthest(a.byInput, want.InputJacobian))
	}
	t.Logf("worst: %.2g of a standard deviation, Jacobian %.2g; RAM %d bytes, %d without the Jacobian, constants %d bytes", worst, worstJacobian, s.RAM, s.RAMPredict, s.Constants)
	if !(worst <= tolerance) {
		t.Errorf("%v of a standard deviation, more than %v", worst, tolerance)
	}
	most := 1e-9
	if !o.Double {
		most = 1e-3
	}
	if !(worstJacobian <= most) {
		t.Errorf("derivatives differ by %v, more than %v", worstJacobian, most)
	}
}

// differences returns ∂mean/∂x0 by central differences: the reference has none in the paper's form.
func differences(ref *estimator.Predictor, q *estimator.Query) []float64 {
	const h = 1e-5
	plus, minus := ref.NewPrediction(), ref.NewPrediction()
	K := len(q.X0)
	out := make([]float64, len(plus.Mean)*K)
	at := *q
	for c := range K {
		at.X0 = slices.Clone(q.X0)
		at.X0[c] += h
		ref.Predict(plus, &at)
		at.X0[c] -= 2 * h
		ref.Predict(minus, &at)
		for j := range plus.Mean {
			out[j*K+c] = (plus.Mean[j] - minus.Mean[j]) / (2 * h)
		}
	}
	return out
}

// furthest returns the largest difference of what is expected, over 1 and its size.
func furthest(got, want []float64) (worst float64) {
	for j, w := range want {
		if d := math.Abs(got[j]-w) / (1 + math.Abs(w)); !(d <= worst) {
			worst = d
		}
	}
	return worst
}

// What is not finite is refused, whichever input it is in.
func TestWhatIsNotFiniteIsRefused(t *testing.T) {
	m := modeltest.New(modeltest.Shapes()["history"], rand.New(rand.NewPCG(3, 4)))
	m.Points = 1
	dir, _ := write(t, m, c99.Options{})
	program := compile(t, dir, "-O0")
	rng := rand.New(rand.NewPCG(1, 2))
	var all []estimator.Query
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		for _, of := range []func(q *estimator.Query) []float64{
			func(q *estimator.Query) []float64 { return q.X0 }, func(q *estimator.Query) []float64 { return q.History },
			func(q *estimator.Query) []float64 { return q.U }, func(q *estimator.Query) []float64 { return q.Plan },
		} {
			q := question(m, rng, true, true, true, true)
			numbers := of(&q)
			numbers[len(numbers)-1] = v
			all = append(all, q)
		}
	}
	held := question(m, rng, false, true, true, true)
	held.U[0] = math.NaN()
	all = append(all, held)
	huge := question(m, rng, true, true, true, true)
	huge.X0[3] = 1e38
	for i, a := range ask[float32](t, program, m, append(all, huge)) {
		want := [2]int32{1, 1}
		switch i {
		case 2, 6: // u beside a plan
			want = [2]int32{}
		case len(all):
			want[0], want[1] = 2, a.code[1]
		}
		if a.code != want || (want[0] == 1) != math.IsInf(a.score, 1) {
			t.Errorf("query %d: codes %v and score %v, expected %v and a score that is infinite after 1", i, a.code, a.score, want)
		}
	}
}

// Every compiler at hand takes every source without a warning, in both types, with and without Jacobians; without DGM_SLOW the source
// of one model, beside what TestCIsThePredictor compiles. What only an
// optimiser sees is warned of in TestCIsThePredictor.
func TestNoWarnings(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		t.Run(cc, func(t *testing.T) {
			path, err := exec.LookPath(cc)
			if err != nil {
				t.Skip("no C compiler " + cc)
			}
			for name, m := range models(t) {
				if name != "history at 1 times" && os.Getenv("DGM_SLOW") == "" {
					continue
				}
				for _, o := range []c99.Options{{}, {Double: true}} {
					dir, _ := write(t, m, o)
					for _, define := range []string{"-DDGM_JACOBIAN", "-DDGM_NO_JACOBIAN"} {
						run(t, nil, path, append(append([]string{}, strict...), define, "-fsyntax-only", filepath.Join(dir, c99.BodyFile))...)
					}
				}
			}
		})
	}
}

// The source asks for no memory, and for nothing of the C library but six functions.
func TestSourceNeedsLittle(t *testing.T) {
	for name, m := range models(t) {
		text := string(sourceOf(t, name, m).Body)
		for _, no := range []string{"malloc", "free(", "stdio", "stdlib", "string.h", "fabs", "floorf", "pow", "memcpy"} {
			if strings.Contains(text, no) {
				t.Errorf("%s: there is %q in the source", name, no)
			}
		}
		if n := strings.Count(text, "#include"); n != 2 {
			t.Errorf("%s: %d inclusions", name, n)
		}
	}
}

// The same model gives the same files.
func TestSourceIsTheSame(t *testing.T) {
	for name, m := range models(t) {
		if again := source(t, m, c99.Options{Double: always[name] == "double"}); !reflect.DeepEqual(sourceOf(t, name, m), again) {
			t.Errorf("%s: the files differ", name)
		}
	}
}

package paper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

var update = flag.Bool("update", false, "write the pin anew")

// pinned are predictions by name of the case.
type pinned struct {
	Processor string            `json:"processor"`
	SHA256    map[string]string `json:"sha256"`
	Mean      map[string]float64
	Std       map[string]float64
}

// The whole recipe, every branch of it, and the trainings beside it give the same numbers bit
// by bit on the processor that the pin was made on, and close ones elsewhere.
func TestRecipeIsPinned(t *testing.T) {
	recipes := map[string]func() (*Data, Recipe){
		"one trajectory": func() (*Data, Recipe) { return pinnedData(1, 60, 0.05), small() },
		"many, left out": func() (*Data, Recipe) { r := small(); r.Refits = 2; return pinnedData(9, 1, 0.05), r },
		"known":          func() (*Data, Recipe) { r := small(); r.Known = spinning(); return pinnedData(1, 40, 0.05), r },
	}
	cases := pinnedTrainings(t)
	for name, c := range recipes {
		cases[name] = func(x0, times, mean, std []float64) {
			d, r := c()
			m, err := Learn(context.Background(), d, r, 5)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			m.Predict(mean, std, x0, times)
		}
	}
	got := pinned{Processor: runtime.GOARCH + " " + simd.Best().String(), SHA256: map[string]string{}, Mean: map[string]float64{}, Std: map[string]float64{}}
	for name, predict := range cases {
		mean, std := make([]float64, 8), make([]float64, 8)
		predict([]float64{1, 0}, []float64{0.5, 1, 2, 3}, mean, std)
		var b bytes.Buffer
		for _, v := range append(append([]float64{}, mean...), std...) {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		sum := sha256.Sum256(b.Bytes())
		got.SHA256[name], got.Mean[name], got.Std[name] = hex.EncodeToString(sum[:]), mean[4], std[4]
	}
	path := "testdata/pin.json"
	old, err := os.ReadFile(path)
	if *update || errors.Is(err, fs.ErrNotExist) {
		text, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var want pinned
	if err := json.Unmarshal(old, &want); err != nil {
		t.Fatal(err)
	}
	exact := want.Processor == got.Processor
	t.Logf("here %s, pinned on %s: bit by bit: %v", got.Processor, want.Processor, exact)
	for name := range cases {
		switch {
		case exact && got.SHA256[name] != want.SHA256[name]:
			t.Errorf("%s: the predictions changed: mean %v std %v, pinned %v %v", name, got.Mean[name], got.Std[name], want.Mean[name], want.Std[name])
		case !(math.Abs(got.Mean[name]-want.Mean[name]) < 0.2) || !(math.Abs(math.Log(math.Abs(got.Std[name]/want.Std[name]))) < 1):
			t.Errorf("%s: mean %v std %v, pinned %v %v", name, got.Mean[name], got.Std[name], want.Mean[name], want.Std[name])
		}
	}
}

// pinnedTrainings are those beside the recipe: each predicts mean and standard deviation.
func pinnedTrainings(t *testing.T) map[string]func(x0, times, mean, std []float64) {
	ctx, d, set := context.Background(), pinnedData(3, 8, 0.05), small().Settings
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(x0, times, mean, std []float64){
		"exact": func(x0, times, mean, std []float64) {
			exact := set
			exact.Exact, exact.FineTune, exact.CoreEnd, exact.Anchor = true, 20, mlp.Sigmoid, 0
			f, err := Train(ctx, d, exact, 2)
			check(err)
			e, err := f.Exact()
			check(err)
			e.Predict(mean, std, x0, times)
		},
	}
}

// pinnedData are noisy trajectories of a rotation with damping.
func pinnedData(trajectories, points int, noise float64) *Data {
	rng := rand.New(rand.NewPCG(17, 3))
	d := &Data{K: 2}
	for j := range trajectories {
		a := 1 + 0.2*float64(j)
		tr := Trajectory{X0: []float64{a, 0}}
		for i := range points {
			t := 3 * float64(i+1) / float64(points)
			tr.T = append(tr.T, t)
			tr.Y = append(tr.Y, a*math.Cos(t)+noise*rng.NormFloat64(), -a*math.Sin(t)+noise*rng.NormFloat64())
		}
		d.Trajectories = append(d.Trajectories, tr)
	}
	return d
}

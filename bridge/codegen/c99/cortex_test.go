package c99_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/codegen/c99"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

const (
	armGCC  = "arm-none-eabi-gcc"
	armSize = "arm-none-eabi-size"
	qemu    = "qemu-system-arm"
)

// Without an operating system, on an emulated Cortex-M4F, the C source answers as the reference predictor does. With -icount
// shift=0 every instruction takes 1 ns of the emulated clock, so that a tick of its 25 MHz timer is 40 instructions.
func TestCortexM4(t *testing.T) {
	for _, tool := range []string{armGCC, armSize, qemu} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	for _, c := range []struct {
		name  string
		m     *model.Model
		ram   int // kB
		flags []string
		slow  bool
	}{
		{"12 states at 20 times", large(), 64, []string{"-O2", "-DDGM_NO_JACOBIAN"}, false},
		{"12 states at 20 times with Jacobians", large(), 128, []string{"-O2"}, true},
		{"12 states at 20 times, small code", large(), 128, []string{"-Os"}, true},
		{"pendulum", pendulum(t), 64, []string{"-O2"}, false},
		{"pendulum, small code", pendulum(t), 64, []string{"-Os"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.slow && os.Getenv("DGM_SLOW") == "" {
				t.Skip("compiles for half a minute; DGM_SLOW=1 runs it")
			}
			onBoard(t, c.m, c.ram, c.flags)
		})
	}
}

func onBoard(t *testing.T, m *model.Model, ram int, options []string) {
	dir, s := write(t, m, c99.Options{})
	rng := rand.New(rand.NewPCG(7, 8))
	all := []estimator.Query{
		question(m, rng, false, false, false, true), question(m, rng, false, true, true, true), question(m, rng, true, false, false, true), question(m, rng, true, false, true, true),
	}
	if err := os.WriteFile(filepath.Join(dir, "queries.h"), []byte(queriesInC(m, all)), 0o600); err != nil {
		t.Fatal(err)
	}
	object, image := filepath.Join(dir, "model.o"), filepath.Join(dir, "image.elf")
	flags := []string{"-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-ffp-contract=fast", "-ffunction-sections", "-fdata-sections", "-I", dir}
	flags = append(flags, options...)
	run(t, nil, armGCC, append(append([]string{"-c", "-o", object, filepath.Join(dir, c99.BodyFile)}, strict...), flags...)...)
	board := "testdata/cortex-m4/"
	run(t, nil, armGCC, append([]string{"-std=gnu99", "-Wall", "-Werror", "-o", image, board + "board.c", board + "main.c", object, "-T", board + "board.ld", "-nostartfiles", fmt.Sprintf("-Wl,--gc-sections,--defsym=ram_size=%d", ram<<10), "-lm"}, flags...)...)
	text := sizes(t, object)
	whole := sizes(t, image)
	cmd := exec.CommandContext(t.Context(), qemu, "-machine", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none", "-semihosting-config", "enable=on,target=native", "-icount", "shift=0", "-kernel", image)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", qemu, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < len(all) {
		t.Fatalf("%d lines, expected %d:\n%s", len(lines), len(all), out)
	}
	ref, err := estimator.New(m, m.EqualTimes(m.Points))
	if err != nil {
		t.Fatal(err)
	}
	worst, instructions := 0.0, uint32(0)
	for i := range all {
		want, got := ref.NewPrediction(), words(t, lines[i])
		if !ref.Predict(want, &all[i]) || len(got) != 3+2*len(want.Mean) || got[0] != 0 || got[1] == 0 {
			t.Fatalf("query %d: %d words, begins %v", i, len(got), got[:3])
		}
		instructions = max(instructions, 40*got[1])
		for j, sigma := range want.ObsStd {
			mean, std := float64(math.Float32frombits(got[3+j])), float64(math.Float32frombits(got[3+len(want.Mean)+j]))
			worst = max(worst, math.Abs(mean-want.Mean[j])/sigma, math.Abs(std-want.Std[j])/sigma)
		}
	}
	t.Logf("worst: %.2g of a standard deviation; a prediction %.3f million instructions; flash of the model %d bytes, of which constants %d; RAM of the model %d bytes; the image with mathematics, queries and 4096 bytes of stack: flash %d, RAM %d",
		worst, float64(instructions)/1e6, text.flash, s.Constants, text.ram, whole.flash, whole.ram)
	for _, line := range lines[len(all):] { // of the Jacobians
		w := words(t, line)
		t.Logf("∂mean/∂x %.3f million instructions", 40*float64(w[1])/1e6)
		if w[0] != 0 {
			t.Errorf("Jacobian: code %d", w[0])
		}
	}
	if !(worst <= 1e-4) {
		t.Errorf("%v of a standard deviation", worst)
	}
}

// words returns hexadecimal numbers of 32 bits.
func words(t *testing.T, line string) (out []uint32) {
	t.Helper()
	for _, word := range strings.Fields(line) {
		v, err := strconv.ParseUint(word, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, uint32(v))
	}
	return out
}

// size is what a program takes, bytes.
type size struct{ flash, ram int }

func sizes(t *testing.T, path string) size {
	t.Helper()
	var text, data, bss int
	lines := strings.Split(string(run(t, nil, armSize, path)), "\n")
	if _, err := fmt.Sscan(lines[1], &text, &data, &bss); err != nil {
		t.Fatal(err)
	}
	return size{text + data, data + bss}
}

// queriesInC returns queries as C.
func queriesInC(m *model.Model, all []estimator.Query) string {
	var b strings.Builder
	fmt.Fprintf(&b, `#define QUERIES %d
static const struct query {
    int flags[3];
    dgm_real x[DGM_K], history[DGM_HISTORY_ROWS * (DGM_K + DGM_P) + 1], u[DGM_P + 1], plan[DGM_PLAN_ROWS * DGM_P + 1];
} queries[QUERIES] = {
`, len(all))
	for i := range all {
		q := &all[i]
		flag := func(v []float64) int { return min(len(v), 1) }
		fmt.Fprintf(&b, "    {{%d, %d, %d}", flag(q.History), flag(q.U), flag(q.Plan))
		for _, v := range [][]float64{q.X0, q.History, q.U, q.Plan} {
			text := []string{}
			for _, x := range v {
				text = append(text, strconv.FormatFloat(x, 'x', -1, 32)+"f")
			}
			if len(text) == 0 {
				text = []string{"0"}
			}
			fmt.Fprintf(&b, ", {%s}", strings.Join(text, ", "))
		}
		b.WriteString("},\n")
	}
	b.WriteString("};\n")
	return b.String()
}

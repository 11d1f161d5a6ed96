package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// pin is what an import of one recording gives.
type pin struct {
	name    string
	args    []string // of import, before --out
	rows    int
	content string // SHA-256 of header and samples, see content
	file    string // SHA-256 of flight.msgpack, which holds the notes as well
}

// committed is where the committed recordings are, recorded where those of real
// robots are.
var (
	committed = filepath.Join("..", "..", "bridge", "internal", "reference", "testdata")
	recorded  = filepath.Join("..", "..", "..", "shared", "data")
	maps      = filepath.Join("..", "..", "bridge", "csv", "testdata")
)

func pins() []pin {
	here := func(name string) string { return filepath.Join(committed, name) }
	real := func(name string) string { return filepath.Join(recorded, filepath.FromSlash(name)) }
	table := func(name string) string { return filepath.Join(maps, name) }
	return []pin{
		{"ulog", []string{"ulog", "--preset", "px4-quadrotor", here("flight.ulg")}, 200, "01960395f4d5622e546226972ba51f583149ee12e2eff3081abe115732171315", "7fe596d166db747e23e6c69a057016d3e82435b7a5dc71c219ceae243a85e88e"},
		{"ulog enu", []string{"ulog", "--preset", "px4-quadrotor", "--frames", "enu-flu", "--all", here("flight.ulg")}, 200, "34da3cc19684a28f96bffd8f7ff21912cae1f1885350ee89880fa76b4175df2d", "cdd70c72fcad916ffa1689f2bb5e07df024b42d73e1b56e56993a436ab87f669"},
		{"ardupilot", []string{"ardupilot", "--preset", "ardupilot-copter", here("flight.BIN")}, 150, "bf9208397e863065f5fb3e015822598d78d6960b9d48a748ba5709c50ce1908f", "7263e2403951d140cae6d7c3dc9312b04a821821c188421c3e35b2841fa9a456"},
		{"mavlink", []string{"mavlink", "--preset", "ardupilot-copter", here("flight.tlog")}, 150, "fd368faf17eaedf97c48db09a91b39ea1841b93703e3e4192c36b05e3f334f88", "5fd43426931dd5d6f5d97ecff0519a8e78c2cc4fed3da049abe9f8d4ee33e7b8"},
		{"mcap", []string{"mcap", "--preset", "ros2-odometry", here("flight.mcap")}, 200, "d54794041bad675ada440e32bafe2a61b9218a1014b7c37567df5650f8cda006", "1e4580cc6ffa9d58b54932966152261c48d51ded1bddc37f8758299448c16023"},
		{"mcap joints", []string{"mcap", "--preset", "joint-states", here("flight.mcap")}, 80, "56c7189118c324702a96116d27881cecee66a321063b9fd3b90a66cf2edd5f32", "57395117796137e7769f1d3b8d617d831c5b7598c03f654ef7caa8775aaea09c"},
		{"crazyflie", []string{"crazyflie", "--preset", "crazyflie", here("flight.log")}, 300, "c495d55c83e030b41e1d8c515d49da45c496c875a6cef510b052039561cb0214", "f32f2da14b56d49c04e264ea2721133ed2fecc2ab51ff88ae210d9938bc857f5"},
		{"csv", []string{"csv", "--map", here("flight.toml"), here("flight.csv")}, 390, "0642fb2cbe960999796e581fd326fb7d55df00e03da7da045af3b5b9a19993b2", "3980447cd0919c346d2f48778f76c9094e26209560ed293365a5ff3eabcbb202"},
		{"csv twice", []string{"csv", "--map", here("flight.toml"), here("flight.csv"), here("flight.csv")}, 780, "a968d85938f4cf6dd5c8af998654fb57906952d3781b5d9d043bf5f340eac974", "5c85b416a9890f5154ee55efbccd93ef8ec0784fab6b25087713e4205c859a67"},
		{"esc_status_log.ulg", []string{"ulog", "--preset", "px4-quadrotor", real("parser-samples/ulg/esc_status_log.ulg")}, 306, "5d33c07d99b21fde4ff141e57a28a7adc300eb4de16e3b0092901803ca83ec46", "447f2c1d536aaf89061f211c3e9568dca3c31d1d4b0a60b287dd3be99169ca07"},
		{"small.BIN", []string{"ardupilot", "--preset", "ardupilot-sub", real("parser-samples/ardupilot/small.BIN")}, 87, "efc00af490b51d1b352cbf3622fa5e7d87352d2adcf0ee5f4f356d43f30379f7", "21bb1c65fc7f0c4d31ab8345275fe5a66c08ac87fef54cd6076a3e15b2d8281a"},
		{"small.tlog", []string{"mavlink", "--preset", "ardupilot-sub", real("parser-samples/ardupilot/small.tlog")}, 48, "d3d6638b3a1a177b7c23660c01874be17179adf87b09b54ec71d1152b3427542", "4de958f6e2b8700027375adf26c562969f22da6669f00b7cafe55f55b84c945c"},
		{"single_200hz.csv", []string{"csv", "--map", table("single.toml"), real("multiarm-pendulum/derived/single_200hz.csv")}, 11004, "fa052530662e6cdc78a0f7517d69588690ff6368cc280f72663b4c431387b5c1", "e24d30c3139d6a5c5a72fcc817f39f09a9ea33e55bc2406d8244df433174dff9"},
		{"double_200hz.csv", []string{"csv", "--map", table("double.toml"), real("multiarm-pendulum/derived/double_200hz.csv")}, 16018, "fb8d2256e6920cbfe6ebb58fbb7c5438e5643d0fb1565033bb217b5d11b9c2ed", "42bfa99ebe49c2ddca5b5c7500585a51775bd55573535827e5dce126553efd1a"},
		{"energy_shaping.csv", []string{"csv", "--map", table("dfki.toml"), real("dfki-simple-pendulum/energy_shaping.csv")}, 4000, "8c3969797d9af4149a53ebaba346f5ec059f47719e6800c218110e5fcf470ec7", "7b0694661827546e0bdacde746e286ef5fcd3bb5f99962442bfd3f99434d4567"},
		{"nanobench", []string{"csv", "--map", table("nanobench.toml"), real("nanobench/dev/B3_figure8_fast_rep2.csv"), real("nanobench/dev/B7_oval_medium_rep3.csv")}, 6100, "408b1beb443e243437d85e47917c759cf8602c485c8f04c41b2988237408ac37", "439d0ff61a5f30c7892ae263713ef5df769b3b91709e5d6637749830cfdd3335"},
	}
}

// One recording of each format, and the recordings of real robots that are here,
// give the same flight logs as ever. On other processors than amd64 a product and
// a sum may be rounded together, so that there only the number of rows is compared.
func TestPinnedImports(t *testing.T) {
	if testing.Short() {
		t.Skip("imports logs, one after the other: long under the race detector")
	}
	for _, p := range pins() {
		t.Run(p.name, func(t *testing.T) {
			for _, path := range p.args {
				if _, err := os.Stat(path); filepath.Dir(path) != "." && err != nil {
					t.Skip("the recording is not here: ", path)
				}
			}
			out := filepath.Join(t.TempDir(), "flight.msgpack")
			if code, _, errs := run(append(append([]string{"import"}, p.args...), "--out", out)...); code != cli.Done {
				t.Fatalf("exit %d, %s", code, errs)
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			log, err := flightlog.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for i := range log.Segments {
				rows += len(log.Segments[i].T)
			}
			if rows != p.rows {
				t.Errorf("%d rows, want %d", rows, p.rows)
			}
			if runtime.GOARCH != "amd64" {
				t.Skip("only rows are compared on ", runtime.GOARCH)
			}
			whole := sha256.Sum256(b)
			if got := content(log); got != p.content {
				t.Errorf("header and samples have SHA-256\n%s, want\n%s", got, p.content)
			}
			if got := hex.EncodeToString(whole[:]); got != p.file {
				t.Errorf("the file has SHA-256\n%s, want\n%s", got, p.file)
			}
		})
	}
}

// content is the SHA-256 of a log without its notes.
func content(log *flightlog.Log) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %s\n", log.Vehicle, log.Source, log.Kinematics.String())
	for _, c := range log.Channels {
		fmt.Fprintln(h, c.Name, c.Unit, c.Role, c.Derivative, c.Period, c.Invariant, c.Noise, c.Frame)
	}
	for i := range log.Segments {
		s := &log.Segments[i]
		fmt.Fprintln(h, s.Name, len(s.T))
		for _, t := range s.T {
			bits(h, uint64(t))
		}
		for _, column := range [][]float64{s.X, s.U, s.Aux} {
			for _, v := range column {
				if math.IsNaN(v) {
					v = math.NaN() // one of them
				}
				bits(h, math.Float64bits(v))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func bits(h hash.Hash, v uint64) {
	h.Write(binary.LittleEndian.AppendUint64(nil, v))
}

// The exports of a flight log are the same files as ever.
func TestPinnedExports(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "flight.msgpack")
	if code, _, errs := run("import", "ulog", "--preset", "px4-quadrotor", filepath.Join(committed, "flight.ulg"), "--out", log); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for format, want := range map[string]string{
		"csv":  "d837230648c0e2fb942596082e5a92d7f908e2f8ac6c5d0f7f817497a0347a47",
		"mcap": "dd53f4c972722c9372f0db57896a81c9526d94907e0b95385d99396ee694ec1e",
	} {
		out := filepath.Join(dir, "flight."+format)
		if code, _, errs := run("export", format, log, "--out", out); code != cli.Done {
			t.Fatalf("exit %d, %s", code, errs)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); runtime.GOARCH == "amd64" && hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s: SHA-256 %x, want %s", format, sum, want)
		}
	}
}

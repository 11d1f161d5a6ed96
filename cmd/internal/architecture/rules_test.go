package architecture

// Folders are slash paths from the top of the repository. A folder in a table
// means itself and everything under it, but where said otherwise.

// A fence keeps folders apart, tests included.
type fence struct {
	from string
	not  []string
	why  string
}

var fences = []fence{
	{
		"estimator",
		[]string{"trainer", "bridge", "firmware-sim", "cmd"},
		"the onboard runtime is the bottom layer: nothing that learns, converts or simulates may reach a robot by way of it",
	},
	{
		"trainer",
		[]string{"bridge", "firmware-sim", "cmd"},
		"the trainer sees logs, not where they come from; a known plant is handed to it by cmd, as a value",
	},
	{
		"bridge",
		[]string{"trainer", "firmware-sim", "cmd"},
		"a bridge turns what robots have into the formats of estimator; it needs nothing that learns or simulates",
	},
	{
		"firmware-sim",
		[]string{"trainer", "bridge", "cmd"},
		"a simulated robot is known to the others by its messages and logs only, as a real one is",
	},
}

// A layer is one package of estimator with the packages of estimator that it may
// import, tests apart. The order is bottom to top: a package imports only packages
// that precede it in this table.
type layer struct {
	folder  string // this folder only
	imports []string
	why     string
}

var layers = []layer{
	{
		"estimator/channel", nil,
		"logs, messages and models all describe their channels by it, so it knows none of them",
	},
	{
		"estimator/internal/msgbin", nil,
		"bounded reading of untrusted bytes is checked best where nothing else is",
	},
	{
		"estimator/durable", nil,
		"how a file gets safely to disk has nothing to do with what is in it",
	},
	{
		"estimator/textlimit", nil,
		"how deep a text is has nothing to do with what it sets",
	},
	{
		"estimator/numeric/ode", nil,
		"the integrator serves any system, so it knows none",
	},
	{
		"estimator/internal/guardtest", nil,
		"pages around a test's numbers know nothing of what is tested",
	},
	{
		"estimator/numeric/matmul", nil,
		"products of dense matrices are arithmetic: what the numbers mean is known further up",
	},
	{
		"estimator/numeric/mlp",
		[]string{"estimator/numeric/matmul"},
		"a dense net maps numbers to numbers; what they mean is known further up",
	},
	{
		"estimator/numeric/simd", nil,
		"kernels over many points at once are arithmetic: what the numbers mean is known further up",
	},
	{
		"estimator/numeric/panelnet",
		[]string{"estimator/numeric/mlp", "estimator/numeric/simd"},
		"layers at many points at once are arithmetic: what the numbers mean is known further up",
	},
	{
		"estimator/program",
		[]string{"estimator/internal/msgbin", "estimator/numeric/matmul", "estimator/numeric/simd"},
		"operations on registers are arithmetic: what is compiled to them is known further up",
	},
	{
		"estimator/actuator",
		nil,
		"how an input follows its command is a formula of its own; who has inputs is known further up",
	},
	{
		"estimator/history",
		[]string{"estimator/channel"},
		"stream and recording are resampled by this one code, so it knows neither",
	},
	{
		"estimator/direct",
		[]string{"estimator/channel", "estimator/numeric/matmul", "estimator/numeric/simd"},
		"a direct map knows a robot by its channels only",
	},
	{
		"estimator/motion",
		[]string{"estimator/channel", "estimator/program"},
		"an equation of motion knows a robot by its channels only",
	},
	{
		"estimator/priordynamics",
		[]string{"estimator/channel", "estimator/motion", "estimator/numeric/matmul", "estimator/numeric/mlp", "estimator/numeric/panelnet", "estimator/numeric/simd"},
		"prior dynamics know a robot by its channels only",
	},
	{
		"estimator/ood", nil,
		"a distance from reference points is geometry: what the coordinates mean is known further up",
	},
	{
		"estimator/linear",
		[]string{"estimator/channel"},
		"the baseline must not borrow from what it is compared with",
	},
	{
		"estimator/feature",
		[]string{"estimator/channel", "estimator/numeric/mlp"},
		"trainer and predictor evaluate this one map, so it knows neither, nor the file it is stored in",
	},
	{
		"estimator/wire",
		[]string{"estimator/channel", "estimator/internal/msgbin"},
		"a planner links it to read predictions, and gets no model and no linear algebra with it",
	},
	{
		"estimator/flightlog",
		[]string{"estimator/channel", "estimator/durable", "estimator/internal/msgbin"},
		"a logger links it to write a log, and gets no model and no linear algebra with it",
	},
	{
		"estimator/flightlog/inspect",
		[]string{"estimator/channel", "estimator/flightlog"},
		"describes what is in a log, and nothing beyond it",
	},
	{
		"estimator/model",
		[]string{
			"estimator/actuator", "estimator/channel", "estimator/direct", "estimator/durable", "estimator/feature", "estimator/history", "estimator/linear",
			"estimator/motion", "estimator/numeric/mlp", "estimator/internal/msgbin", "estimator/ood", "estimator/priordynamics",
		},
		"the file holds what was trained; how it is evaluated over a horizon is the predictor's",
	},
	{
		"estimator/model/artificial",
		[]string{"estimator/channel", "estimator/direct", "estimator/direct", "estimator/feature", "estimator/history", "estimator/numeric/mlp", "estimator/model", "estimator/ood", "estimator/priordynamics"},
		"models for measuring what surrounds them need no data and no training",
	},
	{
		"estimator/model/modeltest",
		[]string{
			"estimator/actuator", "estimator/channel", "estimator/direct", "estimator/feature", "estimator/history", "estimator/linear", "estimator/numeric/mlp",
			"estimator/model", "estimator/motion", "estimator/ood", "estimator/priordynamics",
		},
		"models for tests of the format are conditioned by its own plain code, as an independent witness",
	},
	{
		"estimator/dynamics",
		[]string{
			"estimator/actuator", "estimator/channel", "estimator/direct", "estimator/feature", "estimator/history", "estimator/model", "estimator/motion", "estimator/numeric/mlp",
			"estimator/priordynamics", "estimator/program",
		},
		"each formula of a model is written once, as operations; who evaluates them, and for whom, is known further up",
	},
	{
		"estimator",
		[]string{"estimator/actuator", "estimator/channel", "estimator/direct", "estimator/feature", "estimator/dynamics", "estimator/program", "estimator/history", "estimator/numeric/simd", "estimator/numeric/mlp", "estimator/numeric/panelnet", "estimator/model", "estimator/ood", "estimator/priordynamics"},
		"the predictor knows models, not messages, logs or processes",
	},
	{
		"estimator/filter",
		[]string{"estimator/channel", "estimator/dynamics", "estimator/model", "estimator/priordynamics", "estimator/program"},
		"the same filter estimates in training and on board: no input, output or clock",
	},
	{
		"estimator/adapt",
		[]string{"estimator", "estimator/channel", "estimator/direct", "estimator/feature", "estimator/history", "estimator/internal/msgbin", "estimator/model", "estimator/priordynamics"},
		"what a robot has become is learned from numbers and times alone, so that it can be tried on recorded ones",
	},
	{
		"estimator/trust",
		[]string{"estimator/internal/msgbin"},
		"whether predictions hold is judged from numbers and times alone, so that it can be tried on simulated ones",
	},
	{
		"estimator/node/loopback", nil,
		"ports for servers of tests and studies know nothing of what is served",
	},
	{
		"estimator/node/stored", nil,
		"what a server stores is bytes here: what they mean is known to who asks for them",
	},
	{
		"estimator/node/decisionlog",
		[]string{"estimator/internal/msgbin", "estimator/model", "estimator/node/stored"},
		"whether something was decided is read from signed statements, whatever is done by it",
	},
	{
		"estimator/node/realtime", nil,
		"what is asked of the operating system depends on nothing that is computed",
	},
	{
		"estimator/node/journal",
		[]string{"estimator/durable", "estimator/internal/msgbin"},
		"records of what was consumed are bytes and numbers: what they mean is known to who replays them",
	},
	{
		"estimator/node/internal/reporting",
		[]string{"estimator/wire"},
		"what is counted and reported are numbers; what they were counted of is known to who counts",
	},
	{
		"estimator/node/internal/intake",
		[]string{"estimator/model", "estimator/node/internal/reporting", "estimator/wire"},
		"whether a state is accepted depends on states and clocks, not on predictions",
	},
	{
		"estimator/node/internal/prediction",
		[]string{
			"estimator", "estimator/adapt", "estimator/channel", "estimator/feature", "estimator/filter", "estimator/history", "estimator/model", "estimator/node/internal/intake", "estimator/node/journal",
			"estimator/trust", "estimator/numeric/mlp", "estimator/priordynamics", "estimator/wire",
		},
		"a task becomes a message by one pure step: no network, no counters, no file",
	},
	{
		"estimator/node/internal/recording",
		[]string{"estimator", "estimator/node/internal/intake", "estimator/node/internal/prediction", "estimator/node/journal", "estimator/wire"},
		"what is recorded are tasks and messages, after they were published",
	},
	{
		"estimator/node/internal/queries",
		[]string{
			"estimator", "estimator/adapt", "estimator/channel", "estimator/history", "estimator/model", "estimator/node/internal/intake",
			"estimator/node/internal/prediction", "estimator/node/internal/reporting", "estimator/wire",
		},
		"queries have predictors of their own and touch nothing that predictions depend on",
	},
	{
		"estimator/node",
		[]string{
			"estimator/adapt", "estimator/channel", "estimator/durable", "estimator/filter", "estimator/history", "estimator/model", "estimator/node/decisionlog", "estimator/node/internal/intake", "estimator/node/internal/prediction",
			"estimator/node/internal/queries", "estimator/node/internal/recording", "estimator/node/internal/reporting",
			"estimator/node/journal", "estimator/node/realtime", "estimator/node/stored", "estimator/trust", "estimator/wire",
		},
		"the process joins its parts to the network; flight logs are not its business",
	},
	{
		"estimator/conformance", nil,
		"files for readers of any language: only its tests know the readers in Go",
	},
}

// testOnly are packages of this module that no product code imports.
var testOnly = []fence{
	{"estimator/internal/guardtest", nil, "pages that cannot be touched are for tests of assembly"},
	{"estimator/model/modeltest", nil, "a robot must not carry invented models; measuring has estimator/model/artificial"},
}

// A guest is a foreign module, or a part of one, and where it may be imported.
// The longest path counts. Tests may import every guest.
type guest struct {
	path string
	in   []string // none: tests only
	why  string
}

var guests = []guest{
	{
		"github.com/nats-io/nats.go",
		[]string{"estimator/node", "firmware-sim/live", "bridge/live", "bridge/fleet", "bridge/mavlink/link", "bridge/msp/link", "cmd", "examples"},
		"one place per side speaks to the network; everything else is tried without it",
	},
	{
		"github.com/nats-io/nats-server/v2",
		[]string{"cmd/dgm-demo", "cmd/dgm-bench", "cmd/dgm-fleet"},
		"an embedded server adds 10 MB: never on a robot, only where one command must do everything",
	},
	{"github.com/nats-io/jwt/v2", []string{"cmd/dgm-fleet"}, "one command makes the credentials of a fleet; tests make their own"},
	{"github.com/nats-io/nkeys", []string{"cmd/dgm-fleet"}, "one command makes the keys of a fleet; tests make their own"},
	{
		"github.com/spf13/cobra",
		[]string{"cmd"},
		"flags belong to commands; everything else takes arguments",
	},
	{
		"github.com/spf13/pflag",
		[]string{"cmd/internal"},
		"cobra's flags by themselves, for what is said of them in one place for all commands",
	},
	{
		"github.com/coreos/go-systemd/v22",
		[]string{"cmd/dgm-estimator"},
		"what starts and watches a process is the business of the program, not of what it runs",
	},
	{
		"github.com/BurntSushi/toml",
		[]string{"trainer", "bridge", "cmd"},
		"settings for people; the onboard runtime is handed values",
	},
	{
		"github.com/vmihailenco/msgpack/v5",
		[]string{"estimator/internal/msgbin"},
		"one package bounds what is read; the library alone trusts the lengths and the types of a message",
	},
	{
		"golang.org/x/sys",
		[]string{"estimator/node", "estimator/durable", "firmware-sim/live", "cmd"},
		"clocks and priorities are for what runs in real time; a file without a name is Linux's",
	},
	{
		"github.com/bluenviron/gomavlib/v3",
		[]string{"bridge/mavlink"},
		"one package speaks MAVLink; its definitions are 5 MB that no robot needs to carry",
	},
	{
		"github.com/pion/transport/v2",
		[]string{"bridge/mavlink/link"},
		"gomavlib listens with it for datagrams; the bound on senders goes around it",
	},
	{
		"go.bug.st/serial",
		[]string{"bridge/msp/link"},
		"one package opens serial ports itself; gomavlib opens those of MAVLink, with the same module",
	},
	{
		"github.com/coder/websocket",
		[]string{"bridge/foxglove"},
		"one package serves viewers by WebSocket",
	},
	{
		"golang.org/x/net/netutil",
		[]string{"bridge/foxglove"},
		"it bounds the connections of the one server that browsers reach",
	},
	{
		"github.com/foxglove/mcap/go/mcap",
		[]string{"bridge/export", "bridge/mcap"},
		"one package writes MCAP and one reads it; the module brings a test library with it",
	},
	{
		"github.com/parquet-go/parquet-go",
		[]string{"bridge/parquet"},
		"one package reads Parquet, and only the command that converts links it",
	},
	{
		"modernc.org/sqlite",
		[]string{"bridge/db3"},
		"one package reads bags in SQLite; the driver is 5 MB that no robot needs to carry",
	},
	{
		"github.com/pierrec/lz4/v4",
		[]string{"bridge/bag", "bridge/mcap"},
		"packed logs are unpacked where they are converted",
	},
	{
		"github.com/klauspost/compress",
		[]string{"bridge"},
		"packed logs are unpacked where they are converted; the onboard runtime reads its own formats only",
	},
	{
		"gonum.org/v1/gonum/blas",
		[]string{"estimator", "trainer", "examples"},
		"products of matrices, called without the layers above them",
	},
	{
		"github.com/tphakala/simd",
		[]string{"estimator"},
		"vector units of the processor, for the onboard runtime: a tenth of the time, and the rounding that goes with it",
	},
	{
		"gonum.org/v1/gonum/lapack",
		[]string{"trainer", "estimator/model/modeltest"},
		"a factorisation can fail: it is done on the ground, and the model file holds its result",
	},
	{
		"gonum.org/v1/gonum",
		[]string{"trainer", "cmd/dgm-bench", "examples"},
		"statistics and optimisers are for training, its studies and planners",
	},
	{
		"gonum.org/v1/plot",
		[]string{"trainer", "cmd"},
		"pictures are for people at a desk; the module brings fonts and several MB",
	},
	{
		"github.com/schollz/progressbar/v3",
		[]string{"trainer", "cmd"},
		"progress is shown to people who wait; nobody waits at a robot",
	},
	{
		"github.com/guptarohit/asciigraph",
		[]string{"trainer", "cmd"},
		"curves are drawn for people; nobody reads the robot's terminal",
	},
	{"github.com/google/go-cmp", nil, "it panics on what it does not know: right in a test, wrong anywhere else"},
	{"pgregory.net/rapid", nil, "makes arguments for tests"},
	{"go.uber.org/goleak", nil, "finds what tests leave running"},
}

// avoided are packages of the standard library, each alone, that belong in some
// folders only, or in none; tests may use those that belong in some.
var avoided = []guest{
	{
		"flag",
		[]string{"cmd"},
		"flags end at the doorway; a package takes a struct",
	},
	{
		"math/rand",
		nil,
		"math/rand/v2 takes its seed as an argument; the old one has a global that others can seed",
	},
}

// world are the packages by which code touches what is outside its arguments:
// files, network, clock, log, other goroutines, chance, memory as such. An entry
// covers the packages below it too.
var world = []string{"os", "io/fs", "syscall", "net", "time", "log", "sync", "context", "runtime", "math/rand", "crypto/rand", "unsafe", "C"}

// callableFromC is the one file that may import C: its functions are called from other
// languages.
const callableFromC = "cmd/libdgm/export.go"

// pure are the folders that touch the world only where a permit allows it, tests
// apart: the onboard runtime must give the same answer to the same arguments, in bounded
// time and memory, which only code without a world can promise.
var pure = []string{"estimator"}

// A permit lets one folder (without those under it) or one file touch a part of
// the world. A permit that nothing uses fails the test too.
type permit struct {
	where string
	world []string
	why   string
}

var permits = []permit{
	{
		"estimator/verify.go",
		[]string{"sync"},
		"verifies the reference models beside one another before anything is predicted",
	},
	{
		"estimator/durable",
		[]string{"os", "io/fs"},
		"writing a file safely is its job: temporary name, sync, rename",
	},
	{
		"estimator/model/file.go",
		[]string{"os"},
		"reads a model from disk, refusing its size before its content",
	},
	{
		"estimator/internal/guardtest",
		[]string{"os", "syscall", "unsafe"},
		"takes pages from the system, for tests alone",
	},
	{
		"estimator/model/artificial",
		[]string{"math/rand"},
		"invents weights, from a seed that is an argument",
	},
	{
		"estimator/model/modeltest",
		[]string{"math/rand"},
		"invents weights, from a seed that is an argument",
	},
	{
		"estimator/flightlog/log.go",
		[]string{"os"},
		"opens a log on disk",
	},
	{
		"estimator/flightlog/inspect",
		[]string{"time"},
		"describes a log file to a person: its durations are times, nothing reads a clock",
	},
	{
		"estimator/node/journal/writer.go",
		[]string{"os", "sync", "time"},
		"writes beside the loop that must not wait for a disk",
	},
	{
		"estimator/node/loopback",
		[]string{"net"},
		"ports are the operating system's; no robot runs it",
	},
	{
		"estimator/node/stored",
		[]string{"context", "time"},
		"an answer of a server is waited for so long",
	},
	{
		"estimator/node/decisionlog",
		[]string{"context", "time"},
		"what a server stores is read, with the time at which it was stored",
	},
	{
		"estimator/node/realtime",
		[]string{"os", "runtime", "time"},
		"threads, priorities, clocks and the collector are the operating system's and the runtime's",
	},
	{
		"estimator/node/internal/reporting",
		[]string{"runtime", "sync"},
		"counts for several goroutines, and reports what the runtime knows of the process",
	},
	{
		"estimator/node/internal/intake",
		[]string{"sync", "time"},
		"hands states from one goroutine to another; its durations are text, it reads no clock",
	},
	{
		"estimator/node/internal/prediction",
		[]string{"sync", "time"},
		"its settings are durations, the clock is an argument of a task; the program is verified once for all goroutines",
	},
	{
		"estimator/node/internal/recording/platform.go",
		[]string{"os", "runtime"},
		"names the processor and the compiler, on which the bits of a prediction depend",
	},
	{
		"estimator/node/internal/queries",
		[]string{"math/rand", "runtime", "sync", "time"},
		"answers on goroutines of its own, within a share of the processors; samples are drawn from a seed in the query",
	},
	{
		"estimator/node",
		[]string{"os", "net", "time", "sync", "context", "math/rand"},
		"the process around the core: it has the network, the clock and the goroutines so that the core needs none",
	},
}

// topLevel is what the top of the repository holds, dot files apart: the four
// parts of the product, its doorways, and what a visitor looks for first.
var topLevel = []string{
	"estimator", "trainer", "bridge", "firmware-sim", "cmd", "docs", "examples", "python",
	"go.mod", "go.sum", "Taskfile.yml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE",
}

// byproducts are patterns of what building and measuring leave there; .gitignore
// keeps them out of the repository.
var byproducts = []string{"build", "*.test", "*.prof"}

// namesNothing are package names that say nothing about what belongs in the
// package, so that everything ends up there.
var namesNothing = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "lib"}

// maxLines is the length of a Go file that no longer can be one thing.
const maxLines = 600

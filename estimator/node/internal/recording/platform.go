package recording

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/tphakala/simd/cpu"

	"github.com/dgm-robotics/dgm/estimator"
)

// Platform describes on what a program rounds: system, vector unit of the fast
// predictor, all units of the processor, its name where the system has one, compiler,
// revision.
func Platform() string {
	s := runtime.GOOS + "/" + runtime.GOARCH + " " + estimator.Vectors() + " (" + cpu.Info()
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		if name := processor(f); name != "" {
			s += ", " + name
		}
		_ = f.Close() // it was read
	}
	s += ") " + runtime.Version()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, v := range info.Settings {
			if v.Key == "vcs.revision" && len(v.Value) >= 12 {
				s += " " + v.Value[:12]
			}
		}
	}
	return s
}

// processor returns the name of the first processor that a Linux system lists: the one
// that it has, or the numbers of an ARM's maker and kind.
func processor(list io.Reader) string {
	var maker, kind string
	for lines := bufio.NewScanner(list); lines.Scan() && lines.Text() != ""; {
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.Join(strings.Fields(value), " ")
		switch strings.TrimSpace(key) {
		case "model name":
			return value
		case "CPU implementer":
			maker = value
		case "CPU part":
			kind = value
		}
	}
	if maker == "" {
		return ""
	}
	return "ARM " + maker + " " + kind
}

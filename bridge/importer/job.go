package importer

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// job is one import.
type job struct {
	Job
	inputs     []input
	openJoined func(group string) telemetry.Opener // of tables whose columns are read as topics: the rows of one robot; nil of others
	files      []*survey
	plan       *plan
	kinematics channel.Kinematics // what the map declares of the states that are left
	passes     int
	read       int // files read so far, in all passes
}

// progress reports the share that is read of the open file.
func (j *job) progress(share float64) {
	if j.Progress != nil {
		j.Progress(min(1, (float64(j.read)+share)/float64(j.passes*len(j.inputs))))
	}
}

// sayTwice reports inputs that are one recording, byte for byte: it counts twice, and held-out flights would be known.
func (j *job) sayTwice(out *remarks) {
	for i, path := range j.Inputs {
		if k := slices.IndexFunc(j.Inputs[:i], func(other string) bool { return alike(path, other) }); k >= 0 {
			out.add("twice", Warning, "", "%s is the same recording as %s, which counts twice", filepath.Base(path), filepath.Base(j.Inputs[k])).Remedy = "give it once"
		}
	}
}

// alike reports whether two files hold the same bytes.
func alike(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX != nil || errY != nil || !x.Mode().IsRegular() || x.Size() != y.Size() {
		return false
	}
	f, err := os.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	p, q := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, errN := io.ReadFull(f, p)
		m, _ := io.ReadFull(g, q)
		if n != m || !bytes.Equal(p[:n], q[:n]) {
			return false
		}
		if errN != nil {
			return true
		}
	}
}

package datacheck_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/window"
)

var update = flag.Bool("update", false, "write the golden file anew")

const pins = "testdata/findings.json"

// pin is everything that is found in one log, and what windows make of it.
type pin struct {
	Log      string
	Problems []datacheck.Problem
	Segments []leftOut
	Left     float64 // share of the values that is left out
	Flights  []flight
	Stamps   []flight // where nothing but wrong stamps is left out
}

// leftOut is what of one segment is left out: ranges of samples.
type leftOut struct {
	Dropped, Excluded [][2]int            `json:",omitempty"`
	Cuts              []int               `json:",omitempty"`
	Blanked           map[string][][2]int `json:",omitempty"`
}

// flight is what windows can use of a stretch of a segment.
type flight struct {
	Segment       int
	Begin, Origin int64 // ns
	N             int
	Missing       []int // by state, then input: samples without a value
	Starts        int   // windows of the horizon, one from every sample
	SHA256        string
}

// TestFindingsOfDamagedLogs compares all findings in damaged logs, the samples that are
// left out and what windows use with the golden file. A change of it is a change of
// behaviour, and of prose where only Text differs. Without DGM_SLOW every fourth log is checked.
func TestFindingsOfDamagedLogs(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the golden file holds the last bits of amd64")
	}
	checked := func(i int) bool { return i%4 == 0 || *update || os.Getenv("DGM_SLOW") != "" }
	logs := datacheck.DamagedLogs()
	lines := make([][]byte, len(logs))
	var running sync.WaitGroup
	for i, d := range logs {
		if !checked(i) {
			continue
		}
		running.Go(func() {
			b, err := json.Marshal(pinned(d))
			if err != nil {
				t.Error(err)
			}
			lines[i] = append(b, '\n')
		})
	}
	running.Wait()
	if *update {
		if err := os.WriteFile(pins, slices.Concat(lines...), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(pins)
	if err != nil {
		t.Fatal(err)
	}
	golden := bytes.SplitAfter(want, []byte("\n"))
	if len(golden) != len(logs)+1 {
		t.Fatalf("the golden file is of %d logs, there are %d", len(golden)-1, len(logs))
	}
	for i, line := range lines {
		if checked(i) && !bytes.Equal(line, golden[i]) {
			t.Errorf("%s:\ngot  %s\nwant %s", logs[i].Name, line, golden[i])
		}
	}
}

func pinned(d datacheck.Damaged) pin {
	r := datacheck.Check(d.Log, datacheck.Options{Horizon: d.Horizon})
	p := pin{Log: d.Name, Problems: r.Problems}
	for s := range d.Log.Segments {
		p.Segments = append(p.Segments, leftOutOf(d.Log, r, s))
	}
	channels := slices.Concat(channel.Select(d.Log.Channels, channel.State), channel.Select(d.Log.Channels, channel.Input))
	flights, left := window.AllChecked(d.Log, r.Masks, channels, window.Options{})
	p.Left, p.Flights = left, pinnedFlights(flights, d.Horizon)
	flights, _ = window.AllChecked(d.Log, r.Timing(), channels, window.Options{})
	p.Stamps = pinnedFlights(flights, d.Horizon)
	return p
}

func leftOutOf(l *flightlog.Log, r datacheck.Result, s int) leftOut {
	used := len(channel.Select(l.Channels, channel.State)) + len(channel.Select(l.Channels, channel.Input))
	m := r.Masks[s][:used]
	out := leftOut{Dropped: datacheck.Ranges(m, datacheck.BadStamp), Excluded: datacheck.Ranges(m, datacheck.BadSpan), Blanked: map[string][][2]int{}}
	for _, c := range datacheck.Ranges(m, datacheck.TimeBreak) {
		for i := c[0]; i < c[1]; i++ {
			out.Cuts = append(out.Cuts, i)
		}
	}
	k := 0
	for _, role := range []channel.Role{channel.State, channel.Input} {
		for _, c := range channel.Select(l.Channels, role) {
			if r := datacheck.Ranges(m[k:k+1], datacheck.BadValue); len(r) > 0 {
				out.Blanked[c.Name] = r
			}
			k++
		}
	}
	return out
}

func pinnedFlights(flights []window.Flight, horizon float64) []flight {
	var out []flight
	for i := range flights {
		f := &flights[i]
		h := sha256.New()
		p := flight{Segment: f.Segment, Begin: f.Begin, Origin: f.Origin, N: f.N(), Starts: len(f.Starts(nil, horizon, 0)), Missing: make([]int, f.K+f.P)}
		for _, v := range [][]float64{f.T, f.X, f.U} {
			for _, x := range v {
				if math.IsNaN(x) {
					x = math.NaN() // of one pattern of bits
				}
				binary.Write(h, binary.LittleEndian, math.Float64bits(x))
			}
		}
		for n := range f.N() {
			for k, x := range slices.Concat(f.State(n), f.Input(n)) {
				if math.IsNaN(x) {
					p.Missing[k]++
				}
			}
		}
		p.SHA256 = hex.EncodeToString(h.Sum(nil)[:8])
		out = append(out, p)
	}
	return out
}

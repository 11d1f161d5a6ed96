package journal

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/estimator/durable"
)

var update = flag.Bool("update", false, "write the golden file anew")

var (
	goldenHeader = Header{Platform: "linux/amd64 go1.26", Settings: Settings{
		Vehicle: "pend1", Instance: "x7", Times: []float64{0.5, 1}, Rate: 100, RobotClock: true,
		Validity: 1e9, Deadline: 5e6, AgeLimit: 25e7, FalseAlarms: 36e13, NoTrust: true, Chain: true, TimedPlans: true, Adapt: "watch",
	}}
	goldenModel      = Model{File: []byte("a model"), Trust: []byte{1, 2, 3}, Adaptation: []byte{4, 5}, Unix: 1772682400399326324}
	goldenState      = State{At: 5e9, Age: 3e6, Period: 1e7, Message: []byte{0x80}}
	goldenPrediction = Prediction{
		Tick: 7, Due: 5_010_000_000, End: 5_010_200_000, Unix: 1772682400399326324, Level: 1, Fresh: true, Contested: true, Outcome: OK,
		Seq: 9, T: 1772682400399326324, ValidUntil: 1772682401399326324, Flags: 65537, Points: 2, Digests: [len(Digested)]uint64{1, 2, 3, 4, 1 << 63},
	}
	goldenSilence = Prediction{Tick: 8, Due: 5_020_000_000, End: 5_020_000_000, Outcome: "stale"}
)

func golden(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.msgpack")
	w, err := Create(path, &goldenHeader, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Model(&goldenModel)
	w.State(&goldenState)
	w.Prediction(&goldenPrediction)
	w.Prediction(&goldenSilence)
	w.Reset()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenFile(t *testing.T) {
	const file = "testdata/journal-v1-adapt.msgpack"
	b := golden(t)
	if *update {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Errorf("%s: this program writes other bytes for the same records", file)
	}
	reads(t, want, goldenHeader, goldenModel, KindReset)
	// Of earlier programs, which wrote less.
	earlier, model := goldenHeader, Model{File: goldenModel.File, Trust: goldenModel.Trust}
	earlier.Adapt = ""
	for _, file := range []string{"testdata/journal-v1-plans.msgpack", "testdata/journal-v1.msgpack"} {
		if want, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		reads(t, want, earlier, model)
		earlier.TimedPlans = false
	}
}

// reads checks that the bytes are read as the golden records with a header and a model, then
// records of some kinds, then the end.
func reads(t *testing.T, b []byte, h Header, m Model, kinds ...Kind) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b), "golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(h, r.Header); d != "" {
		t.Errorf("header: %s", d)
	}
	type record struct {
		kind Kind
		same func() string
	}
	nothing := func() string { return "" }
	records := []record{
		{KindModel, func() string { return cmp.Diff(m, r.Model, cmpopts.EquateEmpty()) }},
		{KindState, func() string { return cmp.Diff(goldenState, r.State) }},
		{KindPrediction, func() string { return cmp.Diff(goldenPrediction, r.Prediction) }},
		{KindPrediction, func() string { return cmp.Diff(goldenSilence, r.Prediction) }},
	}
	for _, k := range append(kinds, KindEnd) {
		records = append(records, record{k, nothing})
	}
	for _, c := range records {
		k, err := r.Next()
		if err != nil || k != c.kind {
			t.Fatalf("kind %v, %v, want %v", k, err, c.kind)
		}
		if d := c.same(); d != "" {
			t.Errorf("kind %v: %s", k, d)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// Every byte that is cut off or damaged is noticed, and nothing is read that was
// not written.
func TestDamage(t *testing.T) {
	b := golden(t)
	all := func(b []byte) (n int, err error) {
		r, err := NewReader(bytes.NewReader(b), "damaged")
		for err == nil {
			if _, err = r.Next(); err == nil {
				n++
			}
		}
		return n, err
	}
	if n, err := all(b); n != 6 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d records, %v", n, err)
	}
	for i := range b {
		if n, err := all(b[:i]); n >= 6 || err == nil {
			t.Errorf("cut at %d: %d records, %v", i, n, err)
		}
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(b)
			damaged[i] ^= bit
			if n, err := all(damaged); n >= 6 || errors.Is(err, io.EOF) && !errors.Is(err, ErrTorn) {
				t.Errorf("bit %x of byte %d: %d records, %v", bit, i, n, err)
			}
		}
	}
}

func TestAnExistingFileIsRenamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.msgpack")
	for range 3 {
		w, err := Create(path, &goldenHeader, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path + ".old"); err != nil {
		t.Error(err)
	}
	if _, err := Create(t.TempDir(), &goldenHeader, 0); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// Records that are dropped are counted, and a reader counts the same.
func TestRecordsThatDidNotFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.msgpack")
	w, err := Create(path, &goldenHeader, 0)
	if err != nil {
		t.Fatal(err)
	}
	big := State{Message: make([]byte, mostPending/4)}
	n := uint64(0)
	for w.Lost() == 0 { // faster than the pause between two writes
		w.State(&big)
		n++
	}
	lost := w.Lost()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewReader(f, path)
	states := uint64(0)
	for err == nil {
		var k Kind
		if k, err = r.Next(); err == nil && k == KindState {
			states++
		}
	}
	if !errors.Is(err, io.EOF) || r.Lost != lost || states+lost != n {
		t.Errorf("%d of %d states were read, %d lost by the writer, %d by the reader: %v", states, n, lost, r.Lost, err)
	}
}

func TestAFullDiskEndsTheRecording(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("a full disk: there is no /dev/full")
	}
	f, err := durable.Append("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	w := &Writer{file: f, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run(0)
	for w.Err() == nil {
		w.State(&goldenState)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk: %v", err)
	}
}

func TestNothingIsAllocatedForARecord(t *testing.T) {
	w := &Writer{pending: make([]byte, 0, 1<<20)}
	if n := testing.AllocsPerRun(100, func() { w.State(&goldenState); w.Prediction(&goldenPrediction) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzReader(f *testing.F) {
	b, err := os.ReadFile("testdata/journal-v1.msgpack")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Fuzz(func(t *testing.T, b []byte) { readAll(t, b) })
}

// FuzzPayload gets behind the checksums: each payload comes in a record whose checksum matches.
func FuzzPayload(f *testing.F) {
	b, err := os.ReadFile("testdata/journal-v1.msgpack")
	if err != nil {
		f.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(b), "golden")
	if err != nil {
		f.Fatal(err)
	}
	header := slices.Clone(r.payload)
	f.Add(byte(KindHeader-1), header)
	for {
		kind, err := r.Next()
		if err != nil {
			break
		}
		f.Add(byte(kind-1), slices.Clone(r.payload))
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		kind = 1 + kind%byte(KindReset)
		file := appendRecord(nil, Kind(kind), payload)
		if Kind(kind) != KindHeader {
			file = append(appendRecord(nil, KindHeader, header), file...)
		}
		readAll(t, file)
	})
}

// readAll reads a journal to its end: every error is of a known type.
func readAll(t *testing.T, b []byte) {
	r, err := NewReader(bytes.NewReader(b), "fuzz")
	for range 1000 {
		if err != nil {
			var e *Error
			if !errors.As(err, &e) && !errors.Is(err, io.EOF) && !errors.Is(err, ErrTorn) {
				t.Fatalf("error %#v", err)
			}
			return
		}
		_, err = r.Next()
	}
}

// The journal of a crash is there after two more restarts.
func TestEarlierJournalsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	for n := range 6 {
		w, err := Create(path, &goldenHeader, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte{byte(n)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n, name := range []string{path + ".old", path + ".old2", path + ".old3"} {
		if b, err := os.ReadFile(name); err != nil || len(b) != 1 || b[0] != byte(4-n) {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
	if _, err := os.Stat(path + ".old4"); err == nil {
		t.Error("a fourth one is kept")
	}
}

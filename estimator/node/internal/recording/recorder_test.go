package recording

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The digests are those of the message, and describing a task allocates nothing.
func TestATaskIsDescribed(t *testing.T) {
	task := prediction.Task{Arrival: &intake.Arrival{}, Tick: 3, Due: 5, Level: 1, Fresh: true, Contested: true}
	m := prediction.Message{Prediction: wire.Prediction{
		Seq: 9, T: 8, ValidUntil: 20, Flags: wire.Late, Horizon: []float64{1, 2}, Mean: []float64{1}, Std: []float64{2}, ObsStd: []float64{3}, Factor: []float64{4}, OOD: 5,
	}, Ready: 6, Unix: 7}
	var p journal.Prediction
	if n := testing.AllocsPerRun(10, func() { Describe(&p, &task, &m, wire.OK) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	want := journal.Prediction{
		Tick: 3, Due: 5, End: 6, Unix: 7, Level: 1, Fresh: true, Contested: true, Outcome: journal.OK,
		Seq: 9, T: 8, ValidUntil: 20, Flags: uint64(wire.Late), Points: 2,
	}
	for i := range want.Digests {
		want.Digests[i] = journal.Digest([]float64{float64(i + 1)})
	}
	if p != want {
		t.Errorf("described as %+v, want %+v", p, want)
	}
	Describe(&p, &task, &m, wire.Expired)
	if want := (journal.Prediction{Tick: 3, Due: 5, End: 6, Unix: 7, Level: 1, Fresh: true, Contested: true, Outcome: wire.Expired.String()}); p != want {
		t.Errorf("without a message described as %+v, want %+v", p, want)
	}
}

func TestNoPathRecordsNothing(t *testing.T) {
	r, err := New("", nil, 0)
	if r != nil || err != nil {
		t.Fatalf("%v, %v", r, err)
	}
	r.Task(&prediction.Task{}, nil, wire.OK)
	if state, lost := r.Status(); state != "" || lost != 0 || r.Close() != nil {
		t.Errorf("%q, %d lost", state, lost)
	}
	r, err = New(filepath.Join(t.TempDir(), "out.msgpack"), &journal.Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if state, _ := r.Status(); state != "on" || r.Close() != nil {
		t.Errorf("recording is %q", state)
	}
}

func TestProcessor(t *testing.T) {
	for list, want := range map[string]string{
		"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon(R)  Gold: 6\n\nprocessor\t: 1\nmodel name\t: other\n": "Xeon(R) Gold: 6",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd08\n":                                   "ARM 0x41 0xd08",
		"": "",
	} {
		if got := processor(strings.NewReader(list)); got != want {
			t.Errorf("processor %q, want %q", got, want)
		}
	}
}

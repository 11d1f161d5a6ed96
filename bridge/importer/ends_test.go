package importer_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// An input whose messages stop before those of the states do is said to, with the time, and is a loss where most rows are
// without it. Pauses within are none.
func TestInputsThatEnd(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntopic = \"cmd\"\nfield = \"u\"\nrole = \"input\"\n"
	until := func(from, to int64) *invented {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "cmd": names("u")}}
		for ms := int64(0); ms < 20_000; ms += 20 {
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{math.Sin(0.001 * float64(ms))}})
			if ms < from || ms >= to {
				s.msgs = append(s.msgs, msg{"cmd", ms + 1, []float64{math.Cos(0.003 * float64(ms))}})
			}
		}
		return s
	}
	_, sum := run(t, until(14_000, 20_000), text, false)
	i := slices.IndexFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == "ends" })
	if i < 0 || sum.Remarks[i].Severity != importer.Warning || !strings.HasPrefix(sum.Remarks[i].Text, "u: no value in the last 4.98 s of the rows, 250 of 1000") {
		t.Errorf("%q", sum.Remarks)
	}
	for _, s := range []*invented{until(20_000, 20_000), until(5000, 11_000), until(19_500, 20_000)} {
		if _, sum := run(t, s, text, false); slices.ContainsFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == "ends" }) {
			t.Errorf("%q", sum.Remarks)
		}
	}
	_, _, err := try(t, until(7000, 20_000), text, false)
	if lost, ok := errors.AsType[*importer.LossError](err); !ok || len(lost.Reasons) != 1 || !strings.Contains(lost.Reasons[0].Text, "it ends 11.98 s before the rows do") {
		t.Error(err)
	}
}

// Inputs of which none changes are a warning with their values; one that changes makes none.
func TestInputsThatDoNotChange(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nnames = [\"u\", \"v\"]\ntopic = \"cmd\"\nfields = [\"u\", \"v\"]\nrole = \"input\"\nvaries = true\n"
	for _, change := range []float64{0, 1} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "cmd": names("u", "v")}}
		for ms := int64(0); ms < 4000; ms += 20 {
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{math.Sin(0.001 * float64(ms))}}, msg{"cmd", ms + 1, []float64{900, change * float64(ms)}})
		}
		_, sum := run(t, s, text, false)
		i := slices.IndexFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == "inputs-idle" })
		if (i >= 0) != (change == 0) || i >= 0 && !strings.HasPrefix(sum.Remarks[i].Text, "no input changes: u (900), v (0) throughout") {
			t.Errorf("%q", sum.Remarks)
		}
	}
}

// Messages that are there twice, as of two links, do not double the rate that is reported, and hide no slow topic.
func TestRateOfRepeatedMessages(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n"
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x")}}
	for ms := int64(0); ms < 20_000; ms += 80 {
		m := msg{"pos", ms, []float64{math.Sin(0.001 * float64(ms))}}
		s.msgs = append(s.msgs, m, m)
	}
	_, sum := run(t, s, text, false)
	if all := strings.Join(sum.Texts(), "\n"); !strings.Contains(all, "rows have the timestamps of pos, 12.5") || !strings.Contains(all, "slow: x at 12.5") {
		t.Error(all)
	}
}

// Messages without a value of a state are said to be, and rows without one of any state are a loss where they are most.
func TestMessagesWithoutValues(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nnames = [\"x\", \"y\"]\ntopic = \"pos\"\nfields = [\"x\", \"y\"]\nrole = \"state\"\n[[channel]]\nname = \"v\"\ntopic = \"pos\"\nfield = \"v\"\nrole = \"state\"\n"
	lacking := func(share float64, all bool) *invented {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x", "y", "v")}}
		for i := range int64(1000) {
			m := msg{"pos", 20 * i, []float64{math.Sin(0.02 * float64(i)), 1, math.Cos(0.02 * float64(i))}}
			if float64(i%10) < 10*share {
				if m.values[0], m.values[1] = math.NaN(), math.NaN(); all {
					m.values[2] = math.NaN()
				}
			}
			s.msgs = append(s.msgs, m)
		}
		return s
	}
	for _, c := range []struct {
		log  *invented
		want string
	}{{lacking(0.6, false), "x, y: messages of pos have no value in 600 of 1000 rows"}, {lacking(0.1, true), "x, y, v: messages of pos have no value in 100 of 1000 rows"}, {lacking(0, true), ""}} {
		_, sum := run(t, c.log, text, false)
		i := slices.IndexFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == "missing" })
		if (i >= 0) != (c.want != "") || i >= 0 && (sum.Remarks[i].Text != c.want || sum.Remarks[i].Severity != importer.Warning) {
			t.Errorf("%q", sum.Remarks)
		}
	}
	array := lacking(0.6, false)
	array.fields["pos"] = names("data[1]", "data[2]", "data[0]")
	if _, sum := run(t, array, strings.NewReplacer(`fields = ["x", "y"]`, `fields = ["data[1]", "data[2]"]`, `field = "v"`, `field = "data[0]"`).Replace(text), false); !strings.Contains(strings.Join(sum.Texts(), "\n"), "elements of an array are found by their places") {
		t.Error(sum.Texts())
	}
	_, _, err := try(t, lacking(0.6, true), text, false)
	if lost, ok := errors.AsType[*importer.LossError](err); !ok || len(lost.Reasons) != 1 || lost.Reasons[0].Text != "in 600 of 1000 rows messages of pos have no value of any state" {
		t.Error(err)
	}
}

// Of several sources that are there the first one counts of which something changes.
func TestSourceThatChanges(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntype = \"t/Plain\"\nfield = \"u\"\nrole = \"input\"\n[[channel.or]]\ntype = \"t/Stamped\"\nfield = \"u\"\n"
	for plain, want := range map[float64]string{0: "u: from stamped", 1: "u: from plain"} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "plain": names("u"), "stamped": names("u")}, kinds: map[string]string{"plain": "t/Plain", "stamped": "t/Stamped"}}
		for ms := int64(0); ms < 4000; ms += 20 {
			v := math.Sin(0.003 * float64(ms))
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{math.Cos(0.001 * float64(ms))}}, msg{"plain", ms + 1, []float64{plain * v}}, msg{"stamped", ms + 1, []float64{v}})
		}
		if _, sum := run(t, s, text, false); !strings.Contains(strings.Join(sum.Texts(), "\n"), want) {
			t.Errorf("%g: %q", plain, sum.Remarks)
		}
	}
}

// Where a slow topic of states gives the rows, and another one is much faster, the remedy names that.
func TestFasterBase(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"a\"\ntopic = \"att\"\nfield = \"a\"\nrole = \"state\"\n"
	for step, want := range map[int64]bool{1000: true, 120: false} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "att": names("a")}}
		for ms := int64(0); ms < 20_000; ms += 40 {
			if ms%step == 0 {
				s.msgs = append(s.msgs, msg{"pos", ms, []float64{math.Sin(0.001 * float64(ms))}})
			}
			s.msgs = append(s.msgs, msg{"att", ms, []float64{math.Cos(0.001 * float64(ms))}})
		}
		_, sum := run(t, s, text, false)
		if said := strings.Join(sum.Texts(), "\n"); strings.Contains(said, "--base att gives rows at 25 Hz") != want {
			t.Errorf("%d ms: %s", step, said)
		}
	}
}

// A log whose messages all have one time is refused for that.
func TestAllMessagesAtOneTime(t *testing.T) {
	log := &invented{fields: map[string][]telemetry.Field{"pose": names("x")}}
	for i := range 50 {
		log.msgs = append(log.msgs, msg{"pose", 1000, []float64{math.Sin(float64(i) / 10)}})
	}
	_, _, err := try(t, log, "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pose\"\nfield = \"x\"\nrole = \"state\"\n", false)
	if err == nil || !strings.Contains(err.Error(), "topic pose gives no row: all its 50 messages have one time;") {
		t.Error(err)
	}
}

// Inputs that need not be there count where they are measured: one that hardly ever is does not stand for all.
func TestInputsOfWhichOneIsMeasured(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pose\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntopic = \"pose\"\nfield = \"u\"\nrole = \"input\"\noptional = true\n[[channel]]\nname = \"w\"\ntopic = \"gripper\"\nfield = \"w\"\nrole = \"input\"\noptional = true\n"
	log := &invented{fields: map[string][]telemetry.Field{"pose": names("x", "u"), "gripper": names("w")}}
	log.msgs = append(log.msgs, msg{"gripper", 0, []float64{1}})
	for i := range 500 {
		log.msgs = append(log.msgs, msg{"pose", int64(20 * i), []float64{math.Sin(float64(i) / 10), math.Cos(float64(i) / 20)}})
	}
	if _, sum := run(t, log, text, false); sum.Rows != 500 {
		t.Error(sum.Texts())
	}
}

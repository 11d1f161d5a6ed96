package node

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The console names the reason for which states are refused when that begins, when it
// begins again, and when none is accepted any more; while it lasts nothing is repeated.
func TestRefusalsAreLoggedWhenTheyBegin(t *testing.T) {
	var logged lines
	n, c, _, _ := offline(t, Config{Log: logged.add})
	seq := uint64(0)
	fly := func(states int, refused func(i int) bool) (got []string) {
		t.Helper()
		before := len(logged.lines)
		for i := range states {
			c.pass(10 * ms)
			seq++
			s := wire.State{Seq: seq, T: c.unix, X: []float64{0.1, 0.2}}
			if refused(i) {
				s.Layout = "0123456789abcdef"
			}
			n.intake.Receive(s.Append(nil), 0)
			n.intake.Mailbox.Get()
			if i%100 == 99 {
				n.logAlarms(n.compose(0).Alarms())
			}
		}
		return logged.lines[before:]
	}
	half := func(i int) bool { return i%2 == 1 }
	none := func(int) bool { return false }
	const partly, all = "states were not answered (layout, ", "no state was accepted for "
	for _, c := range []struct {
		name    string
		states  int
		refused func(i int) bool
		want    string
	}{
		{"one refused", 200, func(i int) bool { return i == 50 }, partly},
		{"none for long", 2000, none, ""},
		{"half of them", 3000, half, partly},
		{"none for short", 500, none, ""},
		{"half again", 500, half, ""},
		{"all", 300, func(int) bool { return true }, all},
	} {
		got := fly(c.states, c.refused)
		if c.want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || c.want == "" || !strings.HasPrefix(got[0], c.want) || !strings.Contains(got[0], "load the model of this vehicle") {
			t.Errorf("%s: the console has %q, want one line %q", c.name, got, c.want)
		}
	}
}

// A state with keys that are not known is answered; they are counted, and the first is
// named once on the console.
func TestUnknownKeysOfStatesAreNamed(t *testing.T) {
	var logged lines
	n, c, _, _ := offline(t, Config{Log: logged.add})
	for seq := range uint64(100) {
		c.pass(10 * ms)
		s := wire.State{Seq: seq, T: c.unix, X: []float64{0.1, 0.2}}
		message := s.Append(nil)
		if seq > 9 {
			message[0] += 2 // pairs of the map
			message = append(message, "\xa5planz\x01\xa4mass\x91\xa0"...)
		}
		n.intake.Receive(message, 0)
		if n.intake.Mailbox.Get() == nil {
			t.Fatalf("state %d is refused: %s", seq, n.Unused())
		}
		if seq%10 == 9 {
			n.logAlarms(n.compose(0).Alarms())
		}
	}
	if s := n.compose(0); s.UnknownKeys != 180 || s.UnknownKey != "planz" {
		t.Errorf("%d keys, the first %q", s.UnknownKeys, s.UnknownKey)
	}
	if len(logged.lines) != 1 || !strings.Contains(logged.lines[0], `"planz"`) {
		t.Errorf("the console has %q", logged.lines)
	}
}

// The alarm of a state that was refused ends a minute later, with the counts unchanged, and
// begins again with the next one.
func TestAlarmOfARefusedStateEnds(t *testing.T) {
	var logged lines
	n, c, _, _ := offline(t, Config{Log: logged.add})
	seq := uint64(0)
	alarms := func(seconds int, layout string) (names string) {
		for range seconds {
			c.pass(1000 * ms)
			seq++
			s := wire.State{Seq: seq, T: c.unix, X: []float64{0.1, 0.2}, Layout: layout}
			layout = ""
			n.intake.Receive(s.Append(nil), 0)
			n.intake.Mailbox.Get()
			status := n.compose(0)
			n.logAlarms(status.Alarms())
			names = ""
			for _, a := range status.Alarms() {
				names += a.Name
			}
		}
		return names
	}
	const other, name = "0123456789abcdef", "reason_layout"
	for i, want := range []string{name, name, ""} {
		seconds := []int{1, 59, 2}[i]
		if got := alarms(seconds, []string{other, "", ""}[i]); got != want {
			t.Errorf("alarms %q, want %q", got, want)
		}
	}
	if s := n.compose(0); len(s.Reasons) != 1 || s.Reasons[0].Count != 1 || math.Abs(s.Reasons[0].Age-61) > 1e-6 {
		t.Errorf("%+v", s.Reasons)
	}
	if got := alarms(1, other); got != name || len(logged.lines) != 2 {
		t.Errorf("alarms %q, the console has %q", got, logged.lines)
	}
}

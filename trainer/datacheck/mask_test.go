package datacheck

import "testing"

func TestMask(t *testing.T) {
	m := Mask{{0, Missing, Missing, BadSpan | Missing}, {TimeBreak, 0, 0, BadStamp}}
	if got, want := m.String(), "channel 0: [1, 3) missing; [3, 4) missing, bad span;\nchannel 1: [0, 1) time break; [3, 4) bad stamp;\n"; got != want {
		t.Errorf("printed as\n%swant\n%s", got, want)
	}
	if got := m.Only(BadStamp | BadSpan); got[0][1] != 0 || got[0][3] != BadSpan || got[1][3] != BadStamp || m[0][3] != BadSpan|Missing {
		t.Errorf("restricted: %v of %v", got, m)
	}
	for i, want := range []Reason{TimeBreak, Missing, Missing, Missing | BadSpan | BadStamp} {
		if got := m.Samples(2)[i]; got != want {
			t.Errorf("sample %d: %v, want %v", i, got, want)
		}
	}
	if got := Reason(0).String(); got != "used" {
		t.Errorf("no reason: %q", got)
	}
}

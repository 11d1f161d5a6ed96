package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestAlarmsOfAStatus(t *testing.T) {
	usual := wire.Status{Vehicle: "v1", Mode: wire.ModeAnswer, Input: wire.InputLive, Uptime: 60, Published: 1000, Received: 1000, Channels: []string{"theta", "omega"}}
	for want, change := range map[string]func(s *wire.Status){
		"":      func(*wire.Status) {},
		"input": func(s *wire.Status) { s.Input = wire.InputStale },
		"input_layout reason_size reason_layout": func(s *wire.Status) {
			s.Input, s.InputAge, s.InputReason, s.InputRefused = wire.InputStale, 1, "layout", 300
			s.Reasons = []wire.ReasonCount{{Reason: "size", Count: 900}, {Reason: "layout", Count: 301, Text: wire.WrongLayout.Description(), Last: "of another"}}
		},
		"unknown_keys": func(s *wire.Status) { s.UnknownKeys, s.UnknownKey = 3, "planz" },
		"input_size": func(s *wire.Status) {
			s.Input, s.InputAge, s.InputReason, s.InputRefused = wire.InputNone, -1, "size", 5
		},
		"contested":       func(s *wire.Status) { s.Others = []wire.Other{{Instance: "x"}} },
		"plans_unused":    func(s *wire.Status) { s.PlansUnused = 1 },
		"plans_held":      func(s *wire.Status) { s.PlansHeld = 1 },
		"plans_cut":       func(s *wire.Status) { s.PlansCut = 1 },
		"reason_nan":      func(s *wire.Status) { s.Reasons = []wire.ReasonCount{{Reason: "nan", Count: 2}} },
		"reason_replaced": func(s *wire.Status) { s.Reasons = []wire.ReasonCount{{Reason: "replaced", Count: 2}} },
		"silent_overrun": func(s *wire.Status) {
			s.Mode, s.Reasons = wire.ModeRate, []wire.ReasonCount{{Reason: "replaced", Count: 2}}
			s.Silent = []wire.ReasonCount{{Reason: "no_input", Count: 2}, {Reason: "overrun", Count: 2}}
		},
		"miscalibrated": func(s *wire.Status) {
			s.Miscalibrated, s.Buckets, s.Coverage = 1, []float64{0.5, 1}, []float64{0.95, 0.91, 0.93, 0.62}
		},
		"changed": func(s *wire.Status) {
			s.AdaptShare = 0.7
			s.Amounts = []wire.Amount{{Name: "bias vz", Unit: "m/s²", Value: -0.8231, Std: 0.041}, {Name: "gain m1", Unit: "%", Value: -20.4, Std: 0.9}, {Name: "gain m2", Unit: "%", Value: 5, Std: 3}}
		},
		"adapt":       func(s *wire.Status) { s.Adapt, s.AdaptNote = wire.AdaptOn, "states come without u" },
		"filter_lost": func(s *wire.Status) { s.FilterResets = 1 },
		"filter":      func(s *wire.Status) { s.NIS = 5 },
		"pace":        func(s *wire.Status) { s.PaceLevel, s.PaceEvery = 1, 1 },
		"late":        func(s *wire.Status) { s.Late = 11 },
		"no_history":  func(s *wire.Status) { s.NoHistory = 501 },
		"recording":   func(s *wire.Status) { s.Recording = "the disk is full" },
		"model":       func(s *wire.Status) { s.Refused = "of another vehicle" },
	} {
		s := usual
		change(&s)
		var names []string
		for _, a := range s.Alarms() {
			names = append(names, a.Name)
			if a.Name == "input_layout" && a.Text != "no state was accepted for 1.0 s, most were refused (layout, 300): "+wire.WrongLayout.Description()+"; the last: of another" {
				t.Errorf("%s: %s", a.Name, a.Text)
			}
			if want == "changed" && !strings.Contains(a.Text, ": gain m1 −20.4 ± 0.9 %, bias vz −0.82 ± 0.04 m/s². ") {
				t.Errorf("%s: %s", a.Name, a.Text)
			}
			if want == "miscalibrated" && !strings.Contains(a.Text, "(omega up to 1 s 62 %)") {
				t.Errorf("%s: %s", a.Name, a.Text)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("alarms %q, want %q", got, want)
		}
	}
	past := usual // all of it more than a minute ago
	past.Published, past.Late, past.NoHistory, past.PlansUnused, past.PlansHeld, past.PlansCut, past.UnknownKeys = 300, 200, 250, 1, 1, 1, 1
	past.Reasons, past.Silent = []wire.ReasonCount{{Reason: "nan", Count: 2, Age: 61}}, []wire.ReasonCount{{Reason: "overrun", Count: 2, Age: 61}}
	for _, name := range []string{"late", "no_history", "plans_unused", "plans_held", "plans_cut", "unknown_keys"} {
		past.Ages = append(past.Ages, wire.CounterAge{Name: name, Age: 61})
	}
	if a := past.Alarms(); len(a) > 0 {
		t.Errorf("of what is past: %v", a)
	}
	few := usual
	few.Published, few.Late, few.NoHistory = 100, 50, 100
	if a := few.Alarms(); len(a) > 0 {
		t.Errorf("of few predictions: %v", a)
	}
}

// A status as a map has the names of the wire and the values of the struct.
func TestAStatusAsAMap(t *testing.T) {
	m := fullStatus.Map()
	if m["latency_p99"] != fullStatus.LatencyP99 || m["received"] != fullStatus.Received || !slices.Equal(m["coverage"].([]float64), fullStatus.Coverage) {
		t.Errorf("%v", m)
	}
	if r := m["reasons"].([]map[string]any); len(r) != 1 || r[0]["reason"] != "nan" || r[0]["count"] != uint64(3) {
		t.Errorf("reasons %v", r)
	}
}

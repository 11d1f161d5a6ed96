package wire

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Alarm is a problem in a status that somebody should act on.
type Alarm struct {
	Name string `json:"name" msg:"name,optional"` // the same for the same cause
	Text string `json:"text" msg:"text,optional"` // what is wrong and what to do

	Count uint64 `json:"-"` // states or ticks that it is about so far; 0 = not counted
}

const (
	lateShare     = 0.01 // of predictions, beyond which late ones are an alarm
	withoutShare  = 0.5  // the same of those without history
	fewPublished  = 200  // predictions from which on shares count
	silentSeconds = 10   // without any state since the start
	changedShare  = 0.5  // how much adaptation counts, beyond which a change is an alarm
	mostChanges   = 4    // that are named
	mostNIS       = 4    // normalised innovations squared of a filter that is not right
	paceShare     = 0.7  // of the time for a prediction that a model may need on a computer that does nothing else
	lastsSeconds  = 60   // after what was counted last, an alarm ends
)

// contestedAlarm is the name of the alarm that another estimator answers.
const contestedAlarm = "contested"

// PaceAlarm is the name of the alarm that less is predicted than was asked for, so that predictions keep up with the states.
const PaceAlarm = "pace"

// Alarms returns the problems in a status with their remedies. An alarm about counted events lasts until a
// minute has passed without another event.
func (s *Status) Alarms() []Alarm {
	var all []Alarm
	add := func(on bool, name, format string, args ...any) {
		if on {
			all = append(all, Alarm{Name: name, Text: fmt.Sprintf(format, args...)})
		}
	}
	share := func(n uint64) float64 { return float64(n) / float64(max(s.Published, 1)) }
	enough := s.Published >= fewPublished
	lasts := func(count uint64, age float64) bool { return count > 0 && age <= lastsSeconds }
	silent, age := s.Input == InputNone && s.Uptime > silentSeconds, s.InputAge
	if s.Input == InputNone {
		age = s.Uptime
	}
	switch {
	case s.InputReason != "" && (silent || s.Input == InputStale):
		add(true, "input_"+s.InputReason, "no state was accepted for %.1f s, most were refused (%s, %d): %s", age, s.InputReason, s.InputRefused, describe(s.Reasons, s.InputReason))
	case silent:
		add(true, "input", "no state came in %.0f s: is the robot sending to %s, and is it permitted to?", age, StateSubject(s.Vehicle))
	case s.Input == InputStale:
		add(true, "input", "no state was accepted for %.1f s: check the robot and the link", age)
	}
	for _, o := range s.Others {
		add(true, contestedAlarm, "another estimator, instance %.64q, answers for vehicle %s: stop one of them", o.Instance, s.Vehicle)
	}
	add(lasts(s.PlansUnused, s.age("plans_unused")), "plans_unused", "plans without plan_dt were not used (%d of %d predictions): send plan_dt, the seconds of each row, with every plan; "+
		"or set untimed_plans, if every sender plans over the model's horizon", s.PlansUnused, s.Published)
	add(lasts(s.PlansHeld, s.age("plans_held")), "plans_held", "plans end before the horizon, and their last row is held (%d of %d predictions): plan for the whole horizon, or predict at shorter times", s.PlansHeld, s.Published)
	add(lasts(s.PlansCut, s.age("plans_cut")), "plans_cut", "plans extend beyond the model's horizon, and that part is not read (%d of %d predictions): train for a longer horizon, or plan for this one", s.PlansCut, s.Published)
	add(lasts(s.UnknownKeys, s.age("unknown_keys")), "unknown_keys", "states have unknown keys, which are skipped (%d, the first %q): correct the name, or update the estimator", s.UnknownKeys, s.UnknownKey)
	for _, r := range s.Reasons {
		if lasts(r.Count, r.Age) && (r.Reason != Replaced.String() || s.Mode != ModeRate) {
			add(true, "reason_"+r.Reason, "states were not answered (%s, %d of %d): %s", r.Reason, r.Count, s.Received, describe(s.Reasons, r.Reason))
			all[len(all)-1].Count = r.Count
		}
	}
	for _, r := range s.Silent {
		if lasts(r.Count, r.Age) && r.Reason != NoInput.String() {
			add(true, "silent_"+r.Reason, "ticks were not answered (%s, %d of %d): %s", r.Reason, r.Count, s.Ticks, describe(s.Silent, r.Reason))
			all[len(all)-1].Count = r.Count
		}
	}
	add(lasts(s.FilterResets, s.age("filter_resets")), "filter_lost", "the filter restarted (%d times): after a gap between states, or after five outliers in a row; check link and sensors", s.FilterResets)
	add(s.NIS > mostNIS, "filter", "squared innovations of the filter are %.3g times their variance: sensors are noisier than in training, or the robot moves differently; train with flights like this one", s.NIS)
	add(s.Miscalibrated > 0, "miscalibrated", "the coverage of 95 %% intervals is too low%s: scale them by factor, and train with flights like this one", s.tooNarrow())
	add(s.Adapt == AdaptOn && s.AdaptNote != "", "adapt", "adaptation is on and learns nothing: %s", s.AdaptNote)
	if s.AdaptShare > changedShare {
		if text := s.Changes(); text != "" {
			add(true, "changed", "the robot differs from the training data: %s. If you did not change it, find the cause (load, battery, propellers, friction); train with flights like this one", text)
		}
	}
	reduced := s.reduced()
	add(reduced != "", PaceAlarm, "%s", reduced)
	add(enough && lasts(s.Late, s.age("late")) && share(s.Late) > lateShare, "late", "%d of %d predictions were late: predict at fewer points, at a lower rate, or on a less busy computer", s.Late, s.Published)
	add(enough && lasts(s.NoHistory, s.age("no_history")) && share(s.NoHistory) > withoutShare, "no_history", "%d of %d predictions lack the history that the model reads: states are slower than in training, or lost (%d gaps)",
		s.NoHistory, s.Published, s.HistoryGaps)
	add(s.Recording != "" && s.Recording != "on", "recording", "the recording has ended: %s", s.Recording)
	add(s.Refused != "", "model", "the last model offered was refused: %s", s.Refused)
	return all
}

// reduced describes the pace, and whether the model or the computer is the cause; empty where everything is predicted.
func (s *Status) reduced() string {
	if s.PaceLevel == 0 && s.PaceEvery <= 1 {
		return ""
	}
	text := fmt.Sprintf("predictions reach %.3g s ahead", s.PaceReach)
	if s.PaceEvery > 1 {
		text += fmt.Sprintf(" and one state of %d is answered", s.PaceEvery)
	}
	text += fmt.Sprintf(": the whole horizon takes %.3g ms, of which the model needs %.3g ms; %.3g ms are available, of which the computer takes %.2g ms before work begins; ",
		1e3*s.PaceCost, 1e3*s.PaceOwn, 1e3*s.PaceTime, 1e3*s.PaceEcho)
	if s.PaceOwn > paceShare*s.PaceTime {
		return text + "the model is too slow: predict at fewer points or at a lower rate, or train a smaller model"
	}
	return text + "the computer is too busy: end other programs, or give the estimator a priority or its own processor"
}

// describe returns the meaning and remedy of a reason, and its last error.
func describe(counts []ReasonCount, reason string) string {
	for _, r := range counts {
		switch {
		case r.Reason != reason:
		case r.Last == "":
			return r.Text
		default:
			return r.Text + "; the last: " + r.Last
		}
	}
	return ""
}

// tooNarrow names the channels and times whose running coverage is least.
func (s *Status) tooNarrow() string {
	var names []string
	K := len(s.Channels)
	for i, c := range s.Coverage {
		if K > 0 && i/K < len(s.Buckets) && c >= 0 && c < 0.9 {
			names = append(names, fmt.Sprintf("%s up to %.3g s %.0f %%", s.Channels[i%K], s.Buckets[i/K], 100*c))
		}
	}
	if len(names) > 4 {
		names = append(names[:4], "…")
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// Known reports whether the estimator already logs the alarm where its cause is detected.
func (a *Alarm) Known() bool { return a.Name == contestedAlarm || a.Name == "model" }

// Changes lists the amounts that differ from 0 by more than three standard deviations, the most significant
// first: "gain m1 −20 ± 3 %, bias vz −0.82 ± 0.04 m/s²"; empty if there are none.
func (s *Status) Changes() string {
	var sure []*Amount
	for i := range s.Amounts {
		if a := &s.Amounts[i]; a.Significant() {
			sure = append(sure, a)
		}
	}
	slices.SortStableFunc(sure, func(a, b *Amount) int { return cmp.Compare(math.Abs(b.Value)/b.Std, math.Abs(a.Value)/a.Std) })
	var names []string
	for i, a := range sure {
		if i == mostChanges {
			names = append(names, "…")
			break
		}
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

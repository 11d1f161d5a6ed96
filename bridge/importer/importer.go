package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Job describes an import.
type Job struct {
	Format string           // name of the format, for the log's header
	Open   telemetry.Opener // nil for tables, which Map describes
	Rows   csv.Opener       // (optional) opens tables that are not of text
	Map    *Map
	Inputs []string // files, one or more
	Out    string
	All    bool // keep what is in no phase of the map: the robot on the ground

	AllowLoss bool // write the log although most rows, all inputs or a channel of the map are missing

	// Progress, if not nil, is called now and then with the share that is done,
	// 0 to 1.
	Progress func(share float64)
}

// Summary reports what an import did.
type Summary struct {
	Out      string
	Vehicle  string
	Rows     int
	Segments int
	Duration int64              // ns, of all segments together
	Found    []derivative.Found // derivatives that the data show
	Near     []derivative.Found // what is nearly one; see derivative.Detector.Found
	Remarks  []Remark           // origin of the rows, what was interpolated, cut and left out
	Problems []string           // what could not be read, in sentences with file and place
	Channels []Measured         // of the log
	Clocks   []Clock            // of the senders, file after file
}

// Measured reports how often a channel is measured in a log.
type Measured struct {
	Name    string  `json:"name"`
	Samples int     `json:"measured"` // rows in which it is measured
	Rate    float64 `json:"rate_hz"`  // of these, but for inputs that are held that of their messages
}

// Texts returns the remarks in sentences.
func (s *Summary) Texts() (all []string) {
	for _, r := range s.Remarks {
		all = append(all, r.String())
	}
	return all
}

// Import reads the inputs as the map describes and writes the log out, or nothing
// where anything is wrong. What could not be read of a log of topics is not wrong: it
// is skipped and reported in the summary. The error is a *mapfile.Error, a
// *telemetry.FieldError, of the file system or the reader, or the cause of ctx's end; with a
// *LossError comes the summary of what was not written.
func Import(ctx context.Context, jb Job) (*Summary, error) {
	if len(jb.Inputs) == 0 {
		panic("importer: no input")
	}
	j := &job{Job: jb}
	err := j.checkOut()
	if err != nil {
		return nil, err
	}
	if err := j.divide(); err != nil {
		return nil, err
	}
	joined := j.joins()
	if joined {
		j.join()
	}
	said, err := j.surveyVehicle(ctx)
	if err != nil {
		return nil, err
	}
	if j.Map, err = j.Map.expand(j.files); err != nil {
		return nil, err
	}
	j.Map.lenient = j.AllowLoss
	if j.plan, err = bind(j.Map, j.files); err != nil {
		return nil, err
	}
	j.plan.leftOut = append(j.plan.leftOut, said...)
	j.sayTwice(&j.plan.leftOut)
	if joined {
		j.plan.leftOut.add("joined", Info, "", "columns are filled in different rows: they were joined like topics (join = false under [time] keeps the rows)")
	}
	s := &Summary{Out: j.Out, Vehicle: j.Map.Vehicle}
	if j.wantsData() {
		if err := j.learn(ctx, s); err != nil {
			return nil, err
		}
	}
	j.read = (j.passes - 1) * len(j.inputs)
	err = j.write(ctx, s)
	if _, refused := errors.AsType[*LossError](err); err != nil && !refused {
		return nil, err
	}
	j.progress(0)
	return s, err
}

// checkOut refuses to write over an input.
func (j *job) checkOut() error {
	existing, err := os.Stat(j.Out)
	if err != nil {
		return nil // it does not exist
	}
	for _, path := range j.Inputs {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, existing) {
			return fmt.Errorf("%s: is an input, too; choose another name for the log", j.Out)
		}
	}
	return nil
}

// wantsData reports whether the data must be read before they are written: for errors
// in a table, for a derivative that the map does not declare, for kinematics that it
// does, or for channels that may have one value throughout.
func (j *job) wantsData() bool {
	if j.Map.Kinematics != "" || j.Map.IsTable() {
		return true
	}
	return len(j.plan.valid) > 0 || slices.ContainsFunc(j.plan.header, func(c channel.Channel) bool {
		d := j.plan.declared[c.Name]
		return d.varies || c.Role == channel.State && d.derivative == ""
	})
}

// learn reads everything once to find what the header holds: derivatives, kinematics,
// and which channels vary.
func (j *job) learn(ctx context.Context, s *Summary) error {
	claimed, states, err := j.claims()
	if err != nil {
		return err
	}
	l := newLearner(j.plan.header, states)
	if l.checker = kinematics.New(kinematics.Remaining(claimed, states), states); claimed.Relation == "" {
		l.checker = kinematics.Usual(states) // to see whether axes are mixed
	}
	if j.plan.held == nil && j.Map.IsTable() && !j.Map.Time.KeepHeld {
		l.stays = newHolds(len(states))
	}
	filled := newFills(j.plan)
	made, err := j.rows(ctx, nil, l.add, filled)
	if err != nil {
		return err
	}
	if filled.found(j.plan) {
		return j.learn(ctx, s) // without them
	}
	if l.stays != nil {
		if j.plan.held = l.stays.found(); anyHeld(j.plan.held) {
			j.plan.leftOut.held(states, j.plan.held)
			return j.learn(ctx, s) // without the repetitions
		}
	}
	if err := j.leaveOut(l, made); err != nil {
		return err
	}
	if err := j.settle(ctx, claimed, l, states); err != nil {
		return err
	}
	j.declareFound(s, l.derivatives)
	return nil
}

// claims returns the kinematics that the map declares, and the states with the derivatives that
// it does. Kinematics that are optional may name states that are not in the log.
func (j *job) claims() (claimed channel.Kinematics, states []channel.Channel, err error) {
	states = channel.Select(j.plan.header, channel.State)
	of := states
	if j.Map.KinematicsOptional {
		of = j.Map.header(nil)
	}
	if claimed, err = j.Map.declared(of); err != nil {
		return claimed, nil, err
	}
	for i := range states {
		// What the map declares is final, "none" as well. A velocity in axes of the body is
		// that of no position.
		states[i].Derivative = j.plan.declared[states[i].Name].derivative
		if claimed.InBody && states[i].Derivative == "" && slices.ContainsFunc(claimed.Position, func(name string) bool { plain, _ := channel.Signed(name); return plain == states[i].Name }) {
			states[i].Derivative = "none"
		}
	}
	return claimed, states, nil
}

// leaveOut leaves the channels out of which the rows show nothing, and reports which and why. It
// is an error where no state is left because none is ever valid.
func (j *job) leaveOut(l *learner, made *rowMaker) error {
	j.plan.idle(l.ranges.of(channel.Input))
	still, empty, unknown := j.plan.leaveOut(&l.ranges)
	if len(still) > 0 {
		j.plan.leftOut.add("constant", Info, "", "%s left out: one value throughout", strings.Join(still, ", "))
	}
	if len(empty) > 0 {
		j.plan.leftOut.add("missing", Warning, "", "%s left out: never measured", strings.Join(empty, ", "))
	}
	if len(unknown) > 0 && l.rows > 0 && len(channel.Select(j.plan.header, channel.State)) == 0 {
		damage, remedy := "", "record where the robot's estimator has its sensors; if the values are right nevertheless, use the map without its [[valid]] (--print-map)"
		if p := problems(j.files); len(p) > 0 {
			damage, remedy = p[0]+"; ", "dgm-bridge topics "+j.files[0].path+" shows what can be read of it"
		}
		return &mapfile.Error{
			File: j.Map.file, Field: "valid", Reason: damage + "no state is left: never valid in the rows that are kept: " + strings.Join(made.whyUnknown(unknown), "; "),
			Remedy: remedy,
		}
	}
	if len(unknown) > 0 {
		j.plan.unknown.add("invalid", Warning, "", "%s left out, never valid in the rows that are kept: %s", strings.Join(unknown, ", "), strings.Join(made.whyUnknown(unknown), "; ")).Remedy = "dgm-bridge topics FILE --suggest shows whether another preset uses them"
	}
	return nil
}

// declareFound puts the derivatives that the data show, of channels that are left, into the
// header and the summary.
func (j *job) declareFound(s *Summary, d *derivative.Detector) {
	found, near := d.Found()
	gone := func(f derivative.Found) bool {
		return channel.Index(j.plan.header, f.Channel) < 0 || channel.Index(j.plan.header, f.Derivative) < 0
	}
	s.Found, s.Near = slices.DeleteFunc(found, gone), slices.DeleteFunc(near, gone)
	for _, f := range s.Found {
		j.plan.header[channel.Index(j.plan.header, f.Channel)].Derivative = f.Derivative
	}
}

// settle decides what the log declares of the claimed kinematics of states. Of those that do
// not vary nothing is declared. What the data contradict is left out where the map says
// that it is optional, and else is an error.
func (j *job) settle(ctx context.Context, claimed channel.Kinematics, l *learner, states []channel.Channel) error {
	checker := l.checker
	moving := channel.Select(j.plan.header, channel.State)
	reduce := func(states []channel.Channel, why string) {
		k := kinematics.Remaining(j.kinematics, states)
		if k.Equal(&j.kinematics) {
			return
		}
		left := "kinematics left out"
		if k.Relation != "" {
			left = "kinematics only of " + strings.TrimPrefix(k.String(), k.Relation+": ")
		}
		j.plan.leftOut.add("kinematics", Info, "", "%s: %s", left, why)
		j.kinematics = k
	}
	j.kinematics = claimed
	reduce(moving, "not all required states are in the log, move and are valid")
	mixed, mend, err := j.mixed(ctx, claimed, l, states)
	if err != nil {
		return err
	}
	for j.kinematics.Relation != "" {
		wrong, remarks := checker.Result(j.kinematics)
		switch {
		case wrong == nil:
			for _, text := range remarks {
				j.plan.leftOut.add("kinematics", Info, "", "%s", text)
			}
		case !j.Map.KinematicsOptional && mixed != "":
			return &mapfile.Error{File: j.Map.file, Field: "kinematics", Reason: wrong.Reason + ": " + mixed, Remedy: mend}
		case !j.Map.KinematicsOptional:
			return &mapfile.Error{File: j.Map.file, Field: "kinematics", Reason: wrong.Reason, Remedy: wrong.Remedy}
		}
		if wrong == nil {
			break
		}
		reduce(slices.DeleteFunc(slices.Clone(moving), func(c channel.Channel) bool { return c.Name == wrong.Channel }), wrong.Reason)
	}
	if mixed != "" {
		j.plan.leftOut.add("axes", Warning, "", "by how the states move %s", mixed).Remedy = mend
	} else if leaning, mend := checker.Leaning(states); leaning != "" {
		j.plan.leftOut.add("axes", Warning, "", "by the robot's acceleration over its tilt, %s", leaning).Remedy = mend
	}
	return nil
}

// mixed returns of which states the axes, or the order of a quaternion, are others than those of the rest, and what to do, where the
// kinematics that the learner looked at are contradicted and that explains it. It reads everything once more.
func (j *job) mixed(ctx context.Context, claimed channel.Kinematics, l *learner, states []channel.Channel) (what, remedy string, err error) {
	moving := channel.Select(j.plan.header, channel.State)
	search := l.checker.Search(states, func(name string) bool { return channel.Index(moving, name) >= 0 })
	if search == nil {
		return "", "", nil
	}
	x, from := l.constant(), make([]int, len(states)) // from a row of the states that move
	for i, c := range states {
		from[i] = channel.Index(moving, c.Name)
	}
	_, err = j.rows(ctx, nil, func(r *row) error {
		if r.begins {
			search.Break()
		}
		for i, k := range from {
			if k >= 0 {
				x[i] = r.values[0][k]
			}
		}
		search.Add(r.t, x)
		return nil
	})
	if err != nil {
		return "", "", err
	}
	what, remedy, _ = search.Found(claimed.Relation != "")
	return what, remedy, nil
}

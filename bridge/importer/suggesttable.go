package importer

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// SuggestTable writes a map of a table: its time, and a channel for each column of varying numbers. Columns that
// do not look like independent states are commented out. open, if not nil, opens tables that are not text.
func SuggestTable(w io.Writer, path string, open csv.Opener) error {
	o, err := csv.Look(path, open)
	if err != nil {
		return err
	}
	channels := suggestion{commanded: slices.ContainsFunc(o.Columns, func(c csv.Column) bool { return c.Others == 0 && c.Low < c.High && commands(c.Name) }), steered: slices.ContainsFunc(o.Columns, func(c csv.Column) bool { return containsAny(c.Name, "steer") && commands(c.Name) }), steps: hasUnnamedInputs(o), thermal: isThermal(o)}
	attitude := cmp.Or(o.Quaternion(), &csv.Quaternion{})
	angles := hasAngles(o.Columns)
	if angles {
		for _, i := range attitude.At {
			o.Columns[i].Same = "roll, pitch and yaw, as a quaternion"
		}
		attitude.At = nil
	}
	rotation := matrixOf(o, attitude, angles)
	degrees(o.Columns)
	joints := jointUnits(o.Columns, func(i int) bool { return i == o.Time || slices.Contains(attitude.At, i) })
	upright := channels.vectors(o, attitude)
	for i := range o.Columns {
		if !slices.Contains(attitude.At, i) && !slices.Contains(rotation, i) && !slices.Contains(upright, i) && i != o.Time && i != o.Fraction && i != o.Date && !slices.Contains(o.Segments, i) && i != o.Group {
			channels.column(&o.Columns[i])
		}
	}
	channels.quaternion(o, attitude)
	channels.matrix(o, rotation)
	more := ""
	var segments []string
	for _, i := range o.Segments {
		segments = append(segments, fmt.Sprintf("%q", o.Columns[i].Column))
	}
	switch len(segments) {
	case 0:
	case 1:
		more += "segment_column = " + segments[0] + "\n"
	default:
		more += "segment_column = [" + strings.Join(segments, ", ") + "]\n"
	}
	for _, k := range []struct {
		key string
		at  int
	}{{"date", o.Date}, {"group_column", o.Group}, {"fraction", o.Fraction}} {
		if k.at >= 0 {
			more += fmt.Sprintf("%s = %q\n", k.key, o.Columns[k.at].Column)
		}
	}
	if o.DayFirst != "" {
		more += fmt.Sprintf("day_first = %s # %s\n", o.DayFirst, o.DayFirstBy)
	}
	if o.Fraction >= 0 && o.FractionUnit != "ns" {
		more += fmt.Sprintf("fraction_unit = %q\n", o.FractionUnit)
	}
	if channels.states == 0 && attitude.At == nil && rotation == nil && len(o.LeftOut) > 0 {
		return &mapfile.Error{File: path, Reason: "no column of it is a state; no columns are: " + strings.Join(o.LeftOut, "; "), Remedy: "save these as columns of numbers, with as many rows as the time"}
	}
	if len(o.LeftOut) > 0 {
		channels.text.WriteString("\n# No columns are:\n")
	}
	for _, what := range o.LeftOut {
		channels.text.WriteString("#   " + what + "\n")
	}
	_, err = fmt.Fprintf(w, "# The columns of %s, by its first %d rows. Correct them: roles and units.\n%s%s%svehicle = \"robot\"\n%s\n[time]\ncolumn = %q\nunit = %q # s, ms, us, ns, min, h or d: %s\n%s# max_gap = \"1s\" # a longer time without a row begins a segment\n%s",
		filepath.Base(path), o.Rows, channels.driven(), joints, channels.angles(), channels.frames, o.Columns[o.Time].Column, o.Unit, unitFrom(o), more, channels.text.String())
	return err
}

// degrees gives angles of attitude without a unit that of degrees where roll or pitch of the same sensor is beyond a turn in radians, which
// no robot is.
func degrees(columns []csv.Column) {
	sensor := func(c *csv.Column) (name string, angle bool) {
		name = strings.ToLower(c.Name)
		for _, of := range []string{"roll", "pitch", "yaw", "heading", "psi"} {
			name = strings.ReplaceAll(name, of, "")
		}
		return name, c.Unit == "" && c.Others == 0 && turn(c.Name, "deg") > 0
	}
	far := map[string]bool{}
	for i := range columns {
		c := &columns[i]
		if name, angle := sensor(c); angle && containsAny(c.Name, "roll", "pitch") && max(-c.Low, c.High) > channel.Angle {
			far[name] = true
		}
	}
	for i := range columns {
		if name, angle := sensor(&columns[i]); angle && far[name] {
			columns[i].Unit = "deg"
		}
	}
}

// quaternion adds roll, pitch and yaw of a quaternion of a table, where there is one.
func (s *suggestion) quaternion(o *csv.Outline, q *csv.Quaternion) {
	if q.At == nil {
		return
	}
	var names []string
	for _, i := range q.At {
		names = append(names, fmt.Sprintf("%q", o.Columns[i].Column))
	}
	by, axes := "", ""
	if q.By != "" {
		by = " # " + q.By
	}
	if q.YUp {
		axes = "axes = \"eus-fur\" # y is up: the robot turns about it\nframes = \"enu-flu\"\n"
	}
	fmt.Fprintf(&s.text, "\n[[attitude]] # roll, pitch and yaw of a quaternion\ncolumns = [%s]\norder = %q%s\n%s", strings.Join(names, ", "), q.Order, by, axes)
}

// vectorX matches the three columns of a position or a velocity in axes of the world, ahead of x, y and z.
var vectorX = regexp.MustCompile(`(?i)^(.*[^a-z])?(p|pos|position|t|trans|translation|v|vel|velocity)?[^a-z]*x$`)

// vectors adds the vectors of a table whose quaternion shows that y is up, with z up, and returns their columns.
func (s *suggestion) vectors(o *csv.Outline, q *csv.Quaternion) (at []int) {
	if q.At == nil || !q.YUp {
		return nil
	}
	for i := range o.Columns {
		x := o.Columns[i].Name
		if slices.Contains(q.At, i) || !vectorX.MatchString(x) {
			continue
		}
		three := []int{i}
		for _, axis := range []string{"y", "z"} {
			three = append(three, slices.IndexFunc(o.Columns, func(c csv.Column) bool { return strings.EqualFold(c.Name, x[:len(x)-1]+axis) && c.Others == 0 }))
		}
		if slices.Contains(three, -1) || slices.ContainsFunc(three, func(k int) bool { return slices.Contains(q.At, k) }) {
			continue
		}
		var names, fields []string
		for _, k := range three {
			names, fields = append(names, fmt.Sprintf("%q", s.unique(o.Columns[k].Name, ""))), append(fields, fmt.Sprintf("%q", o.Columns[k].Column))
		}
		unit := ""
		if u := o.Columns[i].Unit; u != "" {
			unit = fmt.Sprintf("unit = %q\n", u)
		}
		fmt.Fprintf(&s.text, "\n[[channel]] # frames, above, turns it\nnames = [%s]\nfields = [%s]\naxes = \"eus\" # y is up\n%srole = \"state\"\nvaries = true\n", strings.Join(names, ", "), strings.Join(fields, ", "), unit)
		s.states += 3
		at = append(at, three...)
	}
	if len(at) > 0 {
		s.frames = "frames = \"enu-flu\" # y is up in the file, z in the log\n"
	}
	return at
}

// unitFrom returns where the unit of a table's time is from, and what a guess of it means.
func unitFrom(o *csv.Outline) string {
	switch rate, inSeconds := o.Guess(); {
	case o.Shown:
		return "as its cells are written"
	case o.Named:
		return "from the name of the column"
	case inSeconds > 0:
		return fmt.Sprintf("GUESSED: gives rows at %.4g Hz; if they come at %.4g Hz, write s", rate, inSeconds)
	case rate > 0:
		return fmt.Sprintf("guessed from the step: gives rows at %.4g Hz", rate)
	}
	return "guessed from the step"
}

// column adds the channel of a column, commented out where it cannot be one.
func (s *suggestion) column(c *csv.Column) {
	hash, remark := "# ", fmt.Sprintf("%.6g to %.6g", c.Low, c.High)
	where := fmt.Sprintf("column = %q", c.Column)
	unit, other := c.Units()
	switch {
	case other != "":
		hash, remark = "", fmt.Sprintf("numbers in %s, and others in another unit, as %q, which an import refuses: convert the column to one unit", unit, other)
	case c.Numbers == 0 && c.Others == 0 && c.Infinite == 0:
		remark = "empty"
	case c.Lists():
		remark = "lists: write their numbers into columns of their own"
	case c.Nearly() != "":
		hash, remark = "", fmt.Sprintf("numbers as %q, which an import refuses: write them without separators of thousands", c.Nearly())
	case c.Others > 0 && c.Numbers > c.Others:
		hash, remark = "", fmt.Sprintf("%d numbers, and %d cells that are none, as %q, which an import refuses: clear these cells", c.Numbers, c.Others, c.Other())
	case c.Others > 0:
		remark = fmt.Sprintf("text, as %q: perhaps segment_column of [time]", c.Other())
	case c.Infinite > 0:
		hash, remark = "", fmt.Sprintf("infinite in %d rows, which an import refuses: clear these cells", c.Infinite)
	case c.Low == c.High:
		remark = fmt.Sprintf("%.6g throughout", c.Low)
		hash, where = "", where+"\nvaries = true # left out unless it varies in another file: nothing can be learned from a constant"
	default:
		hash = ""
	}
	if c.NumbersSegments() && !s.drives("", c.Name, c.Unit) {
		hash, remark = "# ", remark+": perhaps segment_column of [time]"
	}
	if c.Counts() {
		hash, remark = "# ", remark+": counts the rows"
	} else if c.Clock && c.Falls() && isOf(c.Name)(speeds) {
		c.Unit = "m/s" // not ms
	} else if c.Clock && !(c.FallsOften() && s.drives("", c.Name, c.Unit)) {
		if hash, remark = "# ", remark+": another time"; c.Runs != 0 {
			remark += fmt.Sprintf(", which runs at %.4g of the rate: of simulated time and the computer's time, use the simulated one", c.Runs)
		}
	}
	role := channel.State
	switch why := s.noState(c); {
	case s.drives("", c.Name, c.Unit) && !(s.steered && steers(c.Name)):
		role = channel.Input
	case containsAny(c.Name, "bat") || !s.thermal && containsAny(c.Name, "temp"):
		role = channel.Aux
	case hash == "" && containsAny(c.Name, "marker error", "marker_error", "confidence", "quality", "hdop", "vdop", "satellite", "rssi", "covariance", "variance"):
		role, remark = channel.Aux, remark+": how well something is measured"
	case hash == "" && c.Flag() && s.thermal:
		role, remark = channel.Input, remark+": a switch"
	case hash == "" && s.steps && c.Steps(isOf(c.Name)([]string{"voltage", "volt", "volts"})) && !isOf(c.Name)(observed):
		role, remark = channel.Input, remark+": it rests and jumps as a command does"
	case hash == "" && c.Flag():
		role, remark = channel.Aux, remark+": a flag, which does not move as states do"
	case hash == "" && why != "":
		hash, remark = "# ", remark+": "+why
	case hash == "" && c.Low < c.High:
		s.states++
	}
	if role == channel.Input {
		s.inputs++
	}
	s.text.WriteString("\n")
	s.channel(hash, " # "+remark, s.unique(c.Name, ""), where, c.Unit, role, c.Turns)
}

// driven is the comment ahead of the map of a table in which nothing is called as a command is.
func (s *suggestion) driven() string {
	if s.inputs > 0 {
		return ""
	}
	return "# No column is called as a command is: what drives the robot needs role = \"input\", else the model predicts without it.\n"
}

// isThermal reports whether temperatures are all that moves in a table, so that they are its states.
func isThermal(o *csv.Outline) bool {
	some := false
	for i := range o.Columns {
		c := &o.Columns[i]
		switch temperature := containsAny(c.Name, "temp"); {
		case temperature && c.Low < c.High:
			some = true
		case i != o.Time && c.Others == 0 && c.Low < c.High && !c.Clock && !c.Flag() && !c.Counts() && !containsAny(c.Name, "bat") && !drives(c.Name, c.Unit):
			return false
		}
	}
	return some
}

// hasUnnamedInputs reports whether columns that rest and jump may be inputs: none is called as an input, and some move on.
func hasUnnamedInputs(o *csv.Outline) bool {
	moving := false
	for i := range o.Columns {
		c := &o.Columns[i]
		if drives(c.Name, c.Unit) {
			return false
		}
		moving = moving || i != o.Time && !c.Clock && !c.Counts() && c.Moves()
	}
	return moving
}

// noState returns why a column is proposed as no state, though it varies; "" = it is.
func (s *suggestion) noState(c *csv.Column) string {
	switch {
	case c.Not != "":
		return c.Not
	case c.Same != "" && s.drives("", c.Same, "") == s.drives("", c.Name, c.Unit): // what follows a command is no copy of it
		return "nearly the values of " + c.Same
	case accelerates(c.Name, c.Unit):
		return "an acceleration, which follows from states and inputs"
	case s.states >= suggestStates:
		return fmt.Sprintf("the first %d states are proposed", suggestStates)
	}
	return ""
}

// hasAngles reports whether a table has columns of roll, pitch and yaw.
func hasAngles(columns []csv.Column) bool {
	return !slices.ContainsFunc([]string{"roll", "pitch", "yaw"}, func(angle string) bool {
		return !slices.ContainsFunc(columns, func(c csv.Column) bool { return strings.HasSuffix(strings.ToLower(c.Name), angle) })
	})
}

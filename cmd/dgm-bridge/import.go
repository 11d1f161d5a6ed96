package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// tableHelp describes the map of tables.
const tableHelp = `Turn tables of text (separated by commas, semicolons, tabs or spaces; .gz
and .zst as well) into a flight log. Every file begins a segment. The map
describes the columns, by their names in the first line or in a comment
ahead (# or %), or by their numbers, as in column = "1":

    vehicle = "pendulum"
    [time]
    column = "t"
    unit = "s"                   # s, ms, us, ns
    segment_column = "segment"   # optional: a new value starts a segment; or a list of columns
    max_gap = "50ms"             # optional: a larger gap starts a segment
    from = "5s"                  # optional: cut, relative to the file's first sample
    to = "36s"
    on_backwards = "error"       # optional: error, segment (start one) or keep
    on_duplicate = "drop"        # optional: drop, error or keep
    any_rate = false             # optional: accept the unit though the rate is implausible
    [[channel]]
    name = "theta"
    column = "theta"
    unit = "rad"
    role = "state"               # state, input or aux
    derivative = "omega"         # optional: the state that is this one's time derivative, or "none"; else detected
    period = 6.283185307179586   # optional: an angle
    invariant = true             # optional: the dynamics do not depend on it (a position)
    noise = 0.01                 # optional: known std of the sensor
    scale = 1.0                  # optional: value = scale * column * times + offset
    offset = 0.0
    frame = "ned"                # optional, free text
    [[attitude]]                 # optional: a quaternion becomes roll, pitch and yaw
    columns = ["qw", "qx", "qy", "qz"]
    order = "wxyz"               # or xyzw
    axes = "enu-flu"             # optional: those of the quaternion, or ned-frd
    frames = "ned-frd"           # optional: those of the log

    # Every key of a channel that is read from a topic can be used as well, with column in
    # place of topic and field: see import ulog --help.
    # A rigid body that flies: kinematics = "quadrotor", beside vehicle, declares that the states x, y, z
    # move by vx, vy, vz, and roll, pitch, yaw by the body's rates p, q, r. What the data contradict is an
    # error; with kinematics_optional = true it is left out.
    # Other names, a sign that is turned, a velocity in axes of the body:
    # [body]
    # position = ["x", "y", "-z"]
    # velocity = ["u", "v", "w"]
    # axes = "body"
    # attitude = ["phi", "theta", "psi"]
    # rates = ["p", "q", "r"]`

// topicHelp describes the map of logs of topics.
const topicHelp = `

A preset is a map for a robot that many people have; --print-map writes it to
standard output, to be changed and given with --map. A map looks like this:

    vehicle = "quad1"
    frames = "enu-flu"           # optional: ned-frd or enu-flu, else the axes as recorded
    kinematics = "quadrotor"     # optional: x, y, z move by vx, vy, vz; roll, pitch, yaw by p, q, r. [body] names others: import csv --help
    kinematics_optional = true   # optional: what the data contradict is left out; else it is an error
    [time]
    base = "vehicle_attitude"    # optional: whose stamps are the rows'; else the slowest topic with a state
    max_gap = "500ms"            # optional: a longer gap starts a segment; else five steps of the base
    from = "5s"                  # optional: cut, from the file's first message
    to = "36s"
    [[phase]]                    # optional: keep what is in all phases; --all keeps everything
    topic = "vehicle_land_detected"
    field = "landed"
    equals = [0]                 # or above = 0.5, or for events begins = [28] and ends = [18]; mask = 128 looks at some bits
    [[valid]]                    # optional: the values of channels count only while all that is said of them holds
    channels = ["vx", "vy"]
    topic = "vehicle_local_position" # or type; a field that is not in a log has no effect
    field = "v_xy_valid"
    equals = [1]                 # or above = -0.5; mask = 128 looks at some bits
    [[reset]]                    # optional: the estimator was set anew where a counter changes: a segment begins
    topic = "vehicle_local_position"
    fields = ["vxy_reset_counter"]   # or of events: fields = ["Id"] and equals = [60, 62]
    [[channel]]
    names = ["x", "y", "z"]      # or name = "x"
    topic = "vehicle_local_position" # or type = "nav_msgs/msg/Odometry"
    instance = 0                 # optional: else the lowest that does not have one value throughout
    fields = ["x", "y", "z"]     # or field = "x", quaternion = [w, x, y, z], euler = [roll, pitch, yaw]
    axes = "ned"                 # optional: ned, enu, frd, flu; of an attitude ned-frd or enu-flu
    from = "m"                   # optional: the fields' unit, where it is not in the log
    unit = "m"                   # optional: the unit in the flight log
    role = "state"               # state, input or aux
    derivatives = ["vx", "vy", "vz"] # optional: or "none"; else detected
    invariant = true             # optional: the dynamics do not depend on it (a position)
    noise = 0.01                 # optional: known std of the sensor
    between = "linear"           # optional: linear, hold or exact; else hold for inputs and linear for others
    max_age = "100ms"            # optional: over which it is interpolated or held; else five steps of its topic
    scale = 1.0                  # optional: value = scale * field * times + offset
    offset = 0.0
    times = "voltage"            # optional: a field of the same topic, as a factor
    optional = false             # optional: left out where it is not in the log
    varies = false               # optional: left out where it has one value throughout
    [[channel.or]]               # optional: where else to look; the first that is there counts
    topic = "vehicle_odometry"
    fields = ["position[0]", "position[1]", "position[2]"]
    axes = "ned"`

// importOptions are the flags of an import.
type importOptions struct {
	mapFile, preset, out  string
	vehicle, base, frames string // in place of the map's
	gap, from, to         time.Duration
	all, printMap         bool
}

func importCommand(f *format) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{Short: f.short, RunE: func(cmd *cobra.Command, inputs []string) error { return o.run(cmd, f, inputs) }}
	flags := cmd.Flags()
	if f.table() {
		cmd.Use = f.name + " --map map.toml --out flight.msgpack " + f.what + " ..."
		cmd.Long = tableHelp
		flags.StringVar(&o.mapFile, "map", "", "map of the columns (toml)")
	} else {
		cmd.Use = f.name + " (--preset NAME | --map map.toml) --out flight.msgpack " + f.what + " ..."
		cmd.Long = f.short + ".\nPresets: " + strings.Join(importer.Presets(), ", ") + "." + topicHelp
		flags.StringVar(&o.mapFile, "map", "", "map of the topics (toml)")
		flags.StringVar(&o.preset, "preset", "", "a map that comes with the program: "+strings.Join(importer.Presets(), ", "))
		flags.StringVar(&o.base, "base", "", "topic whose timestamps are the rows', in place of the map's")
		flags.BoolVar(&o.all, "all", false, "keep the robot on the ground, too: leave the map's phases out")
		flags.BoolVar(&o.printMap, "print-map", false, "write the preset's map to standard output, and nothing else")
	}
	flags.StringVar(&o.out, "out", "", "flight log to write")
	flags.StringVar(&o.vehicle, "vehicle", "", "name of the robot, in place of the map's")
	flags.StringVar(&o.frames, "frames", "", "axes of the flight log, ned-frd or enu-flu, in place of the map's")
	flags.DurationVar(&o.gap, "max-gap", 0, "gap that starts a segment, in place of the map's")
	flags.DurationVar(&o.from, "from", 0, "cut, from the file's first sample, in place of the map's")
	flags.DurationVar(&o.to, "to", 0, "cut, from the file's first sample, in place of the map's")
	return cmd
}

func (o *importOptions) run(cmd *cobra.Command, f *format, inputs []string) error {
	if o.printMap && o.preset != "" {
		text, err := importer.PresetText(o.preset)
		if err == nil {
			_, err = io.WriteString(cmd.OutOrStdout(), text)
		}
		return err
	}
	if err := o.check(f, inputs); err != nil {
		return err
	}
	var m *importer.Map
	var err error
	if o.mapFile != "" {
		m, err = importer.ReadMap(o.mapFile)
	} else {
		m, err = importer.Preset(o.preset)
	}
	if err != nil {
		return err
	}
	if m.IsTable() != f.table() {
		return cli.Usage("%s describes %s: import it with another format", o.mapFile, map[bool]string{true: "the columns of a table", false: "topics"}[m.IsTable()])
	}
	if err := o.override(m); err != nil {
		return err
	}
	show, done := progress()
	s, err := importer.Import(cmd.Context(), importer.Job{
		Format: f.name, Open: f.open, Map: m, Inputs: inputs, Out: o.out, All: o.all, Progress: show,
	})
	done()
	if err != nil {
		return err
	}
	return report(cmd.OutOrStdout(), s)
}

// check reports what is missing on the command line.
func (o *importOptions) check(f *format, inputs []string) error {
	switch {
	case f.table() && o.mapFile == "":
		return cli.Usage(`required flag "map" not set`)
	case !f.table() && (o.mapFile == "") == (o.preset == ""):
		return cli.Usage("one of --map and --preset is needed; presets: %s", strings.Join(importer.Presets(), ", "))
	case len(inputs) == 0:
		return cli.Usage("name one log or several")
	case o.out == "":
		return cli.Usage(`required flag "out" not set`)
	}
	return cli.Outputs("--out", append([]string{o.mapFile}, inputs...), []string{o.out})
}

// override puts the values of the flags into a map.
func (o *importOptions) override(m *importer.Map) error {
	if o.vehicle != "" {
		m.Vehicle = o.vehicle
	}
	if o.base != "" {
		name, instance, err := splitTopic(o.base)
		if err != nil {
			return err
		}
		m.Time.Base, m.Time.Instance = name, instance
	}
	if o.frames != "" {
		m.Frames = o.frames
	}
	for _, f := range []struct {
		name  string
		value time.Duration
		into  *mapfile.Duration
	}{{"max-gap", o.gap, &m.Time.MaxGap}, {"from", o.from, &m.Time.From}, {"to", o.to, &m.Time.To}} {
		if f.value < 0 {
			return cli.Usage("--%s %v is negative", f.name, f.value)
		}
		if f.value > 0 {
			*f.into = mapfile.Duration(f.value)
		}
	}
	if m.Time.To != 0 && m.Time.To <= m.Time.From {
		return cli.Usage("--to %v is not after --from %v", time.Duration(m.Time.To), time.Duration(m.Time.From))
	}
	return m.Check()
}

// splitTopic splits "name#instance" as topics are named in messages.
func splitTopic(text string) (name string, instance *int, err error) {
	name, number, ok := strings.Cut(text, "#")
	if !ok {
		return text, nil, nil
	}
	instance = new(int)
	if _, err := fmt.Sscanf(number, "%d", instance); err != nil {
		return "", nil, cli.Usage("--base %q: %q is not the number of an instance", text, number)
	}
	return name, instance, nil
}

// report writes what was written and what the user should know about it.
func report(w io.Writer, s *importer.Summary) error {
	_, err := fmt.Fprintf(w, "wrote %s: vehicle %s, %s in %s, %.6g s\n", s.Out, s.Vehicle, cli.Count(s.Rows, "row"), cli.Count(s.Segments, "segment"), 1e-9*float64(s.Duration))
	for _, f := range s.Found {
		fmt.Fprintf(w, "derivative of %s is %s, by the data (slope %.4f, correlation %.4f)\n", f.Channel, f.Derivative, f.Slope, f.Correlation)
	}
	for _, f := range s.Near {
		fmt.Fprintf(w, "derivative of %s is perhaps %s (slope %.4f, correlation %.4f): not used; if it is, write derivative = %q, or correct scale\n",
			f.Channel, f.Derivative, f.Slope, f.Correlation, f.Derivative)
	}
	for _, text := range s.Remarks {
		fmt.Fprintln(w, text)
	}
	const most = 20
	for _, text := range s.Problems[:min(len(s.Problems), most)] {
		fmt.Fprintln(w, "not read: "+text)
	}
	if n := len(s.Problems) - most; n > 0 {
		fmt.Fprintf(w, "not read: %s more; dgm-bridge topics lists all\n", cli.Count(n, "place"))
	}
	return err
}

// progress shows the share that is done on standard error where that is a
// terminal. done clears the line.
func progress() (show func(float64), done func()) {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil, func() {}
	}
	last := -1
	show = func(share float64) {
		if percent := int(100 * share); percent != last {
			last = percent
			fmt.Fprintf(os.Stderr, "\rreading %3d %%", percent)
		}
	}
	return show, func() { fmt.Fprint(os.Stderr, "\r\x1b[K") }
}

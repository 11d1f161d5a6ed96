package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// mapHelp describes the map of logs with topics.
const mapHelp = `

A preset is a map for a robot that many people have; --print-map writes it to
standard output, to be changed and given with --map. A map looks like this:

    vehicle = "quad1"
    frames = "enu-flu"           # optional: ned-frd or enu-flu, else the axes as recorded
    kinematics = "quadrotor"     # optional: x, y, z move by vx, vy, vz; roll, pitch, yaw by p, q, r. [body] names others: import csv --help
    [time]
    base = "vehicle_attitude"    # optional: whose stamps are the rows'; else the slowest topic with a state
    max_gap = "500ms"            # optional: a longer gap starts a segment; else five steps of the base
    from = "5s"                  # optional: cut, from the file's first message
    to = "36s"
    [[phase]]                    # optional: keep what is in all phases; --all keeps everything
    topic = "vehicle_land_detected"
    field = "landed"
    equals = [0]                 # or above = 0.5, or for events begins = [28] and ends = [18]; mask = 128 looks at some bits
    [[channel]]
    names = ["x", "y", "z"]      # or name = "x"
    topic = "vehicle_local_position" # or type = "nav_msgs/msg/Odometry"
    instance = 0                 # optional: else the lowest that does not say the same all the time
    fields = ["x", "y", "z"]     # or field = "x", quaternion = [w, x, y, z], euler = [roll, pitch, yaw]
    axes = "ned"                 # optional: ned, enu, frd, flu; of an attitude ned-frd or enu-flu
    from = "m"                   # optional: the fields' unit, where the log does not say
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

func importTopics(f *format) *cobra.Command {
	var mapFile, preset, out, vehicle, base, frames string
	var all, printMap bool
	var gap, from, to time.Duration
	cmd := &cobra.Command{
		Use:   f.name + " (--preset NAME | --map map.toml) --out flight.msgpack " + f.what + " ...",
		Short: f.short,
		Long:  f.short + ".\nPresets: " + strings.Join(importer.Presets(), ", ") + "." + mapHelp,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if (mapFile == "") == (preset == "") {
				return cli.Usage("one of --map and --preset is needed; presets: %s", strings.Join(importer.Presets(), ", "))
			}
			if printMap && preset != "" {
				text, err := importer.PresetText(preset)
				if err == nil {
					_, err = io.WriteString(cmd.OutOrStdout(), text)
				}
				return err
			}
			if len(inputs) == 0 {
				return cli.Usage("name one log or several")
			}
			if out == "" {
				return cli.Usage(`required flag "out" not set`)
			}
			if err := cli.Outputs("--out", append([]string{mapFile}, inputs...), []string{out}); err != nil {
				return err
			}
			m, err := readMap(mapFile, preset)
			if err != nil {
				return err
			}
			if err := override(m, vehicle, base, frames, gap, from, to); err != nil {
				return err
			}
			show, done := progress()
			s, err := importer.Import(cmd.Context(), importer.Job{
				Format: f.name, Open: f.open, Map: m, Inputs: inputs, Out: out, All: all, Progress: show,
			})
			done()
			if err != nil {
				return err
			}
			return reportTopics(cmd.OutOrStdout(), s)
		},
	}
	cmd.Flags().StringVar(&mapFile, "map", "", "what is in the topics (toml)")
	cmd.Flags().StringVar(&preset, "preset", "", "a map that comes with the program: "+strings.Join(importer.Presets(), ", "))
	cmd.Flags().StringVar(&out, "out", "", "flight log to write")
	cmd.Flags().StringVar(&vehicle, "vehicle", "", "name of the robot, instead of the map's")
	cmd.Flags().StringVar(&base, "base", "", "topic whose stamps are the rows', instead of the map's")
	cmd.Flags().StringVar(&frames, "frames", "", "axes of the flight log, ned-frd or enu-flu, instead of the map's")
	cmd.Flags().DurationVar(&gap, "max-gap", 0, "gap that starts a segment, instead of the map's")
	cmd.Flags().DurationVar(&from, "from", 0, "cut, from the file's first message, instead of the map's")
	cmd.Flags().DurationVar(&to, "to", 0, "cut, from the file's first message, instead of the map's")
	cmd.Flags().BoolVar(&all, "all", false, "keep the robot on the ground, too: leave the map's phases out")
	cmd.Flags().BoolVar(&printMap, "print-map", false, "write the preset's map to standard output, and nothing else")
	return cmd
}

// readMap reads the map of a file or a preset.
func readMap(file, preset string) (*importer.Map, error) {
	if file != "" {
		return importer.ReadMap(file)
	}
	return importer.Preset(preset)
}

// override puts what the flags say into a map.
func override(m *importer.Map, vehicle, base, frames string, gap, from, to time.Duration) error {
	if vehicle != "" {
		m.Vehicle = vehicle
	}
	if base != "" {
		name, instance, err := splitTopic(base)
		if err != nil {
			return err
		}
		m.Time.Base, m.Time.Instance = name, instance
	}
	if frames != "" {
		m.Frames = frames
	}
	for _, f := range []struct {
		name  string
		value time.Duration
		into  *mapfile.Duration
	}{{"max-gap", gap, &m.Time.MaxGap}, {"from", from, &m.Time.From}, {"to", to, &m.Time.To}} {
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

// reportTopics says what was written and what the user should know about it.
func reportTopics(w io.Writer, s *importer.Summary) error {
	_, err := fmt.Fprintf(w, "wrote %s: vehicle %s, %s in %s, %.6g s\n", s.Out, s.Vehicle, cli.Count(s.Rows, "row"), cli.Count(s.Segments, "segment"), 1e-9*float64(s.Duration))
	derivatives(w, s.Found, s.Near)
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

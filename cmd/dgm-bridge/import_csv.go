package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func importCSV() *cobra.Command {
	var mapFile, out string
	cmd := &cobra.Command{
		Use:   "csv --map map.toml --out flight.msgpack FILE.csv ...",
		Short: "Turn tables of text (comma, semicolon or tab; .gz and .zst as well) into a flight log",
		Long: `Turn tables of text (comma, semicolon or tab separated; .gz and .zst as
well) into a flight log. Every file begins a segment. The map says what is in the
columns:

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
    any_rate = false             # optional: believe the unit though the rate is odd
    [[channel]]
    name = "theta"
    column = "theta"
    unit = "rad"
    role = "state"               # state, input or aux
    derivative = "omega"         # optional: the state that is this one's time derivative, or "none"; else detected
    period = 6.283185307179586   # optional: an angle
    invariant = true             # optional: the dynamics do not depend on it (a position)
    noise = 0.01                 # optional: known std of the sensor
    scale = 1.0                  # optional: value = scale * column + offset
    offset = 0.0
    frame = "ned"                # optional, free text
    [[attitude]]                 # optional: a quaternion becomes roll, pitch and yaw
    columns = ["qw", "qx", "qy", "qz"]
    order = "wxyz"               # or xyzw
    axes = "enu-flu"             # optional: those of the quaternion, or ned-frd
    frames = "ned-frd"           # optional: those of the log

    # A rigid body that flies: kinematics = "quadrotor", beside vehicle, says that the states x, y, z
    # move by vx, vy, vz, and roll, pitch, yaw by the body's rates p, q, r. It is held against the data.
    # Other names, a sign that is turned, a velocity in axes of the body:
    # [body]
    # position = ["x", "y", "-z"]
    # velocity = ["u", "v", "w"]
    # axes = "body"
    # attitude = ["phi", "theta", "psi"]
    # rates = ["p", "q", "r"]`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if err := cli.Outputs("--out", append([]string{mapFile}, inputs...), []string{out}); err != nil {
				return err
			}
			m, err := csv.ReadMap(mapFile)
			if err != nil {
				return err
			}
			show, done := progress()
			s, err := csv.Import(cmd.Context(), m, inputs, out, show)
			done()
			if err != nil {
				return err
			}
			return report(cmd.OutOrStdout(), m, s)
		},
	}
	cmd.Flags().StringVar(&mapFile, "map", "", "what is in the columns (toml)")
	cmd.Flags().StringVar(&out, "out", "", "flight log to write")
	for _, name := range []string{"map", "out"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// report says what was written and what the user should know about it.
func report(w io.Writer, m *csv.Map, s *csv.Summary) error {
	_, err := fmt.Fprintf(w, "wrote %s: vehicle %s, %s in %s, %.6g s\n", s.Out, m.Vehicle, cli.Count(s.Rows, "row"), cli.Count(s.Segments, "segment"), 1e-9*float64(s.Duration))
	derivatives(w, s.Found, s.Near)
	for _, text := range s.Remarks {
		fmt.Fprintln(w, text)
	}
	return err
}

// derivatives says which channels are others' derivatives, by the data.
func derivatives(w io.Writer, found, near []derivative.Found) {
	for _, f := range found {
		fmt.Fprintf(w, "derivative of %s is %s, by the data (slope %.4f, correlation %.4f)\n", f.Channel, f.Derivative, f.Slope, f.Correlation)
	}
	for _, f := range near {
		fmt.Fprintf(w, "derivative of %s is perhaps %s (slope %.4f, correlation %.4f): not taken; if it is, write derivative = %q, or mend scale\n",
			f.Channel, f.Derivative, f.Slope, f.Correlation, f.Derivative)
	}
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

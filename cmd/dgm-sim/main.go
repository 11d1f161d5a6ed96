// Command dgm-sim is the simulated firmware: it generates telemetry of known
// systems, as a log or live over NATS, with noise and sensor faults.
package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/firmware-sim/fault"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

func main() { cli.Main(command()) }

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "dgm-sim",
		Short: "Generate telemetry of known systems, recorded or live",
		Long: `dgm-sim simulates robots, their sensors, and available faults of both.

  dgm-sim list
  dgm-sim record --system pendulum --duration 120s --out flight.msgpack
  dgm-sim live --system quadrotor --vehicle quad1 --rate 200

The same seed gives the same flight, and recorded the same bytes.`,
	}
	root.AddCommand(recordCommand(), liveCommand(), listCommand())
	return root
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List systems, their channels and constants, and available faults",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range plant.All() {
				if err := describe(cmd.OutOrStdout(), &p); err != nil {
					return err
				}
			}
			return faults(cmd.OutOrStdout())
		},
	}
}

func describe(out io.Writer, p *plant.Plant) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s\n", p.Name, p.Text)
	for i, c := range p.States {
		fmt.Fprintf(w, "  state\t%s\t%s\tnoise %g\tbegins at %.4g\n", c.Name, c.Unit, p.Noise[i], p.X0[i])
	}
	for _, c := range channel.Select(p.Inputs, channel.Input) {
		fmt.Fprintf(w, "  input\t%s\t%s\t\t\n", c.Name, c.Unit)
	}
	for _, q := range p.Params {
		fmt.Fprintf(w, "  param\t%s\t%s\t%.6g\t\n", q.Name, q.Unit, q.Value)
	}
	for _, d := range p.Disturbances {
		fmt.Fprintf(w, "  wind\t%s\t%s\t\t\n", d.Name, d.Unit)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

func faults(out io.Writer) error {
	if _, err := fmt.Fprintln(out, "available faults, by --fault; @name or @name,name limits one to some states, or inputs:"); err != nil {
		return err
	}
	for _, s := range fault.Syntax() {
		if _, err := fmt.Fprintln(out, "  "+s); err != nil {
			return err
		}
	}
	return nil
}

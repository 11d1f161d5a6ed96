package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
)

// operator are the flags of commands that decide what vehicles use.
type operator struct {
	server       link.Flags
	sign         string
	group, model string
}

func (o *operator) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.sign, "sign", "", "the operator's private `key` (PEM, ed25519), which signs models for their vehicles")
	f.StringVar(&o.group, "group", "", "`group` of vehicles, or one vehicle")
	o.server.Add(f)
}

func (o *operator) addModel(cmd *cobra.Command, standard string) {
	cmd.Flags().StringVar(&o.model, "model", standard, "ID of the model or its beginning, a tag, or newest: that of the first vehicle")
}

// decide calls do with the installations of the fleet, to decide with the operator's key.
func (o *operator) decide(cmd *cobra.Command, do func(ctx context.Context, in *fleet.Installer) error) error {
	if o.sign == "" {
		return cli.Usage("--sign, the operator's private key, is missing: every decision is signed")
	}
	key, err := keys.Private(o.sign)
	if err != nil {
		return err
	}
	nc, err := connect(cmd, &o.server)
	if err != nil {
		return err
	}
	defer nc.Close()
	in, err := fleet.OpenInstaller(cmd.Context(), nc, key)
	if err != nil {
		return err
	}
	return do(cmd.Context(), in)
}

// change changes what a vehicle uses.
type change func(ctx context.Context, vehicle string) (fleet.Installation, error)

// each changes the installation of every vehicle of the group, as prepare says for all of them. One that fails does not keep the others.
func (o *operator) each(cmd *cobra.Command, prepare func(ctx context.Context, in *fleet.Installer, g fleet.Group) (change, error)) error {
	if o.group == "" {
		return cli.Usage("--group, a group of vehicles or one vehicle, is missing")
	}
	return o.decide(cmd, func(ctx context.Context, in *fleet.Installer) error {
		g, err := in.Group(ctx, o.group)
		if err != nil {
			return err
		}
		change, err := prepare(ctx, in, g)
		if err != nil {
			return err
		}
		var failed error
		for _, v := range g.Vehicles {
			i, err := change(ctx, v)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			if err := printInstallation(cmd.OutOrStdout(), &i); err != nil {
				return err
			}
		}
		return failed
	})
}

func printInstallation(out io.Writer, i *fleet.Installation) error {
	text := i.Vehicle + ": nothing is installed"
	if i.Flown != nil {
		text = fmt.Sprintf("%s: model %s, statement %d: %s", i.Vehicle, i.Flown.Model, i.Flown.Sequence, i.Reason)
	}
	if i.Pin != "" {
		text += "; pinned to " + i.Pin
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

func promoteCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "promote --group vehicle --model ID --sign private.pem",
		Short: "Let vehicles use a model at once, without a trial",
		Long: `Sign a model for each vehicle of a group and let them use it, without a trial as shadow and canary (for
that see dgm-fleet rollout). A vehicle swaps when it is permitted: see swap in the settings of dgm-estimator.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.each(cmd, func(ctx context.Context, in *fleet.Installer, g fleet.Group) (change, error) {
				m, err := in.Find(ctx, g.Vehicles[0], o.model) // once: a newer one may be trained meanwhile
				if err != nil {
					return nil, err
				}
				return func(ctx context.Context, v string) (fleet.Installation, error) {
					return in.Promote(ctx, v, m.Ref(), "promoted by an operator")
				}, nil
			})
		},
	}
	o.add(cmd)
	o.addModel(cmd, fleet.Newest)
	return cmd
}

func rollbackCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "rollback --group vehicle --sign private.pem",
		Short: "Return vehicles to their previous model; a second rollback undoes the first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.each(cmd, func(_ context.Context, in *fleet.Installer, _ fleet.Group) (change, error) {
				return func(ctx context.Context, v string) (fleet.Installation, error) {
					return in.Rollback(ctx, v, "rolled back by an operator")
				}, nil
			})
		},
	}
	o.add(cmd)
	return cmd
}

func pinCommand() *cobra.Command {
	var o operator
	var none bool
	cmd := &cobra.Command{
		Use:   "pin --group vehicle --model tag --sign private.pem",
		Short: "Pin vehicles to a model by ID or tag: no rollout changes it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if none == (o.model != "") || o.model == fleet.Newest {
				return cli.Usage("give --model, an ID or a tag, or --none")
			}
			return o.each(cmd, func(_ context.Context, in *fleet.Installer, _ fleet.Group) (change, error) {
				return func(ctx context.Context, v string) (fleet.Installation, error) { return in.Pin(ctx, v, o.model) }, nil
			})
		},
	}
	o.add(cmd)
	o.addModel(cmd, "")
	cmd.Flags().BoolVar(&none, "none", false, "release the pin; the model stays until another one is promoted")
	return cmd
}

func tagCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "tag NAME --model ID --sign private.pem",
		Short: "Give a model a tag; vehicles pinned to the tag follow",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.decide(cmd, func(ctx context.Context, in *fleet.Installer) error {
				m, err := in.Find(ctx, o.group, o.model)
				if err != nil {
					return err
				}
				if err := in.Tag(ctx, args[0], &m); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is model %s of %s\n", args[0], m.ID, m.Job.Vehicle)
				return err
			})
		},
	}
	o.add(cmd)
	o.addModel(cmd, fleet.Newest)
	return cmd
}

func groupCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "group NAME CANARY VEHICLE … --sign private.pem",
		Short: "Make a group of vehicles; the first is the canary of its rollouts",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.decide(cmd, func(ctx context.Context, in *fleet.Installer) error {
				if err := in.SetGroup(ctx, fleet.Group{Name: args[0], Vehicles: args[1:]}); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "group %s: canary %s, %s\n", args[0], args[1], cli.Count(len(args)-1, "vehicle"))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&o.sign, "sign", "", "the operator's private `key` (PEM, ed25519)")
	o.server.Add(cmd.Flags())
	return cmd
}

// wholeID matches the ID of a model, not the beginning of one or a tag.
var wholeID = regexp.MustCompile("^[0-9a-f]{16}$")

func revokeCommand() *cobra.Command {
	var o operator
	reason := ""
	cmd := &cobra.Command{
		Use:   "revoke --model ID --reason TEXT --sign private.pem",
		Short: "Revoke a model for all vehicles",
		Long: `Revoke a model for all vehicles. Vehicles that use it return to their previous model; a vehicle without one is named, and needs
another model promoted. No command installs the model again, and each vehicle refuses it from the next model on that it receives.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.model == "" || reason == "" {
				return cli.Usage("give --model, the ID, and --reason, which is stored")
			}
			return o.decide(cmd, func(ctx context.Context, in *fleet.Installer) error {
				id := o.model
				if !wholeID.MatchString(id) { // a whole ID needs no entry, which workers write
					m, err := in.Find(ctx, "", id)
					if err != nil {
						return err
					}
					id = m.ID
				}
				changed, err := in.Revoke(ctx, id, reason)
				for _, i := range changed {
					if err := printInstallation(cmd.OutOrStdout(), &i); err != nil {
						return err
					}
				}
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "model %s is revoked\n", id)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "`ID` of the model or its beginning, or a tag")
	f.StringVar(&o.sign, "sign", "", "the operator's private `key` (PEM, ed25519)")
	f.StringVar(&reason, "reason", "", "why")
	o.server.Add(f)
	return cmd
}

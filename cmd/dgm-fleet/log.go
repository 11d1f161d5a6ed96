package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// statusWait is how long is waited for what vehicles report, which they do once a second.
const statusWait = 1500 * time.Millisecond

// logged is what the command says.
type logged struct {
	*fleet.DecisionLog
	Verified bool     `json:"verified"` // with a public key
	Problems []string `json:"problems"` // of the log as a whole, and of what vehicles use
	OK       bool     `json:"ok"`
}

func logCommand() *cobra.Command {
	var server link.Flags
	var public, headFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log --public-key public.pem [--head FILE]",
		Short: "Verify and list all decisions about models of vehicles",
		Long: `Every decision about models (promote, rollback, pin, rollout, tag, group, revoke) is a signed statement in a log from which no
message can be removed: each has its position, and the hash of the one before. The command verifies the whole log, and compares it with
the decisions that vehicles report to follow. With --head it also checks that the log still contains the last decision of the previous
run, which detects a log that was replaced as a whole, and stores the newest decision in the file.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := publicKey(public)
			if err != nil {
				return err
			}
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			l, err := examineLog(cmd.Context(), nc, key, headFile)
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				err = e.Encode(l)
			} else {
				err = l.print(cmd.OutOrStdout())
			}
			if err == nil && !l.OK {
				err = errors.New("the log of decisions was changed, or vehicles do not follow it")
			}
			return err
		},
	}
	f := cmd.Flags()
	addPublicKey(cmd, &public)
	f.StringVar(&headFile, "head", "", "`file` with the last decision of the last run")
	f.BoolVar(&asJSON, "json", false, "write JSON")
	server.Add(f)
	return cmd
}

// addPublicKey adds the flag of the key that verifies decisions.
func addPublicKey(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "public-key", "", "public `key` of the operator (PEM, ed25519); without it signatures are not verified")
}

// publicKey reads the key of that flag, nil where none is given.
func publicKey(path string) (ed25519.PublicKey, error) {
	if path == "" {
		return nil, nil
	}
	return keys.Public(path)
}

// examineLog verifies the log and what vehicles report, and keeps its last decision in a file.
func examineLog(ctx context.Context, nc *nats.Conn, key ed25519.PublicKey, headFile string) (*logged, error) {
	robots, err := fleet.Listen(nc)
	if err != nil {
		return nil, err
	}
	defer robots.Close()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(statusWait):
	}
	all, err := fleet.ReadDecisions(ctx, nc, key) // after what vehicles say
	if err != nil {
		return nil, err
	}
	l := &logged{DecisionLog: all, Verified: key != nil, Problems: []string{}}
	follows := true
	if headFile != "" {
		was, err := os.ReadFile(headFile)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		err = all.Follows(strings.TrimSpace(string(was)))
		if follows = err == nil; !follows {
			l.Problems = append(l.Problems, err.Error())
		}
	}
	l.Problems = append(l.Problems, all.Witnesses(robots)...)
	l.OK = len(l.Problems) == 0 && len(l.Faults) == 0
	if headFile != "" && l.Verified && follows { // what is wrong besides stays in the log
		return l, durable.WriteFile(headFile, []byte(all.Head+"\n"))
	}
	return l, nil
}

func (l *logged) print(out io.Writer) error {
	var b strings.Builder
	for _, d := range l.Decisions {
		fmt.Fprintf(&b, "%6d  %s  %-12s %-20s %-16s %.16s\n", d.Number, d.Time.UTC().Format(time.DateTime), d.Purpose, d.Name, d.Model, d.Hash)
	}
	for _, text := range append(append([]string{}, l.Faults...), l.Problems...) {
		fmt.Fprintf(&b, "! %s\n", text)
	}
	how := "each signed by the key, and each follows the one before"
	if !l.Verified {
		how = "each follows the one before; no signature was verified: give --public-key"
	}
	if l.OK {
		fmt.Fprintf(&b, "%s: %s. The last one is %.16s.\n", cli.Count(len(l.Decisions), "decision"), how, l.Head)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// A file that is missing is answered with what to check and what writes such files.
func TestMissingFilesHaveARemedy(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("monday.msgpack"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		remedy string
		args   []string
	}{
		{"no such file or directory; check the path (dgm-train writes models)\n", []string{in("a.dgm")}},
		{"no such file or directory; check the path\n", []string{in("a.ulg")}},
		{"check the path: did you mean " + in("monday.msgpack") + "? (dgm-bridge import,", []string{in("mondy.msgpack")}},
		{"check the path: there is no folder " + in("none") + "\n", []string{in("none/a.ulg")}},
		{"check --map (dgm-bridge topics FILE --suggest > map.toml writes a map)\n", []string{"--map", in("a.toml")}},
		{"check --log: did you mean", []string{"--log", in("monday.msgpack"), "--log", in("tmonday.msgpack")}},
		{"check --config\n", []string{"--config", in("a.toml")}},
		{"is a directory; name a file in it\n", []string{dir}},
		{"cannot be read; make it anew\n", []string{"--own", in("a.dgm")}},
	} {
		cmd := &cobra.Command{Use: "tool"}
		var paths []string
		logs := cmd.Flags().StringArray("log", nil, "")
		values := map[string]*string{}
		for _, name := range []string{"map", "config", "own"} {
			values[name] = cmd.Flags().String(name, "", "")
		}
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			paths = append(args, *logs...)
			for _, v := range values {
				paths = append(paths, *v)
			}
			for _, path := range paths {
				if path == "" {
					continue
				}
				_, err := os.ReadFile(path)
				switch {
				case err != nil && *values["own"] != "":
					return fmt.Errorf("%w: cannot be read; make it anew", err)
				case err != nil:
					return fmt.Errorf("settings: %w", err)
				}
			}
			return nil
		}
		cmd.SetArgs(c.args)
		var errs bytes.Buffer
		cmd.SetErr(&errs)
		if code := cli.Run(context.Background(), cmd); code != cli.Failed || !strings.Contains(errs.String(), c.remedy) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q, not %q", c.args, code, errs.String(), c.remedy)
		}
	}
}

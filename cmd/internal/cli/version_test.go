package cli

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestVersion(t *testing.T) {
	v := "v" + Number()
	for want, info := range map[string]*debug.BuildInfo{
		v + ", go": {Main: debug.Module{Version: "v1.2.3"}},
		v + ", revision 0123456789ab of 2026-11-21T10:00:00Z, modified, go": {
			Main: debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{
				{Key: "vcs", Value: "git"},
				{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
				{Key: "vcs.time", Value: "2026-11-21T10:00:00Z"},
				{Key: "vcs.modified", Value: "true"},
			},
		},
	} {
		if got := version(info); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " "+runtime.GOOS+"/"+runtime.GOARCH) {
			t.Errorf("%q, want %q and the platform", got, want)
		}
	}
}

// Packages of other languages have the number of the programs.
func TestPackagesHaveTheNumber(t *testing.T) {
	for path, want := range map[string]string{
		"../../../python/pyproject.toml":  `version = {file = "VERSION"}`,
		"../../../python/VERSION":         Number(),
		"../../../python/ros/package.xml": "<version>" + Number() + "</version>",
		"../../../python/ros/setup.py":    `version="` + Number() + `"`,
		"../../../CHANGELOG.md":           "## " + Number(),
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), want) {
			t.Errorf("%s has no %q", path, want)
		}
	}
}

func TestEveryCommandPrintsItsVersion(t *testing.T) {
	root := &cobra.Command{Use: "tool", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return Usage("no") }}
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"--version"})
	if code := Run(context.Background(), root); code != Done || out.String() != "tool "+Version()+"\n" {
		t.Errorf("exit %d, %q", code, out.String())
	}
}

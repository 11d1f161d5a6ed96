package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// errVersion ends a run that only asks for the version.
var errVersion = errors.New("version")

// versionFlag adds --version to the root of a tree of commands; a run with it ends
// by errVersion.
//
// Cobra's own flag prints by a template, and in a program that links text/template
// the linker keeps every exported method of every type: 2.8 MB of dgm-estimator.
func versionFlag(root *cobra.Command) {
	short := "v"
	if root.Flags().ShorthandLookup(short) != nil || root.PersistentFlags().ShorthandLookup(short) != nil {
		short = ""
	}
	asked := root.Flags().BoolP("version", short, false, "version for "+root.Name())
	args := root.Args
	root.Args = func(cmd *cobra.Command, words []string) error {
		if *asked {
			return errVersion
		}
		if args == nil {
			return nil
		}
		return args(cmd, words)
	}
}

// Version returns the build of this program: version of the module, revision of the
// source where the build recorded it, toolchain and platform.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	text := cmp.Or(info.Main.Version, "(devel)")
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	// A version that was made up from the revision holds it.
	if r := set["vcs.revision"]; r != "" && !strings.Contains(text, r[:min(12, len(r))]) {
		text += ", revision " + r[:min(12, len(r))]
		if t := set["vcs.time"]; t != "" {
			text += " of " + t
		}
		if set["vcs.modified"] == "true" {
			text += ", modified"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

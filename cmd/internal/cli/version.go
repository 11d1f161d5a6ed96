package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version tells what this program was built from: version of the module, revision
// of the source where the build recorded it, toolchain and platform.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
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

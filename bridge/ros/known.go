package ros

import (
	_ "embed"
	"strings"
)

//go:embed definitions.msg
var known string

// definition returns that of a type that comes with ROS, with all that it may hold: older bags have none, and recorders leave out those
// that they do not find.
func definition(kind string) ([]byte, bool) {
	parts := strings.Split(kind, "/")
	own := "MSG: " + parts[0] + "/" + parts[len(parts)-1] + "\n"
	for section := range strings.SplitSeq(known, "===\n") {
		if text, ok := strings.CutPrefix(section, own); ok {
			return []byte(text + "===\n" + known), true
		}
	}
	return nil, false
}

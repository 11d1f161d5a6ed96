package ardupilot

import (
	"math"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// firstTime returns the time (ns) of the first record at the beginning of a log that has one: the
// records ahead of it, which describe formats, are not older. 0 where none has.
func firstTime(head []byte) int64 {
	formats := [256]*format{idFMT: &builtin}
	for n := 0; n+headSize <= len(head); {
		f := formats[head[n+2]]
		if head[n] != magic1 || head[n+1] != magic2 || f == nil {
			n++
			continue
		}
		if n+f.length > len(head) {
			break
		}
		content := head[n+headSize : n+f.length]
		if g, err := parseFMT(content); f.name == "FMT" && err == nil && formats[g.id] == nil {
			formats[g.id] = g
		}
		if a, unit := f.time(); a.kind != number.None {
			if v := a.read(content); v >= 0 && v*float64(unit) < math.MaxInt64/2 {
				return int64(v) * unit
			}
		}
		n += f.length
	}
	return 0
}

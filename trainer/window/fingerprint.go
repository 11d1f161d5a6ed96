package window

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Fingerprint returns a hash of what is learned from a segment: 16 hexadecimal digits of the
// SHA-256 of its times after the first sample, states and inputs. Two copies of a recording
// have the same.
func Fingerprint(seg *flightlog.Segment) string {
	after := make([]int64, len(seg.T))
	for i, t := range seg.T {
		after[i] = t - seg.T[0]
	}
	h := sha256.New()
	for _, v := range []any{after, seg.X, seg.U} {
		binary.Write(h, binary.LittleEndian, v) // to a hash, which does not fail
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

package window

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
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

// Distinct returns an error if a recording is in the logs twice: the same states
// and inputs at the same times after its first sample.
func Distinct(logs []*flightlog.Log) error {
	type place struct {
		log     *flightlog.Log
		segment int
	}
	seen := map[string]place{}
	for _, log := range logs {
		k := len(channel.Select(log.Channels, channel.State))
		for s := range log.Segments {
			seg := &log.Segments[s]
			if !moves(seg.X, k) {
				continue // two rests may well be alike
			}
			key := Fingerprint(seg)
			first, twice := seen[key]
			if !twice {
				seen[key] = place{log, s}
				continue
			}
			return fmt.Errorf("%s: segment %d (%q) has the same samples as segment %d (%q) of %s: give every recording once, or held-out samples are trained on, too",
				log.Path, s+1, seg.Name, first.segment+1, first.log.Segments[first.segment].Name, first.log.Path)
		}
	}
	return nil
}

// moves reports whether the rows of x are not all alike.
func moves(x []float64, width int) bool {
	for i := width; i+width <= len(x); i += width {
		if !slices.Equal(x[i:i+width], x[:width]) {
			return true
		}
	}
	return false
}

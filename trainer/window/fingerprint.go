package window

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
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
	r := Recordings{}
	for _, log := range logs {
		if err := r.Add(log); err != nil {
			return err
		}
	}
	return nil
}

// Recordings are those of several logs, by their Fingerprint.
type Recordings map[string]place

// place is a segment of a log.
type place struct {
	path, name string
	segment    int
}

// Add adds those of a log. If one is there already, it returns an error, and adds none.
func (r Recordings) Add(log *flightlog.Log) error {
	k := len(channel.Select(log.Channels, channel.State))
	added := Recordings{}
	for s := range log.Segments {
		seg := &log.Segments[s]
		if !moves(seg.X, k) {
			continue // two rests may well be alike
		}
		key := Fingerprint(seg)
		first, twice := r[key]
		if !twice {
			first, twice = added[key]
		}
		if twice {
			return fmt.Errorf("%s: segment %d (%q) has the same samples as segment %d (%q) of %s: give every recording once, or held-out samples are trained on, too",
				log.Path, s+1, seg.Name, first.segment+1, first.name, first.path)
		}
		added[key] = place{log.Path, seg.Name, s}
	}
	maps.Copy(r, added)
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

package adapt

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// What was learned is kept over a restart as an array of msgpack:
//
//	[ "dgm-adaptation", 6, kind, time (ns, Unix), numbers (bin of float64, see State.Numbers), CRC-32C of these ]

const (
	savedMagic   = "dgm-adaptation"
	savedVersion = 6 // of older ones rates, parameters and covariance are restored
	longestKind  = 1 << 16
	mostNumbers  = 1 << 20
)

var (
	errSaved   = errors.New("adaptation: not what an adaptation has saved")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Append appends a state, learned up to a time (ns, Unix), to dst.
func (s *State) Append(dst []byte, unix int64) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		from := w.Len()
		w.Array(6)
		w.String(savedMagic)
		w.Int(savedVersion)
		w.String(s.Kind)
		w.Int(unix)
		w.Floats(s.Numbers(nil))
		w.Uint(uint64(crc32.Checksum(w.Bytes()[from:], castagnoli)))
	})
}

// RestoreSaved is Restore of the output of Append, at a time, ns, Unix. A state from the future is not restored,
// because its age is unknown.
func (f *Filter) RestoreSaved(b []byte, unix int64) error {
	r := msgbin.NewReader(b)
	if n, err := r.Array(6); err != nil || n != 6 {
		return errSaved
	}
	if magic, err := r.StringBytes(32); err != nil || string(magic) != savedMagic {
		return errSaved
	}
	version, err := r.Int64()
	if err != nil || version < 1 || version > savedVersion {
		return fmt.Errorf("%w: of version %d, this program reads %d", errSaved, version, savedVersion)
	}
	kind, err := r.StringBytes(longestKind)
	if err != nil {
		return errSaved
	}
	s := f.state.Clone()
	s.Kind = string(kind)
	if s.Kind != f.state.Kind {
		return s.check(&f.state)
	}
	at, err := r.Int64()
	if err != nil {
		return errSaved
	}
	numbers, err := r.AppendFloats(nil, mostNumbers)
	if err != nil {
		return errSaved
	}
	to := r.Offset()
	if sum, err := r.Uint64(); err != nil || sum != uint64(crc32.Checksum(b[:to], castagnoli)) || r.Left() > 0 {
		return fmt.Errorf("%w: its checksum does not fit", errSaved)
	}
	if at > unix {
		return fmt.Errorf("adaptation: the saved state is %.0f s in the future: was the clock set?", seconds(at-unix))
	}
	if n := s.robot(); version < savedVersion && len(numbers) > n {
		f.initialise(s)
		numbers = append(numbers[:n], s.Numbers(nil)[n:]...)
	}
	if err := s.SetNumbers(numbers); err != nil {
		return err
	}
	return f.Restore(s, math.Max(seconds(unix-at), 0))
}

package trust

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// The state of a monitor is kept over a restart as an array of msgpack:
//
//	[ "dgm-trust", 1, model, buckets (bin of B float64), series (B×K bins of float64), CRC-32C of the series ]
//
// A series is checks, coverage, recalibrated, nees, α, R of each alternative, alarm
// on (0 or 1), evidence of coverage, then the scores from the oldest on.

const (
	stateMagic   = "dgm-trust"
	stateVersion = 1
	seriesSize   = 7 + len(alternatives) + recent
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the state of a monitor of the model with the given ID to dst.
func (m *Monitor) Append(dst []byte, model string) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		w.Array(6)
		w.String(stateMagic)
		w.Int(stateVersion)
		w.String(model)
		w.Floats(m.until)
		w.Array(len(m.series))
		from := w.Len()
		v := make([]float64, 0, seriesSize)
		for i := range m.series {
			s := &m.series[i]
			v = append(v[:0], s.checks, s.coverage, s.recalibrated, s.nees, s.alpha)
			v = append(v, s.alarm.r[:]...)
			v = append(v, indicator(s.alarm.on), s.alarm.evidence)
			for j := range recent {
				v = append(v, float64(s.scores.order[(s.scores.next+j)%recent]))
			}
			w.Floats(v)
		}
		w.Uint(uint64(crc32.Checksum(w.Bytes()[from:], castagnoli)))
	})
}

var (
	errState = errors.New("not the state of a trust monitor")
	errOther = errors.New("of another model")
)

// Restore sets the state that Append wrote for the same model. On an error nothing
// is changed.
func (m *Monitor) Restore(b []byte, model string) error {
	r := msgbin.NewReader(b)
	n, err := r.Array(6)
	if err != nil || n != 6 {
		return errState
	}
	if magic, err := r.StringBytes(32); err != nil || string(magic) != stateMagic {
		return errState
	}
	if v, err := r.Int64(); err != nil || v != stateVersion {
		return fmt.Errorf("%w: of version %d, this program reads %d", errState, v, stateVersion)
	}
	if id, err := r.StringBytes(64); err != nil || string(id) != model {
		return fmt.Errorf("%w: %q, and this is %q", errOther, id, model)
	}
	buckets, err := r.AppendFloats(nil, len(m.until))
	if err != nil || !slices.Equal(buckets, m.until) {
		return fmt.Errorf("%w: its buckets are %v, and these are %v", errOther, buckets, m.until)
	}
	if n, err = r.Array(len(m.series)); err != nil || n != len(m.series) {
		return fmt.Errorf("%w: it has %d series, and there are %d", errOther, n, len(m.series))
	}
	from := r.Offset()
	read := make([]series, len(m.series))
	for i := range read {
		read[i].reset(m.limit(i / m.cfg.K))
		v, err := r.AppendFloats(nil, seriesSize)
		if err != nil || len(v) != seriesSize || !read[i].set(v) {
			return fmt.Errorf("%w: series %d is damaged", errState, i)
		}
	}
	to := r.Offset()
	if sum, err := r.Uint64(); err != nil || sum != uint64(crc32.Checksum(b[from:to], castagnoli)) || r.Left() > 0 {
		return fmt.Errorf("%w: its checksum does not fit", errState)
	}
	copy(m.series, read)
	m.forget()
	return nil
}

// set sets the numbers of Append; ok is false where they are invalid.
func (s *series) set(v []float64) (ok bool) {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1e300 {
			return false
		}
	}
	s.checks, s.coverage, s.recalibrated, s.nees, s.alpha = v[0], v[1], v[2], v[3], v[4]
	v = v[5:]
	copy(s.alarm.r[:], v)
	v = v[len(alternatives):]
	s.alarm.on, s.alarm.evidence = v[0] != 0, v[1]
	for j, x := range v[2:] {
		if x < 0 || x > 1e6 {
			return false
		}
		s.scores.order[j] = float32(x)
	}
	s.scores.next = 0
	s.scores.sorted = s.scores.order
	slices.Sort(s.scores.sorted[:])
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	if s.alpha < -100 || s.alpha > 2 || s.checks < 0 || !share(s.coverage) || !share(s.recalibrated) || s.nees < 0 || s.nees > mostSquared || s.alarm.evidence < 0 {
		return false
	}
	for _, r := range s.alarm.r {
		if r < 0 {
			return false
		}
	}
	s.factor = min(max(s.scores.above(s.alpha), lowest), highest)
	return true
}

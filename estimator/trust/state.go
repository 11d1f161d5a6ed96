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
//	[ "dgm-trust", 1, model, buckets (bin of B float64), series (B×K bins of float64), CRC-32C of the series, tubes (a bin), CRC-32C of it ]
//
// The last two are absent in states of earlier releases.
//
// A series is checks, coverage, recalibrated, nees, α, R of each alternative, alarm
// on (0 or 1), evidence of coverage, the scores from the oldest on, then the weights of the experts, which states of earlier releases have not. The tubes are checks,
// coverage and α of each level, then the scores.

const (
	stateMagic   = "dgm-trust"
	stateVersion = 1
	earlierSize  = 7 + len(alternatives) + recent // of a series in states of earlier releases
	seriesSize   = earlierSize + experts
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the state of a monitor of the model with the given ID to dst.
func (m *Monitor) Append(dst []byte, model string) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		w.Array(8)
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
			w.Floats(append(s.scores.longest().append(v), s.scores.weights[:]...))
		}
		w.Uint(uint64(crc32.Checksum(w.Bytes()[from:], castagnoli)))
		t := &m.tubes
		from = w.Len()
		v = append(append(append(v[:0], t.checks), t.covered[:]...), t.alpha[:]...)
		w.Floats(t.scores.ring().append(v))
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
	parts, err := r.Array(8)
	if err != nil || parts != 6 && parts != 8 {
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
	n, err := r.Array(len(m.series))
	if err != nil || n != len(m.series) {
		return fmt.Errorf("%w: it has %d series, and there are %d", errOther, n, len(m.series))
	}
	from := r.Offset()
	read := make([]series, len(m.series))
	for i := range read {
		read[i].reset(m.limit(i / m.cfg.K))
		v, err := r.AppendFloats(nil, seriesSize)
		if err != nil || len(v) != seriesSize && len(v) != earlierSize || !read[i].set(v) {
			return fmt.Errorf("%w: series %d is damaged", errState, i)
		}
	}
	to := r.Offset()
	if sum, err := r.Uint64(); err != nil || sum != uint64(crc32.Checksum(b[from:to], castagnoli)) {
		return fmt.Errorf("%w: its checksum does not fit", errState)
	}
	var t tubes
	if t.reset(); parts == 8 && !t.restore(r, b) || r.Left() > 0 {
		return fmt.Errorf("%w: its tubes are damaged", errState)
	}
	copy(m.series, read)
	m.tubes = t
	m.forget()
	return nil
}

// restore reads the tubes of a state.
func (t *tubes) restore(r *msgbin.Reader, state []byte) (ok bool) {
	from, n := r.Offset(), len(levels)
	v, err := r.AppendFloats(nil, 1+2*n+recent)
	if err != nil || len(v) != 1+2*n+recent {
		return false
	}
	to := r.Offset()
	if sum, err := r.Uint64(); err != nil || sum != uint64(crc32.Checksum(state[from:to], castagnoli)) {
		return false
	}
	t.checks = v[0]
	copy(t.covered[:], v[1:])
	copy(t.alpha[:], v[1+n:])
	for l := range levels {
		if !(t.covered[l] >= 0 && t.covered[l] <= 1 && t.alpha[l] >= -100 && t.alpha[l] <= 2) {
			return false
		}
	}
	return t.checks >= 0 && t.scores.ring().set(v[1+2*n:])
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
	if v = v[2:]; !s.scores.restore(v[:recent], v[recent:]) {
		return false
	}
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	if s.alpha < -100 || s.alpha > 2 || s.checks < 0 || !share(s.coverage) || !share(s.recalibrated) || s.nees < 0 || s.nees > mostSquared || s.alarm.evidence < 0 {
		return false
	}
	for _, r := range s.alarm.r {
		if r < 0 {
			return false
		}
	}
	s.alpha = min(max(s.alpha, leastAlpha), mostAlpha) // of an earlier release
	s.factor = s.scores.above(s.alpha)
	return true
}

package journal

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// appendRecord appends a whole record.
func appendRecord(dst []byte, k Kind, payload []byte) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) { w.Record(uint8(k), payload) })
}

func (h *Header) append(w *msgbin.Writer) {
	w.Array(15)
	w.String(magic)
	w.Int(version)
	for _, s := range [...]string{h.Vehicle, h.Instance, h.Platform} {
		w.String(s)
	}
	w.Floats(h.Times)
	w.Float64(h.Rate)
	w.Bool(h.RobotClock)
	for _, d := range [...]int64{h.Validity, h.Deadline, h.AgeLimit, h.FalseAlarms} {
		w.Int(d)
	}
	for _, on := range [...]bool{h.NoTrust, h.Chain, h.Fast} {
		w.Bool(on)
	}
}

func (m *Model) append(w *msgbin.Writer, number uint64) {
	w.Array(3)
	w.Uint(number)
	w.Bin(m.File)
	w.Bin(m.Trust)
}

func (s *State) append(w *msgbin.Writer, number uint64) {
	w.Array(5)
	w.Uint(number)
	w.Int(s.At)
	w.Int(s.Age)
	w.Int(s.Period)
	w.Bin(s.Message)
}

func (p *Prediction) append(w *msgbin.Writer, number uint64) {
	n := 9
	if p.Outcome == OK {
		n += 5 + len(p.Digests)
	}
	w.Array(n)
	w.Uint(number)
	w.Uint(p.Tick)
	w.Int(p.Due)
	w.Int(p.End)
	w.Int(p.Unix)
	w.Int(int64(p.Level))
	w.Bool(p.Fresh)
	w.Bool(p.Contested)
	w.String(p.Outcome)
	if p.Outcome != OK {
		return
	}
	w.Uint(p.Seq)
	w.Int(p.T)
	w.Int(p.ValidUntil)
	w.Uint(p.Flags)
	w.Int(int64(p.Points))
	for _, d := range p.Digests {
		w.Uint(d)
	}
}

package journal

import "github.com/dgm-robotics/dgm/estimator/msgbin"

func (h *Header) append(dst []byte) []byte {
	dst = msgbin.AppendArrayHeader(dst, 15)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, magic), version)
	for _, s := range [...]string{h.Vehicle, h.Instance, h.Platform} {
		dst = msgbin.AppendString(dst, s)
	}
	dst = msgbin.AppendFloats(dst, h.Times)
	dst = msgbin.AppendFloat64(dst, h.Rate)
	dst = msgbin.AppendBool(dst, h.RobotClock)
	for _, d := range [...]int64{h.Validity, h.Deadline, h.AgeLimit, h.FalseAlarms} {
		dst = msgbin.AppendInt(dst, d)
	}
	return msgbin.AppendBool(msgbin.AppendBool(msgbin.AppendBool(dst, h.NoTrust), h.Chain), h.Fast)
}

func (m *Model) append(dst []byte, number uint64) []byte {
	dst = msgbin.AppendUint(msgbin.AppendArrayHeader(dst, 3), number)
	return msgbin.AppendBin(msgbin.AppendBin(dst, m.File), m.Trust)
}

func (s *State) append(dst []byte, number uint64) []byte {
	dst = msgbin.AppendUint(msgbin.AppendArrayHeader(dst, 5), number)
	dst = msgbin.AppendInt(msgbin.AppendInt(msgbin.AppendInt(dst, s.At), s.Age), s.Period)
	return msgbin.AppendBin(dst, s.Message)
}

func (p *Prediction) append(dst []byte, number uint64) []byte {
	n := 9
	if p.Outcome == OK {
		n += 5 + len(p.Digests)
	}
	dst = msgbin.AppendUint(msgbin.AppendUint(msgbin.AppendArrayHeader(dst, n), number), p.Tick)
	dst = msgbin.AppendInt(msgbin.AppendInt(msgbin.AppendInt(dst, p.Due), p.End), p.Unix)
	dst = msgbin.AppendInt(dst, int64(p.Rung))
	dst = msgbin.AppendBool(msgbin.AppendBool(dst, p.Fresh), p.Contested)
	dst = msgbin.AppendString(dst, p.Outcome)
	if p.Outcome != OK {
		return dst
	}
	dst = msgbin.AppendInt(msgbin.AppendInt(msgbin.AppendUint(dst, p.Seq), p.T), p.ValidUntil)
	dst = msgbin.AppendInt(msgbin.AppendUint(dst, p.Flags), int64(p.Points))
	for _, d := range p.Digests {
		dst = msgbin.AppendUint(dst, d)
	}
	return dst
}

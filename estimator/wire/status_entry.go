package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

func (r *ReasonCount) append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, 4)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "reason"), r.Reason)
	dst = msgbin.AppendUint(msgbin.AppendString(dst, "count"), r.Count)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "text"), r.Text)
	return msgbin.AppendString(msgbin.AppendString(dst, "last"), r.Last)
}

func (r *ReasonCount) decode(f *fields) error {
	*r = ReasonCount{}
	return f.entry("reasons", func(e *fields, key string) error {
		switch key {
		case "reason":
			return e.text(0, "reasons.reason", &r.Reason)
		case "count":
			return e.uint(1, "reasons.count", &r.Count)
		case "text":
			return e.text(2, "reasons.text", &r.Text)
		case "last":
			return e.text(3, "reasons.last", &r.Last)
		}
		return e.skip([]byte(key))
	})
}

func (p *Phase) append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, 4)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "phase"), p.Name)
	dst = msgbin.AppendFloat64(msgbin.AppendString(dst, "p50"), p.P50)
	dst = msgbin.AppendFloat64(msgbin.AppendString(dst, "p99"), p.P99)
	return msgbin.AppendFloat64(msgbin.AppendString(dst, "max"), p.Max)
}

func (p *Phase) decode(f *fields) error {
	*p = Phase{}
	return f.entry("phases", func(e *fields, key string) error {
		switch key {
		case "phase":
			return e.text(0, "phases.phase", &p.Name)
		case "p50":
			return e.float(1, "phases.p50", &p.P50)
		case "p99":
			return e.float(2, "phases.p99", &p.P99)
		case "max":
			return e.float(3, "phases.max", &p.Max)
		}
		return e.skip([]byte(key))
	})
}

func (o *Other) append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, 3)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "instance"), o.Instance)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "model"), o.Model)
	return msgbin.AppendFloat64(msgbin.AppendString(dst, "age"), o.Age)
}

func (o *Other) decode(f *fields) error {
	*o = Other{}
	return f.entry("others", func(e *fields, key string) error {
		switch key {
		case "instance":
			return e.text(0, "others.instance", &o.Instance)
		case "model":
			return e.text(1, "others.model", &o.Model)
		case "age":
			return e.float(2, "others.age", &o.Age)
		}
		return e.skip([]byte(key))
	})
}

// list reads known field i, the header of a list.
func (f *fields) list(i int, field string) (int, error) {
	if err := f.begin(i, field); err != nil {
		return 0, err
	}
	n, err := f.r.Array(maxList)
	if err != nil {
		return 0, malformed(field, err)
	}
	return n, nil
}

// entry reads a map within a list, entry by entry, by read, which reads or skips
// the value of the key it is given.
func (f *fields) entry(field string, read func(e *fields, key string) error) error {
	n, err := f.r.Map(maxFields)
	if err != nil {
		return malformed(field, err)
	}
	seen := f.seen
	f.seen = 0
	for range n {
		key, err := f.r.StringBytes(maxText)
		if err != nil {
			return malformed(field, err)
		}
		if err := read(f, string(key)); err != nil {
			return err
		}
	}
	f.seen = seen
	return nil
}

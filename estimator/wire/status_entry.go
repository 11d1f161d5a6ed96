package wire

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// shape is that of a list of maps in a status, whose entries are E.
type shape[E any] struct {
	list  string   // what errors call it
	names []string // the keys of a map, in the order in which they are written
	field func(e *E, i int) any
}

var (
	reasonShape = shape[ReasonCount]{"reasons", []string{"reason", "count", "text", "last"}, func(r *ReasonCount, i int) any {
		return [...]any{&r.Reason, &r.Count, &r.Text, &r.Last}[i]
	}}
	phaseShape = shape[Phase]{"phases", []string{"phase", "p50", "p99", "max"}, func(p *Phase, i int) any {
		return [...]any{&p.Name, &p.P50, &p.P99, &p.Max}[i]
	}}
	otherShape = shape[Other]{"others", []string{"instance", "model", "age"}, func(o *Other, i int) any {
		return [...]any{&o.Instance, &o.Model, &o.Age}[i]
	}}
)

func (s *shape[E]) append(dst []byte, list []E) []byte {
	dst = msgbin.AppendArrayHeader(dst, len(list))
	for j := range list {
		dst = msgbin.AppendMapHeader(dst, len(s.names))
		for i, name := range s.names {
			dst = appendValue(msgbin.AppendString(dst, name), s.field(&list[j], i))
		}
	}
	return dst
}

// decode reads known field at, a list, into dst's memory. What an entry lacks is
// empty.
func (s *shape[E]) decode(f *fields, at int, field string, dst *[]E) error {
	if err := f.begin(at, field); err != nil {
		return err
	}
	n, err := f.r.Array(maxList)
	if err != nil {
		return malformed(field, err)
	}
	*dst = resize(*dst, n)
	clear(*dst)
	met := f.seen
	for j := range *dst {
		f.seen = 0
		err := f.entries(s.list, func(key []byte) error {
			i := slices.Index(s.names, string(key))
			if i < 0 {
				return f.skip(key)
			}
			return f.value(i, s.list+"."+s.names[i], s.field(&(*dst)[j], i))
		})
		if err != nil {
			return err
		}
	}
	f.seen = met
	return nil
}

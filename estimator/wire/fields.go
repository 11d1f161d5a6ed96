package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// fields is a cursor over the entries of a message's map.
type fields struct {
	r    msgbin.Reader
	seen uint64
}

// open returns a cursor over a message.
func open(b []byte) fields { return fields{r: msgbin.NewReader(b)} }

// message reads the map that is the whole message, see entries.
func (f *fields) message(read func(key []byte) error) error {
	if err := f.entries("", read); err != nil {
		return err
	}
	if f.r.Left() > 0 {
		return fail(Malformed, "", "%d bytes after the message", f.r.Left())
	}
	return nil
}

// entries reads a map, which is the value of field, entry by entry, by read, which
// reads or skips the value of the key that it is given in place. To read is a
// closure rather than given f, so that f, which is of every message, need not be
// allocated.
func (f *fields) entries(field string, read func(key []byte) error) error {
	n, err := f.r.Map(maxFields)
	if err != nil {
		return malformed(field, err)
	}
	for range n {
		key, err := f.r.StringBytes(maxText)
		if err != nil {
			return malformed(field, err)
		}
		if err := read(key); err != nil {
			return err
		}
	}
	return nil
}

// begin notes that known field i was met and refuses it the second time, where
// two readers could believe two different things.
func (f *fields) begin(i int, field string) error {
	if f.seen&(1<<i) != 0 {
		return fail(Malformed, field, "stands twice in the message")
	}
	f.seen |= 1 << i
	return nil
}

// has says whether known field i was met.
func (f *fields) has(i int) bool { return f.seen&(1<<i) != 0 }

// need returns an error if known field i, which no message lacks, was not met.
func (f *fields) need(i int, field string) error {
	if !f.has(i) {
		return fail(Malformed, field, "is missing")
	}
	return nil
}

// needs does the same for the known fields from 0 on, by their names.
func (f *fields) needs(names ...string) error {
	for i, name := range names {
		if err := f.need(i, name); err != nil {
			return err
		}
	}
	return nil
}

// version reads and checks known field i, the version.
func (f *fields) version(i int) error {
	var v int64
	if err := f.int(i, "v", &v); err != nil {
		return err
	}
	if v != Version {
		return fail(WrongVersion, "v", "version %d, this program speaks %d", v, Version)
	}
	return nil
}

// text reads known field i, a string, into dst.
func (f *fields) text(i int, field string, dst *string) error {
	if err := f.begin(i, field); err != nil {
		return err
	}
	return f.string(field, dst)
}

// string reads a string into dst, which is left as it is where it already holds
// it: names repeat from message to message, and then nothing is allocated.
func (f *fields) string(field string, dst *string) error {
	b, err := f.r.StringBytes(maxText)
	if err != nil {
		return malformed(field, err)
	}
	if *dst != string(b) {
		*dst = string(b)
	}
	return nil
}

// texts reads known field i, a list of up to max strings, into dst's memory.
func (f *fields) texts(i int, field string, dst *[]string, max int) error {
	if err := f.begin(i, field); err != nil {
		return err
	}
	n, err := f.r.Array(max)
	if err != nil {
		return malformed(field, err)
	}
	*dst = resize(*dst, n)
	for j := range *dst {
		if err := f.string(field, &(*dst)[j]); err != nil {
			return err
		}
	}
	return nil
}

// floats reads known field i, a vector of up to max numbers, into dst's memory.
func (f *fields) floats(i int, field string, dst *[]float64, max int) error {
	err := f.begin(i, field)
	if err != nil {
		return err
	}
	if *dst, err = f.r.AppendFloats((*dst)[:0], max); err != nil {
		return malformed(field, err)
	}
	return nil
}

// float reads known field i, a number.
func (f *fields) float(i int, field string, dst *float64) error {
	err := f.begin(i, field)
	if err != nil {
		return err
	}
	if *dst, err = f.r.Float64(); err != nil {
		return malformed(field, err)
	}
	return nil
}

// int reads known field i, an integer.
func (f *fields) int(i int, field string, dst *int64) error {
	err := f.begin(i, field)
	if err != nil {
		return err
	}
	if *dst, err = f.r.Int64(); err != nil {
		return malformed(field, err)
	}
	return nil
}

// uint reads known field i, an integer of 0 or more.
func (f *fields) uint(i int, field string, dst *uint64) error {
	err := f.begin(i, field)
	if err != nil {
		return err
	}
	if *dst, err = f.r.Uint64(); err != nil {
		return malformed(field, err)
	}
	return nil
}

// width reads known field i, the name of a width.
func (f *fields) width(i int, field string) (width, error) {
	if err := f.begin(i, field); err != nil {
		return 0, err
	}
	b, err := f.r.StringBytes(maxText)
	if err != nil {
		return 0, malformed(field, err)
	}
	switch string(b) {
	case float64s:
		return 8, nil
	case float32s:
		return 4, nil
	}
	return 0, fail(Malformed, field, "%q, expected %q or %q", b, float64s, float32s)
}

// span reads past known field i and returns its bytes, none for nil.
func (f *fields) span(i int, field string, b []byte) ([]byte, error) {
	if err := f.begin(i, field); err != nil {
		return nil, err
	}
	from := f.r.Offset()
	if f.r.Nil() {
		return nil, nil
	}
	if err := f.r.Skip(); err != nil {
		return nil, malformed(field, err)
	}
	return b[from:f.r.Offset()], nil
}

// skip reads past the value of a field that this program does not know.
func (f *fields) skip(key []byte) error {
	if err := f.r.Skip(); err != nil {
		return malformed(string(key), err)
	}
	return nil
}

// resize returns s with n elements, in its own memory where that suffices. The
// elements keep what they held.
func resize[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]E, n-cap(s))...)
}

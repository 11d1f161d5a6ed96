package cdr

// Texts picks texts out of messages of one type.
type Texts struct{ r *Reader }

// NewTexts returns a reader of the texts at paths. The error names the path that is wrong,
// and why.
func NewTexts(t *Type, paths []string) (*Texts, error) {
	r, err := newReader(t, paths, text)
	return &Texts{r}, err
}

// Read calls f with each of the texts that is there, valid until it returns, and the number
// of its path. first is as in ReadFrom. It returns how many bytes of the message were read.
func (x *Texts) Read(msg []byte, first int, f func(path int, s []byte)) (n int, err error) {
	w := walker{first: first, root: x.r.root, onText: f, packed: x.r.t.packed}
	if err := w.begin(msg); err != nil {
		return 0, err
	}
	err = w.read(x.r.t, x.r.root, x.r.root.last)
	return len(msg) - len(w.b) + w.at, err
}

// Array calls f with each text of an array of texts that is a field of the message itself. It
// returns how many bytes of the message were read.
func (t *Type) Array(msg []byte, name string, f func(s []byte)) (read int, err error) {
	w := walker{packed: t.packed}
	if err := w.begin(msg); err != nil {
		return 0, err
	}
	last := t.index(name)
	if last < 0 || t.fields[last].content != text {
		return 0, nil
	}
	if last > 0 {
		if err := w.read(t, nil, last-1); err != nil {
			return 0, err
		}
	}
	n, err := w.count(&t.fields[last])
	for range n {
		s, e := w.text()
		if err = e; err != nil {
			break
		}
		f(s)
	}
	return len(msg) - len(w.b) + w.at, err
}

// Stamped reports whether messages begin with a stamp of 8 bytes, so that nothing behind it
// moves with the time.
func (t *Type) Stamped() bool {
	return len(t.fields) > 0 && !t.packed && t.fields[0].content == nested && !t.fields[0].array() && len(t.fields[0].t.fields) > 0 &&
		t.fields[0].t.fields[0].content == nested && t.fields[0].t.fields[0].t.Name == "builtin_interfaces/Time"
}

package sensor

// frozen repeats the last value measured before some time until another, as a driver
// of an unresponsive device does.
type frozen struct {
	from, to int64
	channels []int
	last     []float64 // of channels
	known    bool
}

func (f *frozen) apply(r *reading) {
	hold := f.known && r.at >= f.from && r.at < f.to
	for n, i := range f.channels {
		if hold {
			r.x[i] = f.last[n]
		} else {
			f.last[n] = r.x[i]
		}
	}
	f.known = true
}

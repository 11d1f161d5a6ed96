package sensor

// delayed measures the state of some time ago, between two samples by a straight
// line. Before enough time has passed it measures the first state.
type delayed struct {
	by       int64
	channels []int
	times    []int64   // of the samples kept, oldest first
	past     []float64 // len(times)×len(channels)
}

func (d *delayed) apply(r *reading) {
	n := len(d.channels)
	d.times = append(d.times, r.at)
	for _, i := range d.channels {
		d.past = append(d.past, r.x[i])
	}
	// Keep one sample at or before the time asked for.
	want := r.at - d.by
	old := 0
	for old+1 < len(d.times) && d.times[old+1] <= want {
		old++
	}
	if old > 0 {
		d.times = d.times[:copy(d.times, d.times[old:])]
		d.past = d.past[:copy(d.past, d.past[old*n:])]
	}
	share := 0.0
	if len(d.times) > 1 && want > d.times[0] {
		share = float64(want-d.times[0]) / float64(d.times[1]-d.times[0])
	}
	for c, i := range d.channels {
		r.x[i] = d.past[c]
		if share > 0 {
			r.x[i] += share * (d.past[n+c] - d.past[c])
		}
	}
}

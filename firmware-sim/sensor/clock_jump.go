package sensor

// jumped moves every time stamp from some time on, as a clock does that is set
// while the robot runs.
type jumped struct{ from, by int64 }

func (j *jumped) apply(r *reading) {
	if r.at >= j.from {
		r.stamp += j.by
	}
}

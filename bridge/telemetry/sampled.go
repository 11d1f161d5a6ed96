package telemetry

// longestSample is how long, in ns, a measurement waits at most before it is sent.
const longestSample = 10e9

// Sampled returns when a message was measured, ns: by its sensor's counter of µs beside the
// time at which it was sent. A counter of 32 bits that wrapped is continued. What is not filled
// in (0), is later, or is far from the time of sending does not count.
func Sampled(sent, sample int64) int64 {
	const round = 1000 << 32
	d := sent - sample
	switch {
	case sample <= 0 || d < 0:
		return sent
	case d <= longestSample:
		return sample
	case d%round <= longestSample:
		return sent - d%round
	}
	return sent
}

package sensor

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// jittered makes time stamps that miss the true time by normal errors of a
// standard deviation in ns, three of them at most. Where that is more than a
// third of the sample period stamps may run backwards, as they do on robots.
type jittered struct {
	std float64
	src *seed.Source
}

func (j *jittered) apply(r *reading) {
	e := math.Max(-3, math.Min(3, j.src.Normal()))
	r.stamp += int64(math.Round(j.std * e))
}

package importer

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// scales finds files in which some channels have another unit than in the others, as degrees for radians: what they move by differs by one
// ratio of units, in states that agree about it, and not in all channels, as it does where a robot is driven harder.
type scales struct {
	states, inputs int
	files          []activity
	last           []float64
}

// activity is by what the channels of a file move from row to row, in the mean.
type activity struct {
	file int
	n    []int
	sum  []float64
}

const (
	alikeScale  = 1.25 // times a ratio of units: the steps of a file may be so much larger than those of the others
	othersScale = 4    // times as large: a channel whose unit is the same
	fewestMoves = 100  // steps of a channel in a file
)

func newScales(header []channel.Channel) *scales {
	s := &scales{states: len(channel.Select(header, channel.State)), inputs: len(channel.Select(header, channel.Input))}
	s.last = make([]float64, s.states+s.inputs)
	return s
}

// add takes a row in.
func (s *scales) add(r *row) {
	fresh := r.begins
	if n := len(s.files); n == 0 || s.files[n-1].file != r.file {
		s.files = append(s.files, activity{r.file, make([]int, len(s.last)), make([]float64, len(s.last))})
		fresh = true
	}
	a := &s.files[len(s.files)-1]
	for role := range 2 {
		for i, v := range r.values[role] {
			k := role*s.states + i
			if step := math.Abs(v - s.last[k]); !fresh && step > 0 {
				a.n[k]++
				a.sum[k] += step
			}
			if v == v {
				s.last[k] = v
			}
		}
	}
}

// ratios returns how many times as large the steps of each channel are in a file as in the first, NaN where it is not known.
func (s *scales) ratios(a *activity) []float64 {
	out := make([]float64, len(s.last))
	for k := range out {
		if out[k] = math.NaN(); a.n[k] >= fewestMoves && s.files[0].n[k] >= fewestMoves {
			out[k] = a.sum[k] / float64(a.n[k]) / (s.files[0].sum[k] / float64(s.files[0].n[k]))
		}
	}
	return out
}

// into adds which files have other units than the first.
func (s *scales) into(out *remarks, j *job) {
	names := channel.Names(append(channel.Select(j.plan.header, channel.State), channel.Select(j.plan.header, channel.Input)...))
	for f := 1; f < len(s.files); f++ {
		all := s.ratios(&s.files[f])
		plain := slices.ContainsFunc(all, func(r float64) bool { return r < othersScale && r > 1.0/othersScale })
		for _, ratio := range ratios {
			for _, factor := range []float64{ratio, 1 / ratio} {
				var scaled []string
				for k, r := range all[:s.states] {
					if r < alikeScale*factor && r > factor/alikeScale {
						scaled = append(scaled, names[k])
					}
				}
				if len(scaled) > 1 && plain && max(factor, 1/factor) > largeRatio {
					out.add("rescaled", Warning, "", "%s: values of %s are about %s as those of %s, in another unit, it seems", strings.Join(scaled, ", "), filepath.Base(j.inputs[s.files[f].file].path), timesAs(factor), filepath.Base(j.inputs[s.files[0].file].path)).Remedy = "convert one of them, or import them apart"
				}
			}
		}
	}
}

package study

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Flag is a flag with bounds.
type Flag struct {
	Name, Usage string
	Value       any     // *int, *[]int or *time.Duration; what it points to when the command is made is the default
	Least, Most float64 // of a duration in seconds; Most 0 = no bound
	Changes     bool    // whether it changes results
}

// positive is a lower bound of durations, s.
const positive = 1e-9

// Duration returns a flag for a time that must be positive.
func Duration(name, usage string, value *time.Duration) Flag {
	return Flag{Name: name, Usage: usage, Value: value, Least: positive}
}

// text returns the value as it is written on a command line.
func (f *Flag) text() string { return strings.Trim(fmt.Sprint(reflect.ValueOf(f.Value).Elem()), "[]") }

// numbers returns the value, of a duration in seconds.
func (f *Flag) numbers() (all []float64) {
	switch v := f.Value.(type) {
	case *int:
		return []float64{float64(*v)}
	case *[]int:
		for _, n := range *v {
			all = append(all, float64(n))
		}
		return all
	case *time.Duration:
		return []float64{v.Seconds()}
	}
	panic("study: a flag is an *int, an *[]int or a *time.Duration")
}

func (f *Flag) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	switch v := f.Value.(type) {
	case *int:
		flags.IntVar(v, f.Name, *v, f.Usage)
	case *[]int:
		flags.IntSliceVar(v, f.Name, *v, f.Usage)
	case *time.Duration:
		flags.DurationVar(v, f.Name, *v, f.Usage)
	}
}

// check returns which bound the value is not within.
func (f *Flag) check() error {
	for _, x := range f.numbers() {
		switch {
		case f.Most != 0 && !(x >= f.Least && x <= f.Most):
			return cli.Usage("--%s %s must be within %g … %g", f.Name, f.text(), f.Least, f.Most)
		case f.Least == positive && x < f.Least:
			return cli.Usage("--%s %s must be positive", f.Name, f.text())
		case x < f.Least:
			return cli.Usage("--%s %s must be at least %g", f.Name, f.text(), f.Least)
		}
	}
	return nil
}

// settings returns the flags that are not at their defaults and change results.
func (s *Study) settings() string {
	var changed []string
	for i, usual := range s.usual {
		f := &s.Numbers[i]
		if text := f.text(); f.Changes && text != usual {
			changed = append(changed, "--"+f.Name+" "+text)
		}
	}
	return strings.Join(changed, " ")
}

// Mean returns the mean, NaN of nothing.
func Mean(v []float64) float64 { return stat.Mean(v, nil) }

// Quantile returns the quantile p of numbers, interpolated linearly between the nearest
// two; NaN of nothing.
func Quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	at := p * float64(len(v)-1)
	i, j := int(math.Floor(at)), int(math.Ceil(at))
	return v[i] + (at-float64(i))*(v[j]-v[i])
}

// Median returns the median, NaN of nothing.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Spread formats mean and standard deviation, the number alone of one, NaN of none.
func Spread(v []float64) string {
	if len(v) < 2 {
		return Fixed(Mean(v), 2)
	}
	return fmt.Sprintf("%.2f ± %.2f", Mean(v), stat.StdDev(v, nil))
}

// Fixed formats a number with so many decimals; NaN is "NaN".
func Fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

// Short rounds numbers to so many significant digits, to keep files small.
func Short(digits int, v ...float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	}
	return out
}

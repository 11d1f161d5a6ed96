package study

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Flag is a flag with bounds.
type Flag struct {
	Name, Usage string
	Value       any     // *int or *time.Duration; what it points to when the command is made is the default
	Least, Most float64 // of a duration in seconds; Most 0 = no bound
	Changes     bool    // whether it changes results
}

// positive is a lower bound of durations, s.
const positive = 1e-9

// Duration returns a flag for a time that must be positive.
func Duration(name, usage string, value *time.Duration) Flag {
	return Flag{Name: name, Usage: usage, Value: value, Least: positive}
}

func (f *Flag) value() (number float64, text string) {
	switch v := f.Value.(type) {
	case *int:
		return float64(*v), fmt.Sprint(*v)
	case *time.Duration:
		return v.Seconds(), v.String()
	}
	panic("study: a flag is a *int or a *time.Duration")
}

func (s *Study) registerNumbers(cmd *cobra.Command) {
	for i := range s.Numbers {
		f := &s.Numbers[i]
		switch v := f.Value.(type) {
		case *int:
			cmd.Flags().IntVar(v, f.Name, *v, f.Usage)
		case *time.Duration:
			cmd.Flags().DurationVar(v, f.Name, *v, f.Usage)
		}
		_, text := f.value()
		s.usual = append(s.usual, text)
	}
}

func (s *Study) checkNumbers() error {
	for i := range s.Numbers {
		f := &s.Numbers[i]
		switch x, text := f.value(); {
		case f.Most > 0 && !(x >= f.Least && x <= f.Most):
			return cli.Usage("--%s %s must be within %g … %g", f.Name, text, f.Least, f.Most)
		case f.Least == positive && x < f.Least:
			return cli.Usage("--%s %s must be positive", f.Name, text)
		case x < f.Least:
			return cli.Usage("--%s %s must be at least %g", f.Name, text, f.Least)
		}
	}
	return nil
}

// settings returns the flags that are not at their defaults and change results.
func (s *Study) settings() string {
	var changed []string
	for i, usual := range s.usual {
		if _, text := s.Numbers[i].value(); s.Numbers[i].Changes && text != usual {
			changed = append(changed, "--"+s.Numbers[i].Name+" "+text)
		}
	}
	return strings.Join(changed, " ")
}

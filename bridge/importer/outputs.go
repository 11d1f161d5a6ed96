package importer

import (
	"slices"
	"strconv"
	"strings"
)

// Outputs describes which outputs drive the motors, by settings of the robot. In Field {} is the number of an
// output, or of a motor, from 1, and {0} the same from 0.
type Outputs struct {
	Field     string            `toml:"field"`
	Parameter string            `toml:"parameter"` // (optional) the setting with the function of output {}
	Further   map[string][2]int `toml:"further"`   // (optional) topics that have the outputs from a number to another one, which the topic has not
	Functions []int             `toml:"functions"` // those of motor 1, 2, …
	Names     []string          `toml:"names"`     // (optional) of the channels, one for each function; else the first name of the channel with the motor's number
	Aside     []string          `toml:"aside"`     // (optional) settings with the functions of outputs of another instance of the topic, by their numbers there: of the one in which they move
	Elsewhere []string          `toml:"elsewhere"` // (optional) settings with the functions of outputs that the topic does not have, or not by their numbers
	Count     string            `toml:"count"`     // (optional) the setting that holds the number of motors
	Motors    map[string]int    `toml:"motors"`    // (optional) the number by its value; else the value is the number
}

// field returns the field of an output.
func (o *Outputs) field(n int) string {
	return strings.NewReplacer("{}", strconv.Itoa(n), "{0}", strconv.Itoa(n-1)).Replace(o.Field)
}

// topic returns the one that has an output, where that of the source is given.
func (o *Outputs) topic(own string, n int) string {
	for name, at := range o.Further {
		if n >= at[0] && n <= at[1] {
			return name
		}
	}
	return own
}

// name returns that of the channel with the motor of function i, from 0.
func (o *Outputs) name(c *Channel, i int) string {
	if i < len(o.Names) {
		return o.Names[i]
	}
	return strings.TrimRight(c.names()[0], "0123456789") + strconv.Itoa(i+1)
}

// wiring is which fields are those of the motors, from a message of a file on.
type wiring struct {
	file, from int
	fields     []string
}

// mostBeyond is how many outputs behind those of a source are looked at.
const mostBeyond = 8

// beyond returns the fields of the outputs behind those that a source reads.
func (s *Source) beyond() (all []string) {
	for n := len(s.Fields) + 1; s.Outputs != nil && n <= len(s.Fields)+mostBeyond; n++ {
		all = append(all, s.Outputs.field(n))
	}
	return all
}

// onlyBeyond reports whether a field is looked at only because it is of an output that no source
// reads.
func (m *Map) onlyBeyond(path string) bool {
	only := false
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			if slices.Contains(s.paths(), path) {
				return false
			}
			only = only || slices.Contains(s.beyond(), path)
		}
	}
	return only
}

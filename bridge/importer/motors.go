package importer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// matches returns the number of an output in a name such as SERVO9_FUNCTION.
func matches(pattern, name string) (n int, ok bool) {
	before, after, ok := strings.Cut(pattern, "{}")
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutPrefix(name, before)
	digits, ok2 := strings.CutSuffix(digits, after)
	n, err := strconv.Atoi(digits)
	return n, ok && ok2 && err == nil
}

// motors is which outputs drive the motors of a file.
type motors struct {
	outputs []int    // of motors 1, 2, …; 0 = none
	known   bool     // the settings show it
	others  []string // functions of other outputs
	apart   []string // settings by which motors are on outputs that the topic does not have
	wrong   string   // a setting that changed in flight
	count   int      // motors, by the kind of frame; 0 = not known
}

// motors returns which outputs drive the motors of a file, as far as its settings show it.
func (o *Outputs) motors(f *survey) (m motors) {
	function := map[int]int{}
	for _, name := range slices.Sorted(maps.Keys(f.settings)) {
		n, ok := matches(o.Parameter, name)
		if !ok {
			continue
		}
		values := f.settings[name]
		for _, v := range values {
			switch {
			case v == 0:
			case slices.Contains(o.Functions, int(v)):
				m.changed(f, name)
				if other := function[int(v)]; other == 0 || n < other { // of two ailerons the first
					function[int(v)] = n
				}
			default:
				m.others = append(m.others, fmt.Sprintf("%s = %g", name, v))
			}
			m.known = m.known || v != 0
		}
	}
	m.elsewhere(o, f, function)
	m.countOf(o, f)
	for _, v := range o.Functions {
		m.outputs = append(m.outputs, function[v])
	}
	for len(m.outputs) > 0 && m.outputs[len(m.outputs)-1] == 0 {
		m.outputs = m.outputs[:len(m.outputs)-1]
	}
	if !m.known && m.count > 0 {
		m.changed(f, o.Count)
		for m.outputs, m.known = nil, true; len(m.outputs) < m.count; {
			m.outputs = append(m.outputs, len(m.outputs)+1)
		}
	}
	return m
}

// changed keeps that a setting has several values in flight.
func (m *motors) changed(f *survey, name string) {
	if v := f.settings[name]; len(v) > 1 {
		m.wrong = fmt.Sprintf("%s is %g and %g in flights of %s", name, v[0], v[1], f.base())
	}
}

// elsewhere keeps which settings have motors on other outputs, that are on none of the topic's.
func (m *motors) elsewhere(o *Outputs, f *survey, function map[int]int) {
	for _, pattern := range o.Elsewhere {
		for _, name := range slices.Sorted(maps.Keys(f.settings)) {
			_, ok := matches(pattern, name)
			for _, v := range f.settings[name] {
				if ok && slices.Contains(o.Functions, int(v)) && function[int(v)] == 0 {
					m.apart = append(m.apart, fmt.Sprintf("%s = %g", name, v))
				}
			}
		}
	}
}

// countOf finds the number of motors by the kind of frame.
func (m *motors) countOf(o *Outputs, f *survey) {
	values := f.settings[o.Count]
	if len(values) == 0 {
		return
	}
	n := o.Motors[fmt.Sprint(values[0])]
	if len(o.Motors) == 0 {
		n = int(values[0])
	}
	if n > 0 && n <= 32 {
		m.count = n
	}
}

// refused returns why the motors of a source cannot be read from a file.
func (m *motors) refused(s *Source, f *survey) (reason, remedy string) {
	topic, parameter := s.Topic+s.Type, strings.ReplaceAll(s.Outputs.Parameter, "{}", "n")
	switch {
	case m.wrong != "":
		remedy := "import one flight by --from and --to"
		if len(f.history.boots) > 0 {
			remedy = "put each flight into a file of its own"
		}
		return m.wrong + ": the motors are not on the same outputs in all of it", remedy
	case len(m.apart) > 0:
		return fmt.Sprintf("by its settings %s has motors on other outputs than those that are read from %s: %s", f.base(), topic, strings.Join(m.apart, ", ")),
			"record what the motors are commanded; or name the instance of " + topic + " that has these outputs, and their fields, in a copy of the map (--print-map) without its outputs"
	case m.known && len(m.outputs) == 0:
		return fmt.Sprintf("by its settings %s has no motor on any output (%s = %d): %s", f.base(), parameter, s.Outputs.Functions[0], strings.Join(m.others, ", ")),
			"write a map of its own: dgm-bridge topics " + f.path + " --suggest"
	}
	return "", ""
}

// compared reports a number of motors by the kind of frame that is another one than by the functions
// of the outputs.
func (m *motors) compared(o *Outputs, f *survey, out *remarks) {
	if m.count == 0 {
		return
	}
	var absent []string
	n := 0
	for i, v := range o.Functions[:min(m.count, len(o.Functions))] {
		if i >= len(m.outputs) || m.outputs[i] == 0 {
			absent = append(absent, fmt.Sprint(v))
		}
	}
	for _, output := range m.outputs {
		if output > 0 {
			n++
		}
	}
	frame, parameter := fmt.Sprintf("%s of %s is %g: %d motors", o.Count, f.base(), f.settings[o.Count][0], m.count), strings.ReplaceAll(o.Parameter, "{}", "n")
	switch {
	case len(absent) > 0 && len(o.Names) == 0:
		out.add("outputs", Loss, "", "%s, and %s has only %d of them: none is %s", frame, parameter, n, strings.Join(absent, " or ")).Remedy = "correct the settings, or record them whole"
	case n > m.count:
		out.add("outputs", Warning, "", "%s, and %s has %d", frame, parameter, n).Remedy = "correct the settings, and leave what is no motor out of a copy of the map (--print-map)"
	}
}

package importer

import (
	"cmp"
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
	aside   []bool   // of these: it is one of another instance
	used    [2][]int // outputs with a function, and those of the other instance
	known   bool     // the settings show it
	others  []string // functions of other outputs
	apart   []string // settings by which motors are on outputs that the topic does not have
	wrong   string   // a setting that changed in flight
	count   int      // motors, by the kind of frame; 0 = not known
}

// motors returns which outputs drive the motors of a file, as far as its settings show it.
func (o *Outputs) motors(f *boot) (m motors) {
	m = o.motorsBy(f, []string{o.Parameter})
	other := o.motorsBy(f, o.Aside)
	m.used[1] = other.used[0]
	m.aside = make([]bool, max(len(m.outputs), len(other.outputs)))
	m.outputs = append(m.outputs, make([]int, len(m.aside)-len(m.outputs))...)
	for i, n := range other.outputs {
		if n > 0 && m.outputs[i] == 0 {
			m.outputs[i], m.aside[i], m.known, m.wrong = n, true, true, cmp.Or(m.wrong, other.wrong)
		}
	}
	m.elsewhere(o.Elsewhere, o, f)
	m.countOf(o, f)
	if !m.known && m.count > 0 {
		m.changed(f, o.Count)
		for m.outputs, m.known, m.aside = nil, true, make([]bool, m.count); len(m.outputs) < m.count; {
			m.outputs = append(m.outputs, len(m.outputs)+1)
		}
	}
	return m
}

// bank returns the motors on the outputs that settings number alike: of the topic, or of another instance of it.
func (m *motors) bank(aside bool) motors {
	b := *m
	b.outputs = slices.Clone(m.outputs)
	for i := range b.outputs {
		if m.aside[i] != aside {
			b.outputs[i] = 0
		}
	}
	return b
}

// motorsBy returns which outputs drive the motors by settings of some names.
func (o *Outputs) motorsBy(f *boot, patterns []string) (m motors) {
	function := map[int]int{}
	for _, name := range slices.Sorted(maps.Keys(f.settings)) {
		n, ok := 0, false
		for _, p := range patterns {
			if !ok {
				n, ok = matches(p, name)
			}
		}
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
			if v != 0 {
				m.known, m.used[0] = true, append(m.used[0], n)
			}
		}
	}
	for _, v := range o.Functions {
		m.outputs = append(m.outputs, function[v])
	}
	for len(m.outputs) > 0 && m.outputs[len(m.outputs)-1] == 0 {
		m.outputs = m.outputs[:len(m.outputs)-1]
	}
	return m
}

// changed keeps that a setting has several values in flight.
func (m *motors) changed(f *boot, name string) {
	if v := f.settings[name]; len(v) > 1 {
		m.wrong = fmt.Sprintf("%s is %g and %g in flights of %s", name, v[0], v[1], f.base())
	}
}

// elsewhere keeps which settings have motors on other outputs, that are on none of those found.
func (m *motors) elsewhere(patterns []string, o *Outputs, f *boot) {
	found := func(function int) bool {
		i := slices.Index(o.Functions, function)
		return i < 0 || i < len(m.outputs) && m.outputs[i] > 0
	}
	for _, pattern := range patterns {
		for _, name := range slices.Sorted(maps.Keys(f.settings)) {
			_, ok := matches(pattern, name)
			for _, v := range f.settings[name] {
				if ok && !found(int(v)) {
					m.apart = append(m.apart, fmt.Sprintf("%s = %g", name, v))
				}
			}
		}
	}
}

// countOf finds the number of motors by the kind of frame.
func (m *motors) countOf(o *Outputs, f *boot) {
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
func (m *motors) refused(s *Source, f *boot) (reason, remedy string) {
	topic, parameter := s.Topic+s.Type, strings.ReplaceAll(s.Outputs.Parameter, "{}", "n")
	switch {
	case m.wrong != "":
		return m.wrong + ": the motors are not on the same outputs in all of it", "import one flight by --from and --to"
	case len(m.apart) > 0:
		return fmt.Sprintf("by its settings %s has motors on other outputs than those that are read from %s: %s", f.base(), topic, strings.Join(m.apart, ", ")),
			recordMotors(s)
	case m.known && len(m.outputs) == 0:
		return fmt.Sprintf("by its settings %s has no motor on any output (%s = %d): %s", f.base(), parameter, s.Outputs.Functions[0], strings.Join(m.others, ", ")),
			"write a map of its own: dgm-bridge topics " + f.path + " --suggest"
	}
	return "", ""
}

// recordMotors is the remedy where the outputs of the motors are not known.
func recordMotors(s *Source) string {
	return "record the commands of the motors; or name the instance of " + s.Topic + s.Type + " that has these outputs, and their fields, in a copy of the map (--print-map) without its outputs"
}

// nowhere returns that none of the instances shows itself as the one with the motors.
func (m *motors) nowhere(s *Source, f *survey) string {
	return fmt.Sprintf("by its settings %s has the motors on outputs of another instance of %s (%s), and not exactly one has values of all of them that change: %s", f.base(), s.Topic+s.Type, strings.Join(s.Outputs.Aside, ", "), m.list(s))
}

// fields returns the fields of the motors.
func (m *motors) fields(s *Source) (all []string) {
	for _, n := range m.outputs {
		if n > 0 {
			all = append(all, s.Outputs.field(n))
		}
	}
	return all
}

// list names the outputs with their motors.
func (m *motors) list(s *Source) string {
	var all []string
	for i, n := range m.outputs {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d on %s", i+1, s.Outputs.field(n)))
		}
	}
	return "motors " + strings.Join(all, ", ")
}

// alike reports whether the same motors are there, on whatever outputs.
func (m *motors) alike(o *motors) bool {
	return slices.EqualFunc(m.outputs, o.outputs, func(a, b int) bool { return (a > 0) == (b > 0) }) && slices.Equal(m.aside, o.aside)
}

// instances returns those of a source's topic that have the motors of the topic itself and those of another instance, as their fields vary,
// where one choice fits; else where one does of which no output varies that has no function. ok is false where none does.
func (m *motors) instances(s *Source, f *survey) (of [2]int, ok bool) {
	banks := [2]motors{m.bank(false), m.bank(true)}
	for _, strict := range []bool{false, true} {
		var fits [2][]int
		for _, c := range f.counts {
			at := c.Topic.Instance
			for k := range banks {
				if (c.Topic.Name == s.Topic || s.Type != "" && c.Topic.Kind == s.Type) && banks[k].fit(s, topicID{c.Topic.Name, at, ""}, f, m.used[k], strict) && !slices.Contains(fits[k], at) {
					fits[k] = append(fits[k], at)
				}
			}
		}
		if len(banks[0].fields(s)) == 0 {
			fits[0] = []int{-1}
		}
		var pairs [][2]int
		for _, a := range fits[0] {
			for _, b := range fits[1] {
				if a != b {
					pairs = append(pairs, [2]int{a, b})
				}
			}
		}
		if len(pairs) == 1 {
			return pairs[0], true
		}
	}
	return of, false
}

// fit reports whether the motors of a bank are outputs of a topic: these vary and, if strict, none of those without a function does.
func (m *motors) fit(s *Source, id topicID, f *survey, used []int, strict bool) bool {
	varies := func(path string) bool { return slices.Contains(f.varies, topicField{id, path}) }
	fields := m.fields(s)
	if strict && len(fields) > 0 {
		for n := 1; n <= len(s.Fields)+mostBeyond; n++ {
			if !slices.Contains(used, n) && varies(s.Outputs.field(n)) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(fields, func(path string) bool { return !varies(path) })
}

// sayWired reports where motors are on other outputs than at first.
func (s *Source) sayWired(files []*survey, out *remarks) {
	for i, w := range s.wired {
		if i > 0 && !slices.Equal(w.fields, s.wired[i-1].fields) {
			out.add("outputs", Info, "", "%s: by its settings the motors are on other outputs than before: %s", files[w.file].base(), strings.Join(w.fields, ", "))
		}
	}
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
		out.add("outputs", Warning, "", "%s, and %s has %d", frame, parameter, n).Remedy = "correct the settings, and remove outputs without a motor from a copy of the map (--print-map)"
	}
}

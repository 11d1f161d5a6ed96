package blackbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// predictor is what the values of a field are differences from.
type predictor int

// The predictors, by the numbers that headers have.
const (
	fromZero predictor = iota
	fromPrevious
	fromLine
	fromMean
	fromLeastThrottle
	fromFirstMotor
	counting
	fromHome
	fromCentre
	fromReferenceVoltage
	fromMainTime
	fromLeastMotor
)

// frame is the definition of a kind of frames.
type frame struct {
	names      []string
	signed     []bool
	predictors []predictor
	encodings  []encoding
}

// set takes one line of the header.
func (f *frame) set(property, value string) error {
	parts := strings.Split(value, ",")
	if len(parts) > maxFields {
		return fmt.Errorf("%d fields are more than any firmware has", len(parts))
	}
	if property == "name" {
		f.names = parts
		return nil
	}
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return fmt.Errorf("%q is no number", p)
		}
		switch property {
		case "signed":
			f.signed = append(f.signed, n != 0)
		case "predictor":
			if n < 0 || n > int(fromLeastMotor) {
				return fmt.Errorf("predictor %d is not known", n)
			}
			f.predictors = append(f.predictors, predictor(n))
		case "encoding":
			if !encoding(n).known() {
				return fmt.Errorf("encoding %d is not known", n)
			}
			f.encodings = append(f.encodings, encoding(n))
		}
	}
	return nil
}

// check returns what is wrong with a definition, of frames of a kind.
func (f *frame) check(kind byte) error {
	n := len(f.names)
	if len(f.signed) != n || len(f.predictors) != n || len(f.encodings) != n {
		return fmt.Errorf("%d names, %d signs, %d predictors and %d encodings of frames %c", n, len(f.signed), len(f.predictors), len(f.encodings), kind)
	}
	for i := 0; i < n; i += f.group(i) {
		if e := f.encodings[i]; e != tag8of8 && i+e.group() > n {
			return fmt.Errorf("frames %c end within a group of encoding %d", kind, e)
		}
	}
	if f.names != nil && slices.Contains(f.predictors, fromFirstMotor) && !slices.Contains(f.names, "motor[0]") {
		return fmt.Errorf("frames %c count from motor[0], which they have not", kind)
	}
	return nil
}

// group returns how many fields from i on are written together.
func (f *frame) group(i int) int {
	e := f.encodings[i]
	if e != tag8of8 {
		return e.group()
	}
	n := 1
	for n < 8 && i+n < len(f.encodings) && f.encodings[i+n] == e {
		n++
	}
	return n
}

// from are the values that those of a frame are differences from.
type from struct {
	previous, before []int64 // (optional) the last two main frames
	skipped          int64   // main frames that were not logged since then
	home             [2]int64
	mainTime         int64
	constants        *constants
}

// constants are those of a header.
type constants struct{ leastThrottle, referenceVoltage, leastMotor int64 }

// decode reads a frame behind its kind, as many values as it has fields.
func (f *frame) decode(c *cursor, values []int64, by *from) {
	var raw [8]int32
	motor := -1
	for i := 0; i < len(f.names); {
		n := f.group(i)
		c.read(f.encodings[i], raw[:n])
		for _, v := range raw[:n] {
			if motor < 0 && f.names[i] == "motor[0]" {
				motor = i
			}
			values[i] = f.add(i, int64(v), values, motor, by)
			i++
		}
	}
}

// add returns the value of field i, which was written as a difference.
func (f *frame) add(i int, v int64, values []int64, motor int, by *from) int64 {
	if f.encodings[i] == unsignedVB && !f.signed[i] {
		v = int64(uint32(v))
	}
	switch f.predictors[i] {
	case fromPrevious:
		v += by.previous[i]
	case fromLine:
		v += 2*by.previous[i] - by.before[i]
	case fromMean:
		v += (by.previous[i] + by.before[i]) / 2
	case fromLeastThrottle:
		v += by.constants.leastThrottle
	case fromFirstMotor:
		if motor >= 0 {
			v += values[motor]
		}
	case counting:
		v = by.previous[i] + 1 + by.skipped
	case fromHome:
		if strings.HasSuffix(f.names[i], "[1]") {
			v += by.home[1]
		} else {
			v += by.home[0]
		}
	case fromCentre:
		v += 1500
	case fromReferenceVoltage:
		v += by.constants.referenceVoltage
	case fromMainTime:
		v += by.mainTime
	case fromLeastMotor:
		v += by.constants.leastMotor
	}
	if f.signed[i] {
		return int64(int32(v))
	}
	return int64(uint32(v))
}

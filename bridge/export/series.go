package export

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Schema is how messages are written.
type Schema string

// The schemas.
const (
	ROS2 Schema = "ros2"
	JSON Schema = "json"
)

// bands are what a predicted channel consists of.
var bands = []string{"mean", "lower", "upper"}

// Series is one topic: times and numbers with names.
type Series struct {
	Topic  string
	Kind   string // name of its type
	Fields []string
	Units  []string // of the fields, "" = none
	Band   bool     // each field is mean, lower, upper
	Made   bool     // a second time: when it was made
}

// rosNames turns names into those that ROS 2 allows for fields: small letters,
// digits and single underscores, a letter first; each once.
func rosNames(names []string) []string {
	out := make([]string, len(names))
	used := map[string]bool{}
	for i, name := range names {
		var b strings.Builder
		for _, r := range strings.ToLower(name) {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				b.WriteRune(r)
			} else if n := b.Len(); n > 0 && b.String()[n-1] != '_' {
				b.WriteByte('_')
			}
		}
		n := strings.Trim(b.String(), "_")
		if n == "" || n[0] < 'a' {
			n = strings.TrimSuffix("c_"+n, "_")
		}
		for base, k := n, 2; used[n]; k++ {
			n = fmt.Sprintf("%s_%d", base, k)
		}
		used[n] = true
		out[i] = n
	}
	return out
}

// Schema returns name, encoding and text of the series' schema.
func (s *Series) Schema(as Schema) (name, encoding, text string) {
	if as == JSON {
		return "dgm." + s.Kind, "jsonschema", s.jsonSchema()
	}
	var b strings.Builder
	b.WriteString("builtin_interfaces/Time stamp\n")
	if s.Made {
		b.WriteString("builtin_interfaces/Time made # the state that it was made from\n")
	}
	kind := "float64"
	if s.Band {
		kind = "dgm/Band"
	}
	for i, f := range rosNames(s.Fields) {
		fmt.Fprintf(&b, "%s %s", kind, f)
		if s.Units[i] != "" {
			b.WriteString(" # " + strings.Map(printable, s.Units[i]))
		}
		b.WriteByte('\n')
	}
	line := strings.Repeat("=", 80)
	fmt.Fprintf(&b, "%s\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n", line)
	if s.Band {
		fmt.Fprintf(&b, "%s\nMSG: dgm/Band\nfloat64 mean\nfloat64 lower\nfloat64 upper\n", line)
	}
	return "dgm/msg/" + s.Kind, "ros2msg", b.String()
}

// printable keeps a comment in its line.
func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// jsonSchema describes the message for viewers that read it.
func (s *Series) jsonSchema() string {
	object := func(kind string, names ...string) map[string]any {
		parts := map[string]any{}
		for _, name := range names {
			parts[name] = map[string]any{"type": kind}
		}
		return map[string]any{"type": "object", "properties": parts}
	}
	stamp := object("integer", "sec", "nsec")
	properties := map[string]any{"stamp": stamp}
	if s.Made {
		properties["made"] = stamp
	}
	for i, f := range s.Fields {
		p := map[string]any{"type": "number"}
		if s.Band {
			p = object("number", bands...)
		}
		if s.Units[i] != "" {
			p["description"] = s.Units[i]
		}
		properties[f] = p
	}
	schema := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dgm." + s.Kind, "type": "object", "properties": properties}
	return string(appendJSON(nil, schema))
}

// cdrHeader is that of plain CDR, little-endian.
var cdrHeader = []byte{0, 1, 0, 0}

// Encode appends a message about time t, made at time made (both ns), to dst.
func (s *Series) Encode(dst []byte, as Schema, t, made int64, values []float64) []byte {
	numbers := len(s.Fields)
	if s.Band {
		numbers *= len(bands)
	}
	if len(values) != numbers {
		panic("export: a message must hold one value for each field")
	}
	if as == JSON {
		return s.encodeJSON(dst, t, made, values)
	}
	dst = append(dst, cdrHeader...)
	dst = rosTime(dst, t)
	if s.Made {
		dst = rosTime(dst, made)
	}
	// Behind one or two times the numbers are aligned to 8 bytes already.
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

func rosTime(dst []byte, t int64) []byte {
	sec, nsec := split(t)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, uint32(sec)), uint32(nsec))
}

func split(t int64) (sec, nsec int64) {
	at := time.Unix(0, t)
	return at.Unix(), int64(at.Nanosecond())
}

func (s *Series) encodeJSON(dst []byte, t, made int64, values []float64) []byte {
	clock := func(name string, t int64) {
		sec, nsec := split(t)
		dst = fmt.Appendf(dst, "%q:{\"sec\":%d,\"nsec\":%d}", name, sec, nsec)
	}
	number := func(v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			dst = append(dst, "null"...)
		} else {
			dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
		}
	}
	dst = append(dst, '{')
	clock("stamp", t)
	if s.Made {
		dst = append(dst, ',')
		clock("made", made)
	}
	for i, f := range s.Fields {
		dst = append(dst, ',')
		dst = append(appendJSON(dst, f), ':')
		if !s.Band {
			number(values[i])
			continue
		}
		separator := "{"
		for k, b := range bands {
			dst = fmt.Appendf(dst, "%s%q:", separator, b)
			number(values[len(bands)*i+k])
			separator = ","
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendJSON(dst []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("export: a value that is no JSON")
	}
	return append(dst, text...)
}

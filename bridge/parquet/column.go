package parquet

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// leaf is what is read of one column of a file.
type leaf struct {
	name     string
	at, n    int  // its columns here: one, or one for each value of a list; none = left out
	list     bool // each row has a list
	scale    int  // of a decimal number: digits behind the point; −1 = it is none
	half     bool // numbers of 16 bits
	unsigned bool
	units    string
	seen     int // values in this row, so far
}

// mostListed is how many values a list has at most of which each is a column.
const mostListed = 512

// leafOf returns what is read of a column; why is not empty where it is none. logical is what the file says
// of its values, of which the library does not know all that there is.
func leafOf(path []string, found parquet.LeafColumn, logical format.LogicalTypeValue) (l leaf, why string) {
	node := found.Node
	l = leaf{name: plainName(path), n: 1, scale: -1, list: found.MaxRepetitionLevel > 0}
	if known := node.Type().LogicalType(); known != nil {
		logical = known.Value
	}
	switch v := logical.(type) {
	case *format.DecimalType:
		l.scale = int(v.Scale)
	case *format.Float16Type:
		l.half = true
	case *format.IntType:
		l.unsigned = !v.IsSigned
	case *format.TimestampType:
		l.units = units[v.Unit.Value.Duration()]
	case *format.TimeType:
		l.units = units[v.Unit.Value.Duration()]
	}
	if node.Type().Kind() == parquet.Int96 {
		l.units = "ns"
	}
	if found.MaxRepetitionLevel > 1 {
		l.n = 0
		return l, "lists of lists are not read: write their numbers into columns of their own"
	}
	return l, ""
}

// plainName returns the name of a column without the levels that only make a list.
func plainName(path []string) string {
	var out []string
	for i, p := range path {
		if i > 0 && slices.Contains([]string{"list", "element", "item", "array", "bag", "array_element"}, p) && len(path) > 2 {
			continue
		}
		out = append(out, p)
	}
	return strings.Join(out, ".")
}

// names returns the names of the columns that a leaf is here.
func (l *leaf) names() (all []string) {
	for i := range l.n {
		if l.list {
			all = append(all, l.name+"["+strconv.Itoa(i)+"]")
		} else {
			all = append(all, l.name)
		}
	}
	return all
}

// lengths finds how many values the lists of the first rows have. why is not empty where they
// are no columns.
func (l *leaf) lengths(column int, rows []parquet.Row) (why string) {
	least, most := math.MaxInt, 0
	for _, row := range rows {
		n, empty := 0, false
		for _, v := range row {
			if v.Column() == column {
				n++
				empty = v.IsNull()
			}
		}
		if n == 1 && empty {
			continue // no list
		}
		least, most = min(least, n), max(most, n)
	}
	switch {
	case most == 0:
		why = "its lists are empty"
	case least != most:
		why = fmt.Sprintf("its lists have %d to %d values: write their numbers into columns of their own", least, most)
	case most > mostListed:
		why = fmt.Sprintf("its lists have %d values, more than the limit of %d", most, mostListed)
	default:
		l.n = most
		return ""
	}
	l.n = 0
	return why
}

// units of times.
var units = map[time.Duration]string{time.Millisecond: "ms", time.Microsecond: "us", time.Nanosecond: "ns"}

// durations returns the units of the columns that are durations by what pandas writes about
// them, for a file of Parquet has only their numbers.
func durations(metadata string) map[string]string {
	var about struct {
		Columns []struct {
			Field string `json:"field_name"`
			Type  string `json:"numpy_type"`
		}
	}
	out := map[string]string{}
	if json.Unmarshal([]byte(metadata), &about) != nil {
		return out // it is of another program
	}
	for _, c := range about.Columns {
		for _, unit := range []string{"s", "ms", "us", "ns"} {
			if c.Type == "timedelta64["+unit+"]" {
				out[c.Field] = unit
			}
		}
	}
	return out
}

// cell writes a value as text, exactly.
func (l *leaf) cell(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Int32:
		if l.unsigned {
			return strconv.FormatUint(uint64(uint32(v.Int32())), 10)
		}
		return strconv.FormatInt(int64(v.Int32()), 10) + l.point()
	case parquet.Int64:
		if l.unsigned {
			return strconv.FormatUint(uint64(v.Int64()), 10)
		}
		return strconv.FormatInt(v.Int64(), 10) + l.point()
	case parquet.Int96: // nanoseconds of a day, and its number in the Julian calendar
		day := v.Int96()
		return strconv.FormatInt((int64(day[2])-2_440_588)*86_400_000_000_000+int64(day[1])<<32+int64(day[0]), 10)
	case parquet.Float:
		return text(float64(v.Float()), 32)
	case parquet.Double:
		return text(v.Double(), 64)
	}
	b := v.ByteArray()
	switch {
	case l.half && len(b) == 2:
		return text(number.F16.Little(b), 32)
	case l.scale >= 0:
		whole := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 { // of two's complement
			whole.Sub(whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return whole.String() + l.point()
	}
	return string(b)
}

// point returns what follows the digits of a decimal number: the power of ten of the last.
func (l *leaf) point() string {
	if l.scale <= 0 {
		return ""
	}
	return "e-" + strconv.Itoa(l.scale)
}

func text(v float64, bits int) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

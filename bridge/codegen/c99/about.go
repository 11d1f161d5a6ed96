package c99

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// about is what a document says of its programs.
type about struct {
	model, vehicle, leftOut string
	horizon                 float64 // s
	times, history          []float64
	inputMean, origin       []float64
	states, inputs          []channel
	planRows                int
	displacement            bool
}

type channel struct {
	name, unit string
	period     float64
}

// reader takes values from a map by their keys, and keeps the first error.
type reader struct {
	of  map[string]any
	err error
}

func take[T any](r *reader, key string) (v T) {
	v, ok := r.of[key].(T)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%q of a document is %T, expected %T", key, r.of[key], v)
	}
	return v
}

func (r *reader) numbers(key string) []float64 {
	b := take[[]byte](r, key)
	out := make([]float64, len(b)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

func (r *reader) channels(key string) (out []channel) {
	if r.of[key] == nil {
		return nil
	}
	list, _ := r.of[key].([]any)
	for _, v := range list {
		c := reader{of: map[string]any{}}
		if m, ok := v.(map[string]any); ok {
			c.of = m
		}
		out = append(out, channel{take[string](&c, "name"), take[string](&c, "unit"), take[float64](&c, "period")})
		if r.err == nil {
			r.err = c.err
		}
	}
	return out
}

func aboutOf(d *program.Document) (a about, err error) {
	r := reader{of: d.About}
	a = about{
		model: take[string](&r, "model"), vehicle: take[string](&r, "vehicle"), leftOut: take[string](&r, "left_out"), horizon: take[float64](&r, "horizon"),
		times: r.numbers("times"), history: r.numbers("history"), inputMean: r.numbers("input_mean"), states: r.channels("states"), inputs: r.channels("inputs"),
		planRows: take[int](&r, "plan_rows"), displacement: take[bool](&r, "displacement"),
	}
	if !a.displacement {
		a.origin = r.numbers("origin")
	}
	if r.err == nil && (len(a.states) == 0 || len(a.times) == 0 || len(a.inputMean) != len(a.inputs) || !a.displacement && len(a.origin) != len(a.states)) {
		r.err = fmt.Errorf("a document of %d states, %d times, %d inputs and %d mean inputs", len(a.states), len(a.times), len(a.inputs), len(a.inputMean))
	}
	return a, r.err
}

//go:build cgo

package main

/*
#define DGM_TYPES_ONLY
#include "dgm.h"
*/
import "C"

import (
	"cmp"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// The constants of dgm.h.
const (
	codeOK          = C.DGM_OK
	codeWrong       = C.DGM_WRONG
	codeClosed      = C.DGM_CLOSED
	codeFile        = C.DGM_FILE
	codeNotFinite   = C.DGM_NOT_FINITE
	codeUnsupported = C.DGM_UNSUPPORTED
	codeInternal    = C.DGM_INTERNAL

	wantMean     = C.DGM_MEAN
	wantStd      = C.DGM_STD
	wantObsStd   = C.DGM_OBS_STD
	wantJacobian = C.DGM_JACOBIAN
	wantSamples  = C.DGM_SAMPLES
	wantInputs   = C.DGM_INPUT_JACOBIAN
	wantCov      = C.DGM_COVARIANCE
	wantAdjoint  = C.DGM_ADJOINT
	wantViolated = C.DGM_VIOLATION
	wantAll      = wantMean | wantStd | wantObsStd | wantJacobian | wantSamples | wantInputs | wantCov | wantAdjoint | wantViolated

	flagUnsettled         = C.DGM_UNSETTLED
	flagLate              = C.DGM_LATE
	flagDropped           = C.DGM_DROPPED
	flagOutOfDistribution = C.DGM_OUT_OF_DISTRIBUTION
	flagNoHistory         = C.DGM_NO_HISTORY
)

// models are the open ones, by handle.
var (
	models     sync.Map
	lastHandle atomic.Uint64
)

func find(h C.dgm_model) (*loaded, error) {
	m, ok := models.Load(uint64(h))
	if !ok {
		return nil, fail(codeClosed, "model: %d is not open", uint64(h))
	}
	return m.(*loaded), nil
}

// text is a caller's buffer for a text that 0 ends.
type text struct {
	at   *C.char
	size C.size_t
}

func (t text) write(s string) {
	if t.at == nil || t.size == 0 {
		return
	}
	to := unsafe.Slice((*byte)(unsafe.Pointer(t.at)), t.size)
	to[copy(to[:len(to)-1], s)] = 0
}

// guarded calls do and returns what an exported function returns, from its error or from a panic, which must
// not reach the caller's language.
func guarded(t text, do func() error) (code C.int) {
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = fail(codeInternal, "a defect of libdgm: %v", p)
		}
		if code = C.int(codeOf(err)); err != nil {
			t.write(err.Error())
		}
	}()
	err = do()
	return
}

// with calls do with an open model, and returns what an exported function returns.
func with(handle C.dgm_model, t text, do func(l *loaded) error) C.int {
	return guarded(t, func() error {
		l, err := find(handle)
		if err == nil {
			err = do(l)
		}
		return err
	})
}

// numbers returns the caller's memory; nil for none.
func numbers[T, U any](name string, at *T, n C.size_t, err *error) []U {
	switch size := unsafe.Sizeof(*new(U)); {
	case n == 0 || *err != nil:
		return nil
	case at == nil:
		*err = fail(codeWrong, "%s: is NULL, with %d numbers", name, uint64(n))
	case uint64(n) > mostNumbers:
		*err = fail(codeWrong, "%s: %d numbers are too many", name, uint64(n))
	case uintptr(unsafe.Pointer(at))%size != 0:
		*err = fail(codeWrong, "%s: is not aligned to %d bytes", name, size)
	default:
		return unsafe.Slice((*U)(unsafe.Pointer(at)), int(n))
	}
	return nil
}

func doubles(name string, at *C.double, n C.size_t, err *error) []float64 {
	return numbers[C.double, float64](name, at, n, err)
}

// sizeChecked returns an error if the size of a structure is not that of this version.
func sizeChecked(name string, size C.size_t, want uintptr) error {
	if uintptr(size) != want {
		return fail(codeWrong, "%s: its size is %d, and the library's is %d: set size to sizeof, and build with the library's dgm.h", name, uint64(size), want)
	}
	return nil
}

//export dgm_open
func dgm_open(path *C.char, handle *C.dgm_model, message *C.char, messageSize C.size_t) (code C.int) {
	return guarded(text{message, messageSize}, func() error {
		if path == nil || handle == nil {
			return fail(codeWrong, "path or model is NULL")
		}
		m, err := open(C.GoString(path))
		if err == nil {
			*handle = C.dgm_model(lastHandle.Add(1))
			models.Store(uint64(*handle), m)
		}
		return err
	})
}

//export dgm_close
func dgm_close(handle C.dgm_model, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(*loaded) error {
		models.Delete(uint64(handle))
		return nil
	})
}

//export dgm_get_info
func dgm_get_info(handle C.dgm_model, info *C.dgm_info, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if info == nil {
			return fail(codeWrong, "info: is NULL")
		}
		if err := sizeChecked("info", info.size, unsafe.Sizeof(*info)); err != nil {
			return err
		}
		m := l.m
		info.states, info.inputs, info.times = C.size_t(m.K), C.size_t(m.P), C.size_t(m.Points)
		info.history_rows, info.horizon, info.can = C.size_t(m.History.Rows()), C.double(m.Horizon), C.uint64_t(l.can())
		info.history_seconds = C.double(m.History.Reach())
		text{&info.id[0], C.size_t(len(info.id))}.write(m.ID)
		info.estimated, info.filtered = C.size_t(m.K+m.P-len(m.Measured())), 0
		if m.Filter != nil {
			info.filtered = 1
		}
		return nil
	})
}

//export dgm_get_times
func dgm_get_times(handle C.dgm_model, times *C.double, n C.size_t, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		var err error
		to := doubles("times", times, n, &err)
		if err == nil && len(to) != l.m.Points {
			err = fail(codeWrong, "times: has room for %d numbers, the model has %d times", len(to), l.m.Points)
		}
		if err == nil {
			copy(to, l.times())
		}
		return err
	})
}

//export dgm_get_channel
func dgm_get_channel(handle C.dgm_model, place C.size_t, name *C.char, nameSize C.size_t, unit *C.char, unitSize C.size_t, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if n := l.m.K + l.m.P; uint64(place) >= uint64(n) {
			return fail(codeWrong, "channel: is %d, and the model has %d", uint64(place), n)
		}
		c := l.m.Channels[place]
		text{name, nameSize}.write(c.Name)
		text{unit, unitSize}.write(c.Unit)
		return nil
	})
}

//export dgm_get_unit
func dgm_get_unit(unit, spelling *C.char, spellingSize C.size_t, turn *C.double, message *C.char, messageSize C.size_t) (code C.int) {
	return guarded(text{message, messageSize}, func() error {
		if unit == nil || turn == nil {
			return fail(codeWrong, "unit or turn is NULL")
		}
		text{spelling, spellingSize}.write(channel.CanonicalUnit(C.GoString(unit)))
		*turn = C.double(channel.Turn(C.GoString(unit)))
		return channel.CheckUnit(C.GoString(unit))
	})
}

//export dgm_get_latency
func dgm_get_latency(handle C.dgm_model, input C.size_t, deadTime, lag *C.double, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if uint64(input) >= uint64(l.m.P) || deadTime == nil || lag == nil {
			return fail(codeWrong, "input: %d of %d, or dead_time or lag is NULL", uint64(input), l.m.P)
		}
		dead, lags := l.m.Delays()
		*deadTime, *lag = C.double(dead[input]), C.double(lags[input])
		return nil
	})
}

//export dgm_get_program
func dgm_get_program(handle C.dgm_model, planRows C.size_t, program *C.uint8_t, n C.size_t, written *C.size_t, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if uint64(planRows) > mostNumbers || written == nil {
			return fail(codeWrong, "plan_rows: %d are too many, or written is NULL", uint64(planRows))
		}
		var err error
		to := numbers[C.uint8_t, byte]("program", program, n, &err)
		if err != nil {
			return err
		}
		encoded, err := l.program(int(planRows))
		if err != nil {
			return err
		}
		if *written = C.size_t(len(encoded)); len(to) > 0 && len(to) < len(encoded) {
			return fail(codeWrong, "program: has room for %d bytes, the document has %d", len(to), len(encoded))
		}
		copy(to, encoded)
		return nil
	})
}

//export dgm_history
func dgm_history(handle C.dgm_model, state, t, x, u *C.double, n C.size_t, rows *C.double, rowsN C.size_t, used *C.size_t, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if uint64(n) > mostNumbers || used == nil {
			return fail(codeWrong, "n: %d samples are too many, or used is NULL", uint64(n))
		}
		var err error
		K, P := C.size_t(l.m.K), C.size_t(l.m.P)
		x0, at := doubles("state", state, K, &err), doubles("t", t, n, &err)
		xs, us, to := doubles("x", x, n*K, &err), doubles("u", u, n*P, &err), doubles("rows", rows, rowsN, &err)
		if err != nil {
			return err
		}
		filled, err := l.resample(x0, at, xs, us, to)
		*used = C.size_t(filled)
		return err
	})
}

//export dgm_get_measured
func dgm_get_measured(handle C.dgm_model, measured *C.uint8_t, n C.size_t, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		var err error
		to := numbers[C.uint8_t, byte]("measured", measured, n, &err)
		if err == nil && len(to) != l.m.K {
			err = fail(codeWrong, "measured: has room for %d states, the model has %d", len(to), l.m.K)
		}
		for k := range to {
			if to[k] = 1; err == nil && l.m.Channels[k].Estimated {
				to[k] = 0
			}
		}
		return err
	})
}

//export dgm_update
func dgm_update(handle C.dgm_model, t C.int64_t, y *C.double, yN C.size_t, u *C.double, uN C.size_t, e *C.dgm_estimate, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if e == nil {
			return fail(codeWrong, "estimate: is NULL")
		}
		if err := sizeChecked("estimate", e.size, unsafe.Sizeof(*e)); err != nil {
			return err
		}
		var err error
		ys, us := doubles("y", y, yN, &err), doubles("u", u, uN, &err)
		out := estimate{
			x: doubles("x", e.x, e.x_n, &err), p0: doubles("P0", e.P0, e.P0_n, &err), p: doubles("P", e.P, e.P_n, &err),
			innovation: doubles("innovation", e.innovation, e.innovation_n, &err), ratio: doubles("ratio", e.ratio, e.ratio_n, &err),
		}
		if err == nil {
			err = l.update(int64(t), ys, us, &out)
		}
		if err != nil {
			return err
		}
		e.P0_used, e.used, e.rejected = C.size_t(out.p0Used), C.size_t(out.taken.Used), C.size_t(out.taken.Rejected)
		e.nis, e.reset, e.flags = C.double(out.taken.NIS), C.uint32_t(out.taken.Reset), 0
		for _, f := range [...]struct {
			is   bool
			flag C.uint32_t
		}{{out.unsettled, flagUnsettled}, {out.taken.Late, flagLate}, {out.taken.Dropped, flagDropped}} {
			if f.is {
				e.flags |= f.flag
			}
		}
		return nil
	})
}

//export dgm_learn
func dgm_learn(handle C.dgm_model, t C.int64_t, x *C.double, xN C.size_t, u *C.double, uN C.size_t, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		var err error
		xs, us := doubles("x", x, xN, &err), doubles("u", u, uN, &err)
		if err != nil {
			return err
		}
		return l.learn(int64(t), xs, us)
	})
}

//export dgm_forget
func dgm_forget(handle C.dgm_model, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		l.forget()
		l.restart()
		return nil
	})
}

//export dgm_get_amount
func dgm_get_amount(handle C.dgm_model, i C.size_t, name *C.char, nameSize C.size_t, unit *C.char, unitSize C.size_t, value, std *C.double, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		all := l.amounts()
		if uint64(i) >= uint64(len(all)) || value == nil || std == nil {
			return fail(codeWrong, "amount %d of %d, or value or std is NULL", uint64(i), len(all))
		}
		a := &all[i]
		text{name, nameSize}.write(a.Name)
		text{unit, unitSize}.write(a.Unit)
		*value, *std = C.double(a.Value), C.double(a.Std)
		return nil
	})
}

//export dgm_predict
func dgm_predict(handle C.dgm_model, q *C.dgm_query, a *C.dgm_answer, message *C.char, messageSize C.size_t) (code C.int) {
	return with(handle, text{message, messageSize}, func(l *loaded) error {
		if q == nil || a == nil {
			return fail(codeWrong, "query or answer is NULL")
		}
		if err := cmp.Or(sizeChecked("query", q.size, unsafe.Sizeof(*q)), sizeChecked("answer", a.size, unsafe.Sizeof(*a))); err != nil {
			return err
		}
		for _, v := range [...]C.size_t{q.plan_rows, q.history_rows, q.samples, q.workers} {
			if uint64(v) > mostNumbers {
				return fail(codeWrong, "query: a count of %d is too large", uint64(v))
			}
		}
		var err error
		in := query{
			want:   uint64(q.want),
			states: doubles("states", q.states, q.states_n, &err), p0: doubles("P0", q.P0, q.P0_n, &err), u: doubles("u", q.u, q.u_n, &err),
			plans: doubles("plans", q.plans, q.plans_n, &err), planRows: int(q.plan_rows), planStep: float64(q.plan_step),
			history: doubles("history", q.history, q.history_n, &err), historyRows: int(q.history_rows),
			times: doubles("times", q.times, q.times_n, &err), samples: int(q.samples), seed: uint64(q.seed), workers: int(q.workers),
			meanAdjoint: doubles("mean_adjoint", q.mean_adjoint, q.mean_adjoint_n, &err), stdAdjoint: doubles("std_adjoint", q.std_adjoint, q.std_adjoint_n, &err),
			limits: estimator.Limits{HalfSpaces: doubles("half_spaces", q.half_spaces, q.half_spaces_n, &err), Boxes: doubles("boxes", q.boxes, q.boxes_n, &err)},
		}
		out := answer{
			mean: doubles("mean", a.mean, a.mean_n, &err), std: doubles("std", a.std, a.std_n, &err), obsStd: doubles("obs_std", a.obs_std, a.obs_std_n, &err),
			jacobian: doubles("jacobian", a.jacobian, a.jacobian_n, &err), samples: doubles("samples", a.samples, a.samples_n, &err),
			inputJacobian: doubles("input_jacobian", a.input_jacobian, a.input_jacobian_n, &err),
			ood:           doubles("ood", a.ood, a.ood_n, &err), half50: doubles("half50", a.half50, a.half50_n, &err),
			covariance: doubles("covariance", a.covariance, a.covariance_n, &err), tube: doubles("tube", a.tube, a.tube_n, &err),
			startGradient: doubles("start_gradient", a.start_gradient, a.start_gradient_n, &err),
			planGradient:  doubles("plan_gradient", a.plan_gradient, a.plan_gradient_n, &err),
			violation:     doubles("violation", a.violation, a.violation_n, &err), violationWhole: doubles("violation_whole", a.violation_whole, a.violation_whole_n, &err),
			flags: numbers[C.uint32_t, uint32]("flags", a.flags, a.flags_n, &err),
		}
		if err == nil {
			err = l.predict(&in, &out)
		}
		return err
	})
}

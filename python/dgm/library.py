"""libdgm by ctypes: its structures, functions and errors. See dgm.h."""

import ctypes
import os
import pathlib
from typing import Tuple
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

import numpy as np

MEAN, STD, OBS_STD, JACOBIAN, SAMPLES, INPUT_JACOBIAN, COVARIANCE, ADJOINT, VIOLATION = (1 << i for i in range(9))
OUT_OF_DISTRIBUTION, NO_HISTORY = 1, 2
UNSETTLED, LATE, DROPPED = 1, 2, 4

_ERRORS = {1: ValueError, 2: ValueError, 3: OSError, 4: ArithmeticError, 5: NotImplementedError, 6: RuntimeError}


class Info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("states", c_size_t), ("inputs", c_size_t), ("times", c_size_t), ("history_rows", c_size_t),
        ("history_seconds", c_double), ("horizon", c_double), ("can", c_uint64), ("id", c_char * 80),
        ("estimated", c_size_t), ("filtered", c_uint32),
    ]


class Query(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("want", c_uint64), ("states", POINTER(c_double)), ("states_n", c_size_t),
        ("P0", POINTER(c_double)), ("P0_n", c_size_t), ("u", POINTER(c_double)), ("u_n", c_size_t),
        ("plans", POINTER(c_double)), ("plans_n", c_size_t), ("plan_rows", c_size_t), ("plan_step", c_double),
        ("history", POINTER(c_double)), ("history_n", c_size_t), ("history_rows", c_size_t),
        ("times", POINTER(c_double)), ("times_n", c_size_t), ("samples", c_size_t), ("seed", c_uint64), ("workers", c_size_t),
        ("mean_adjoint", POINTER(c_double)), ("mean_adjoint_n", c_size_t), ("std_adjoint", POINTER(c_double)), ("std_adjoint_n", c_size_t),
        ("half_spaces", POINTER(c_double)), ("half_spaces_n", c_size_t), ("boxes", POINTER(c_double)), ("boxes_n", c_size_t),
    ]


class Answer(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("mean", POINTER(c_double)), ("mean_n", c_size_t), ("std", POINTER(c_double)), ("std_n", c_size_t),
        ("obs_std", POINTER(c_double)), ("obs_std_n", c_size_t), ("jacobian", POINTER(c_double)), ("jacobian_n", c_size_t),
        ("samples", POINTER(c_double)), ("samples_n", c_size_t), ("input_jacobian", POINTER(c_double)), ("input_jacobian_n", c_size_t), ("ood", POINTER(c_double)), ("ood_n", c_size_t),
        ("half50", POINTER(c_double)), ("half50_n", c_size_t), ("flags", POINTER(c_uint32)), ("flags_n", c_size_t),
        ("covariance", POINTER(c_double)), ("covariance_n", c_size_t), ("tube", POINTER(c_double)), ("tube_n", c_size_t),
        ("start_gradient", POINTER(c_double)), ("start_gradient_n", c_size_t), ("plan_gradient", POINTER(c_double)), ("plan_gradient_n", c_size_t),
        ("violation", POINTER(c_double)), ("violation_n", c_size_t), ("violation_whole", POINTER(c_double)), ("violation_whole_n", c_size_t),
    ]


class Estimate(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("x", POINTER(c_double)), ("x_n", c_size_t), ("P0", POINTER(c_double)), ("P0_n", c_size_t), ("P0_used", c_size_t),
        ("P", POINTER(c_double)), ("P_n", c_size_t), ("innovation", POINTER(c_double)), ("innovation_n", c_size_t),
        ("ratio", POINTER(c_double)), ("ratio_n", c_size_t), ("used", c_size_t), ("rejected", c_size_t), ("nis", c_double),
        ("reset", c_uint32), ("flags", c_uint32),
    ]


_ARGUMENTS = {
    "dgm_open": [c_char_p, POINTER(c_uint64)],
    "dgm_close": [c_uint64],
    "dgm_get_info": [c_uint64, POINTER(Info)],
    "dgm_get_times": [c_uint64, POINTER(c_double), c_size_t],
    "dgm_get_channel": [c_uint64, c_size_t, c_char_p, c_size_t, c_char_p, c_size_t],
    "dgm_get_unit": [c_char_p, c_char_p, c_size_t, POINTER(c_double)],
    "dgm_get_latency": [c_uint64, c_size_t, POINTER(c_double), POINTER(c_double)],
    "dgm_get_program": [c_uint64, c_size_t, c_void_p, c_size_t, POINTER(c_size_t)],
    "dgm_history": [c_uint64, *[POINTER(c_double)] * 4, c_size_t, POINTER(c_double), c_size_t, POINTER(c_size_t)],
    "dgm_get_measured": [c_uint64, POINTER(c_uint8), c_size_t],
    "dgm_update": [c_uint64, c_int64, POINTER(c_double), c_size_t, POINTER(c_double), c_size_t, POINTER(Estimate)],
    "dgm_learn": [c_uint64, c_int64, POINTER(c_double), c_size_t, POINTER(c_double), c_size_t],
    "dgm_forget": [c_uint64],
    "dgm_get_amount": [c_uint64, c_size_t, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_double), POINTER(c_double)],
    "dgm_predict": [c_uint64, POINTER(Query), POINTER(Answer)],
}


class Library:
    """The functions of libdgm.so, which raise what they return."""

    def __init__(self, path: str):
        self._process = os.getpid()
        functions = ctypes.CDLL(path)
        for name, arguments in _ARGUMENTS.items():
            f = getattr(functions, name)
            f.restype, f.argtypes = c_int, [*arguments, c_char_p, c_size_t]
        self._functions = functions

    def forked(self) -> bool:
        """Whether the process is not the one that loaded the library."""
        return os.getpid() != self._process

    def call(self, name: str, *arguments) -> None:
        if self.forked():
            raise RuntimeError("dgm: the process was forked after libdgm was loaded, which a Go runtime does not survive: "
                               "use multiprocessing with 'spawn', or threads")
        error = ctypes.create_string_buffer(500)
        code = getattr(self._functions, name)(*arguments, error, len(error))
        if code:
            raise _ERRORS.get(code, RuntimeError)(error.value.decode("utf-8", "replace"))


_loaded = None


def load() -> Library:
    """Loads the library once: that of DGM_LIBRARY, else the package's own, else an installed one."""
    global _loaded
    if _loaded is None:
        own = pathlib.Path(__file__).with_name("libdgm.so")
        path = os.environ.get("DGM_LIBRARY") or (str(own) if own.exists() else "libdgm.so.1")
        try:
            _loaded = Library(path)
        except OSError as e:
            raise OSError(f"dgm: {path} cannot be loaded ({e}): install the package libdgm, or set DGM_LIBRARY to the file") from None
    return _loaded


def unit(text: str) -> Tuple[str, float]:
    """The one spelling of a unit, and what a whole turn is in it: 0, it is none of angles. ValueError for what is nearly one."""
    spelling, turn = ctypes.create_string_buffer(256), c_double()
    load().call("dgm_get_unit", text.encode(), spelling, len(spelling), ctypes.byref(turn))
    return spelling.value.decode(), turn.value


def pointer(x: np.ndarray, kind=c_double):
    return x.ctypes.data_as(POINTER(kind))

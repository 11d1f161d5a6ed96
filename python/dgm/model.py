"""Predictions of a model file in process."""

import ctypes
import errno
import os
import weakref
from dataclasses import dataclass
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import library
from .arguments import columns, shaped, stamp, whole
from .evaluation import HALF95, Evaluated
from .library import pointer

TUBES = (0.5, 0.9, 0.95)
PLAN_ROWS = 20  # of a program at most, where none are given

Floats = NDArray[np.float64]
History = Union[ArrayLike, Tuple[ArrayLike, ArrayLike, ArrayLike]]


class Tube(Dict[float, Floats]):
    """Factors by probability: a whole trajectory, all states at all times to the horizon, stays within mean ± factor·std."""

    def __missing__(self, level: float) -> Floats:
        raise KeyError(f"tube: none of {level}; a model has {', '.join(map(str, TUBES))} with std wanted, and none if trained by an earlier release")


@dataclass(frozen=True, repr=False)
class Prediction:
    """The distribution of the state at T times; of a batch all but times have N questions before the other axes.

    Angles are continuous from the state. std and what follows from it are None where only the mean was wanted.
    """

    times: Floats  # (T) s after the state
    mean: Floats  # (T, K)
    std: Optional[Floats]  # (T, K) of the state
    obs_std: Optional[Floats]  # (T, K) of a measurement of it
    half50: Optional[Floats]  # () half width of the 50 % interval over std
    ood: Floats  # () out-of-distribution score; for the mean alone without the posterior's variance
    out_of_distribution: NDArray[np.bool_]  # () ood > 1: do not plan on it
    no_history: NDArray[np.bool_]  # () the model reads history, and there was too little
    cov: Optional[Floats]  # (T, K, K) covariance of the states at a time; its diagonal is std**2
    tube: Dict[float, Floats]  # () by probability 0.5, 0.9, 0.95: see Tube

    def __repr__(self) -> str:
        shape, flagged = self.mean.shape, np.count_nonzero(self.out_of_distribution)
        many = "" if len(shape) == 2 else f"{shape[0]} predictions, each "
        last = [] if self.std is None or many else [f"{m:.3g} ± {d:.2g}" for m, d in zip(self.mean[-1], self.std[-1])]
        end = f"; the last one {', '.join(last)}" if last else ""
        unknown = f", {np.count_nonzero(self.no_history)} without history" if np.any(self.no_history) else ""
        return f"<Prediction: {many}of {shape[-1]} states at {shape[-2]} times up to {self.times[-1]:g} s{end}; {flagged} of {self.ood.size} out of distribution{unknown}>"

    def interval(self, level: float = 0.95) -> Tuple[Floats, Floats]:
        """Lower and upper ends (T, K) of the interval that contains the state with probability 0.5 or 0.95."""
        if self.std is None:
            raise ValueError("std: was not wanted, and intervals follow from it")
        if level == 0.95:
            half = HALF95 * self.std
        elif level == 0.5:
            half = self.half50[..., np.newaxis, np.newaxis] * self.std
        else:
            raise ValueError(f"level: is {level}, must be 0.5 or 0.95")
        return self.mean - half, self.mean + half


class Jacobians(NamedTuple):
    """Derivatives of the mean: A[t, k, c] = ∂mean[t, k]/∂x[c], B[t, k, r, j] = ∂mean[t, k]/∂plan[r, j]."""

    A: Floats  # (T, K, K)
    B: Floats  # (T, K, R, P); by u with R = 1 where no plan is given


class Gradient(NamedTuple):
    """The gradient of a cost of a prediction."""

    x: Floats  # (K)
    plan: Floats  # (R, P); by u with R = 1 where no plan is given


class Violation(NamedTuple):
    """Probabilities to violate M limits, the half-spaces first, then the boxes."""

    each: Floats  # (M, T) of each at each time
    whole: Floats  # () of any of them at any time


RESETS = ("", "first sample", "gap", "time went back", "lost", "diverged")


@dataclass(frozen=True)
class StateEstimate:
    """The estimate of a model's filter after the samples so far: predict(e.x, P0=e.P0) predicts from it."""

    x: Floats  # (K) the state; NaN where no sensor measures it and the estimate does not count yet
    P0: Optional[Floats]  # (K, K) covariance for predict where the state is less certain than usual, else None
    P: Floats  # (K, K) covariance of the estimate
    innovation: Floats  # (K) measured less expected; NaN where nothing was measured
    ratio: Floats  # (K) squared innovation over that at which a measurement is an outlier: above 1 it was rejected
    used: int  # measurements
    rejected: int  # measurements
    nis: float  # normalised innovations squared, of mean used in a consistent filter
    settled: bool  # the estimate counts
    late: bool  # the sample was measured before the newest one, and took its place in time
    dropped: bool  # it was measured before all that is known, and was not used
    reset: str  # why the filter restarted with it; "" = it did not


class Model(Evaluated):
    """A model file of dgm-train, opened. It may be used by several threads at once."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], folder: Any = None):
        self.path, self._folder = os.fspath(path), folder  # the folder, if it is temporary, lives as long as the model
        if folder is not None:
            weakref.finalize(self, folder.cleanup)
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        self._library = library.load()
        handle = ctypes.c_uint64()
        self._library.call("dgm_open", os.fsencode(path), ctypes.byref(handle))
        self._handle = handle
        self._finalizer = weakref.finalize(self, _close, self._library, handle.value)
        info = library.Info(size=ctypes.sizeof(library.Info))
        self._library.call("dgm_get_info", handle, ctypes.byref(info))
        self.id: str = info.id.decode()
        self.horizon: float = info.horizon  # s
        self.history_rows: int = info.history_rows
        self.history_seconds: float = info.history_seconds  # before the state
        self.times: Floats = np.empty(info.times)  # (T) s, the model's own
        self._library.call("dgm_get_times", handle, pointer(self.times), info.times)
        self.times.flags.writeable = False
        channels = [self._channel(i) for i in range(info.states + info.inputs)]
        self.states, self.units = _columns(channels[: info.states])
        self.inputs, self.input_units = _columns(channels[info.states :])
        self.latency: Dict[str, Tuple[float, float]] = {}  # dead time and lag of inputs, s, those that are known
        for i, n in enumerate(self.inputs):
            dead, lag = ctypes.c_double(), ctypes.c_double()
            self._library.call("dgm_get_latency", handle, i, ctypes.byref(dead), ctypes.byref(lag))
            if dead.value >= 0:
                self.latency[n] = dead.value, lag.value
        measured = np.empty(info.states, dtype=np.uint8)
        self._library.call("dgm_get_measured", handle, pointer(measured, ctypes.c_uint8), measured.size)
        self.filtered = bool(info.filtered)  # update estimates the state; else it returns what was measured
        self.estimated: Tuple[str, ...] = tuple(n for n, seen in zip(self.states, measured) if not seen)  # states that no sensor measures

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Model":
        """Opens a model file and evaluates its self-checks."""
        return cls(path)

    def __repr__(self) -> str:
        named = [", ".join(f"{n} [{unit}]" if unit else n for n, unit in zip(*c)) for c in ((self.states, self.units), (self.inputs, self.input_units))]
        return f"<Model {self.path}: predicts {named[0]}" + (f" from {named[1]}" if self.inputs else "") + f", {self.horizon:g} s ahead>"

    def close(self) -> None:
        """Releases the model; calls after it raise ValueError."""
        self._finalizer()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _channel(self, i: int) -> Tuple[str, str]:
        name, unit = ctypes.create_string_buffer(256), ctypes.create_string_buffer(64)
        self._library.call("dgm_get_channel", self._handle, i, name, len(name), unit, len(unit))
        return name.value.decode(), unit.value.decode()

    def predict(self, x: ArrayLike, u: Optional[ArrayLike] = None, plan: Optional[ArrayLike] = None,
                plan_times: Optional[ArrayLike] = None, history: Optional[History] = None, times: Optional[ArrayLike] = None,
                *, P0: Optional[ArrayLike] = None) -> Prediction:
        """Predicts from a state.

        x (K) is the state, in the model's order, or with names as of a row of pandas or a mapping, and so are inputs. u (P) is the input
        that is held; or plan (R, P) the inputs, row i from plan_times[i] on: equal steps from 0; without plan_times the rows divide the horizon. history is rows (H, K+P), the newest
        first, or samples (t, x, u) before the state: t (n) s, at most 0 and ascending, x (n, K), u (n, P). times
        (T) are s after the state, by default the model's own. P0 (K, K) is the covariance of the state's error.
        """
        query = _Query(self, False, x, u, plan, plan_times, history, times, P0)
        return query.predict(True, True).first()

    def batch(self, x: ArrayLike, plans: Optional[ArrayLike] = None, *, u: Optional[ArrayLike] = None,
              plan_times: Optional[ArrayLike] = None, history: Optional[History] = None, times: Optional[ArrayLike] = None,
              P0: Optional[ArrayLike] = None, std: bool = True, cov: bool = False, workers: int = 0) -> Prediction:
        """Predicts N plans from one state, or from N states: x (K) or (N, K), plans (R, P) or (N, R, P).

        u, P0 and rows of history are one for all or N too. The answer has N before its other axes. std=False computes means
        alone, about twice as fast; cov=True computes covariances too. workers bounds the processors; 0 = all.
        """
        query = _Query(self, True, x, u, plans, plan_times, history, times, P0, workers)
        return query.predict(std, cov).answer

    def jacobians(self, x: ArrayLike, u: Optional[ArrayLike] = None, plan: Optional[ArrayLike] = None,
                  plan_times: Optional[ArrayLike] = None, history: Optional[History] = None,
                  times: Optional[ArrayLike] = None) -> Jacobians:
        """The Jacobians of the mean, A (T, K, K) by the state and B (T, K, R, P) by the plan, while the rows of history stay as they
        are; the arguments are those of predict."""
        query = _Query(self, False, x, u, plan, plan_times, history, times, None)
        return query.jacobians()

    def adjoint(self, x: ArrayLike, mean: ArrayLike, std: Optional[ArrayLike] = None, u: Optional[ArrayLike] = None,
                plan: Optional[ArrayLike] = None, plan_times: Optional[ArrayLike] = None, history: Optional[History] = None,
                times: Optional[ArrayLike] = None) -> Gradient:
        """The gradient of a cost by state and plan, in about the time of a prediction, whatever the plan's size.

        mean (T, K) are the derivatives of the cost by the means, std (T, K) those by the standard deviations, whose part takes
        two predictions for each number of state and plan. The other arguments are those of predict.
        """
        query = _Query(self, False, x, u, plan, plan_times, history, times, None)
        return query.adjoint(mean, std)

    def sample(self, x: ArrayLike, n: int, u: Optional[ArrayLike] = None, plan: Optional[ArrayLike] = None,
               plan_times: Optional[ArrayLike] = None, history: Optional[History] = None, times: Optional[ArrayLike] = None,
               *, P0: Optional[ArrayLike] = None, seed: int = 0) -> Floats:
        """n trajectories (n, T, K) from the distribution that predict returns, smooth in time. The same seed gives the
        same ones."""
        query = _Query(self, False, x, u, plan, plan_times, history, times, P0)
        return query.sample(n, seed)

    def violation(self, x: ArrayLike, half_spaces: Optional[ArrayLike] = None, boxes: Optional[ArrayLike] = None,
                  u: Optional[ArrayLike] = None, plan: Optional[ArrayLike] = None, plan_times: Optional[ArrayLike] = None,
                  history: Optional[History] = None, times: Optional[ArrayLike] = None, *, P0: Optional[ArrayLike] = None,
                  n: int = 1000, seed: int = 0) -> Violation:
        """The probabilities that the trajectory enters half-spaces (M, K+1), rows a and b of a·x > b, or boxes (M, 2, K), low and
        high bounds of the states, ±inf is none. Those of half-spaces are exact at each time, the others shares of n trajectories.
        The other arguments are those of predict."""
        query = _Query(self, False, x, u, plan, plan_times, history, times, P0)
        return query.violation(half_spaces, boxes, n, seed)

    def history(self, x: ArrayLike, t: ArrayLike, xs: ArrayLike, us: Optional[ArrayLike] = None) -> Floats:
        """Rows of history (at most history_rows, K+P) from samples before the state x: see predict."""
        K, P = len(self.states), len(self.inputs)
        t = shaped("history t", t, (-1,))
        xs = shaped("history x", xs, (len(t), K))
        us = shaped("history u", np.empty((len(t), 0)) if us is None else us, (len(t), P))
        wrong = np.flatnonzero(~((t <= 0) & (np.diff(t, prepend=-np.inf) > 0)))
        if wrong.size:
            raise ValueError(f"history t: element {wrong[0]} is {t[wrong[0]]:g}, must be s before the state: ascending, at most 0")
        rows, used = np.empty((self.history_rows, K + P)), ctypes.c_size_t()
        self._library.call("dgm_history", self._handle, pointer(shaped("x", columns("x", x, self.states), (K,))), pointer(t), pointer(xs), pointer(us), len(t),
                           pointer(rows), rows.size, ctypes.byref(used))
        return rows[: used.value]

    def update(self, t: float, y: Union[ArrayLike, Mapping[str, float]], u: Optional[ArrayLike] = None) -> StateEstimate:
        """Estimate the state from a sample at t, s: y (K) with NaN for what was not measured, or values by name; u (P) is the input
        from then on, by default the one before.

        Sensors may come at rates of their own; one that is late by less than a second takes its place in time. A model without
        a filter returns what was measured. An open model has one robot: load it once for each. forget begins anew.
        """
        K = len(self.states)
        if isinstance(y, Mapping):
            unknown = sorted(set(y) - set(self.states))
            if unknown:
                raise ValueError(f"y: the model has no state {', '.join(unknown)}; it has {', '.join(self.states)}")
            y = [y.get(n, np.nan) for n in self.states]
        y = shaped("y", columns("y", y, self.states), (K,))
        held = np.empty(0) if u is None or not self.inputs else shaped("u", columns("u", u, self.inputs), (len(self.inputs),))
        x, P0, P, innovation, ratio = np.empty(K), np.empty((K, K)), np.empty((K, K)), np.empty(K), np.empty(K)
        e = library.Estimate(size=ctypes.sizeof(library.Estimate), x=pointer(x), x_n=K, P0=pointer(P0), P0_n=P0.size, P=pointer(P), P_n=P.size,
                             innovation=pointer(innovation), innovation_n=K, ratio=pointer(ratio), ratio_n=K)
        self._library.call("dgm_update", self._handle, stamp(t), pointer(y), K, pointer(held), held.size, ctypes.byref(e))
        return StateEstimate(x, P0 if e.P0_used else None, P, innovation, ratio, e.used, e.rejected, e.nis, not e.flags & library.UNSETTLED,
                             bool(e.flags & library.LATE), bool(e.flags & library.DROPPED), RESETS[e.reset])

    def learn(self, t: float, x: ArrayLike, u: Optional[ArrayLike] = None) -> None:
        """Add a sample of the robot of today: its state x (K) and the input u (P) applied from then on, at t, s, after the last one.

        Means and standard deviations of later predictions are corrected by what the samples show, as an estimator with
        adapt = "on" does. Those with a plan and those with a held u are corrected separately, each as far as it was found to help;
        a constant input is a plan of one row. Derivatives and covariances stay those of the model. NotImplementedError where the
        model cannot adapt.
        """
        x = shaped("x", columns("x", x, self.states), (len(self.states),))
        u = shaped("u", np.empty(0) if u is None else columns("u", u, self.inputs), (len(self.inputs),)) if self.inputs else np.empty(0)
        self._library.call("dgm_learn", self._handle, stamp(t), pointer(x), x.size, pointer(u), u.size)

    def forget(self) -> None:
        """Forget all samples of learn and update."""
        self._library.call("dgm_forget", self._handle)

    @property
    def amounts(self) -> Dict[str, Tuple[float, float, str]]:
        """The amounts learned by learn: value, standard deviation and unit by name ("gain m1", "bias vx"); empty before a sample."""
        out: Dict[str, Tuple[float, float, str]] = {}
        name, unit = ctypes.create_string_buffer(200), ctypes.create_string_buffer(80)
        value, std = ctypes.c_double(), ctypes.c_double()
        while True:
            try:
                self._library.call("dgm_get_amount", self._handle, len(out), name, len(name), unit, len(unit), ctypes.byref(value), ctypes.byref(std))
            except ValueError:
                return out
            out[name.value.decode()] = (value.value, std.value, unit.value.decode())

    def program(self, plan_rows: Optional[int] = None) -> bytes:
        """The model's programs for plans of so many rows that divide the horizon: the document of PROGRAM-FORMAT.md, which
        dgm.jax and dgm.casadi evaluate. None: as many rows as the model has times, and at most 20."""
        if plan_rows is None:
            plan_rows = min(len(self.times), PLAN_ROWS)
        plan_rows = whole("plan_rows", plan_rows, 1)
        size = ctypes.c_size_t()
        self._library.call("dgm_get_program", self._handle, plan_rows, None, 0, ctypes.byref(size))
        document = ctypes.create_string_buffer(size.value)
        self._library.call("dgm_get_program", self._handle, plan_rows, document, size.value, ctypes.byref(size))
        return document.raw[: size.value]


def _close(of: library.Library, handle: int) -> None:
    if not of.forked():
        of.call("dgm_close", handle)


def _columns(channels: Sequence[Tuple[str, str]]) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    return tuple(name for name, _ in channels), tuple(unit for _, unit in channels)


def _step(plan_times: Optional[ArrayLike], rows: int, horizon: float) -> float:
    """Seconds of a row of a plan whose rows begin at plan_times; 0 = the rows divide the horizon."""
    if plan_times is None:
        return 0.0
    t = shaped("plan_times", plan_times, (rows,))
    if rows < 2:
        raise ValueError("plan_times: one row has no step; leave them out, the row is held over the horizon")
    step = t[-1] / (rows - 1)
    if not (step > 0 and np.allclose(t, step * np.arange(rows), rtol=0, atol=1e-6 * step)):
        raise ValueError("plan_times: must be equal steps that begin at 0; resample the plan")
    if step > horizon:
        raise ValueError(f"plan_times: the second row begins at {step:g} s, after the horizon of {horizon:g} s; are the times in s?")
    return float(step)


@dataclass
class _Answered:
    answer: Prediction

    def first(self) -> Prediction:
        a = self.answer
        fields = (a.mean, a.std, a.obs_std, a.half50, a.ood, a.out_of_distribution, a.no_history, a.cov)
        return Prediction(a.times, *(None if f is None else f[0] for f in fields), Tube({level: f[0] for level, f in a.tube.items()}))


class _Query:
    """A dgm_query with the arrays that it points to."""

    def __init__(self, model: Model, many: bool, x, u, plans, plan_times, history, times, P0, workers=0):
        self.model, K, P = model, len(model.states), len(model.inputs)
        self.query = q = library.Query(size=ctypes.sizeof(library.Query), workers=whole("workers", workers))
        self._kept = []
        self._names = {"states": "x", "plans": "plans" if many else "plan", "plan_step": "plan_times", "mean_adjoint": "mean", "std_adjoint": "std"}
        counts: Dict[str, int] = {}

        def put(field: str, value, *row: int) -> Floats:
            name = self._names.get(field, field)
            a = shaped(name, value, *([row, (-1, *row)] if many else [row]))
            self.attach(field, a)
            counts[name] = len(a) if a.ndim > len(row) else 1
            return a

        put("states", columns("x", x, model.states), K)
        if u is not None:
            put("u", columns("u", u, model.inputs), P)
        if P0 is not None:
            put("P0", P0, K, K)
        if plans is not None:
            q.plan_rows = put("plans", columns(self._names["plans"], plans, model.inputs), -1, P).shape[-2]
            q.plan_step = _step(plan_times, q.plan_rows, model.horizon)
        elif plan_times is not None:
            raise ValueError("plan_times: come without a plan")
        if isinstance(history, tuple):
            if np.ndim(x) != 1:
                raise ValueError("history: samples belong to one state; give rows for each: Model.history")
            if len(history) not in (2, 3):
                raise ValueError(f"history: is a tuple of {len(history)}, must be samples (t, x, u), or an array of rows (H, {K + P})")
            history = model.history(x, *history)
        if isinstance(history, np.ndarray) and not history.size or isinstance(history, list) and not history:
            history = None  # there is none yet
        if history is not None:
            try:
                q.history_rows = put("history", history, -1, K + P).shape[-2]
            except ValueError as e:
                raise ValueError(f"{e}, rows; or a tuple (t, x, u), samples") from None
        self.n = next((n for n in counts.values() if n > 1), 1)
        for name, count in counts.items():
            if count not in (1, self.n):
                raise ValueError(f"{name}: {count} of them, and others are {self.n}: give one, or as many")
        self.times = model.times if times is None else shaped("times", times, (-1,))
        if times is not None:
            self.attach("times", self.times)
        self.shape = (self.n, len(self.times), K)
        self.answered = library.Answer(size=ctypes.sizeof(library.Answer))

    def attach(self, name: str, a: Floats) -> None:
        self._kept.append(a)  # as long as the query points to it
        setattr(self.query, name, pointer(a))
        setattr(self.query, name + "_n", a.size)

    def want(self, bit: int, name: str, shape: Tuple[int, ...], kind=ctypes.c_double) -> np.ndarray:
        self.query.want |= bit
        a = np.empty(shape, dtype=np.float64 if kind is ctypes.c_double else np.uint32)
        setattr(self.answered, name, pointer(a, kind))
        setattr(self.answered, name + "_n", a.size)
        return a

    def ask(self) -> None:
        try:
            self.model._library.call("dgm_predict", self.model._handle, ctypes.byref(self.query), ctypes.byref(self.answered))
        except (ArithmeticError, ValueError) as e:  # the fields of a query have other names in Python
            field, found, text = str(e).partition(":")
            raise type(e)(self._names.get(field, field) + found + text) from None

    def predict(self, std: bool, cov: bool) -> _Answered:
        mean, ood = self.want(library.MEAN, "mean", self.shape), self.want(0, "ood", (self.n,))
        flags = self.want(0, "flags", (self.n,), ctypes.c_uint32)
        wide = obs = half50 = covariance = tube = None
        if cov:
            covariance = self.want(library.COVARIANCE, "covariance", (*self.shape, self.shape[2]))
        if std:
            tube = self.want(0, "tube", (self.n, len(TUBES)))
            wide, obs = self.want(library.STD, "std", self.shape), self.want(library.OBS_STD, "obs_std", self.shape)
            half50 = self.want(0, "half50", (self.n,))
        self.ask()
        out, without = (flags & library.OUT_OF_DISTRIBUTION) != 0, (flags & library.NO_HISTORY) != 0
        known = tube is not None and (tube > 0).all()
        factors = Tube({level: tube[:, i] for i, level in enumerate(TUBES)} if known else {})
        return _Answered(Prediction(self.times, mean, wide, obs, half50, ood, out, without, covariance, factors))

    def jacobians(self) -> Jacobians:
        P, shape = len(self.model.inputs), self.shape[1:]
        A, B = self.want(library.JACOBIAN, "jacobian", (*shape, shape[1])), np.empty((*shape, 1, 0))
        if P:
            B = self.want(library.INPUT_JACOBIAN, "input_jacobian", (*shape, max(self.query.plan_rows, 1), P))
        self.ask()
        return Jacobians(A, B)

    def adjoint(self, mean: ArrayLike, std: Optional[ArrayLike]) -> Gradient:
        self.query.want |= library.ADJOINT
        self.attach("mean_adjoint", shaped("mean", mean, self.shape[1:]))
        if std is not None:
            self.attach("std_adjoint", shaped("std", std, self.shape[1:]))
        P = len(self.model.inputs)
        x, plan = self.want(0, "start_gradient", self.shape[2:]), np.empty((1, 0))
        if P:
            plan = self.want(0, "plan_gradient", (max(self.query.plan_rows, 1), P))
        self.ask()
        return Gradient(x, plan)

    def drawn(self, n: int, seed: int) -> None:
        """Sets how many trajectories are drawn."""
        self.query.samples, self.query.seed = whole("n", n, 1), whole("seed", seed, most=2**64 - 1)

    def violation(self, half_spaces: Optional[ArrayLike], boxes: Optional[ArrayLike], n: int, seed: int) -> Violation:
        self.drawn(n, seed)
        if half_spaces is None and boxes is None:
            raise ValueError("half_spaces and boxes: give limits that the trajectory may violate, at least one")
        T, K, limits = *self.shape[1:], 0
        for name, value, row in (("half_spaces", half_spaces, (K + 1,)), ("boxes", boxes, (2, K))):
            if value is not None:
                a = shaped(name, value, (-1, *row))
                self.attach(name, a)
                limits += len(a)
        each, whole = self.want(library.VIOLATION, "violation", (limits, T)), self.want(0, "violation_whole", (1,))
        self.ask()
        return Violation(each, whole[0])

    def sample(self, n: int, seed: int) -> Floats:
        self.drawn(n, seed)
        samples = self.want(library.SAMPLES, "samples", (self.query.samples, *self.shape[1:]))
        self.ask()
        return samples

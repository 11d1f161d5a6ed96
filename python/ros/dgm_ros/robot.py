"""What a node knows of a robot between messages: state, history, and whether its predictions came true. No ROS in here."""

from __future__ import annotations

import collections
import math
from typing import Any, Deque, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HALF95 = 1.959963984540054
PENDING = 400  # predictions that wait for what is measured later
RECENT = 2000  # comparisons of a channel that its coverage is of
MOST_ROWS = 100  # of a plan that a new command makes
NIS_MEMORY = 500  # samples that the mean of the normalised innovations squared is over, about


class Robot:
    """The newest values of all channels with their times, the samples before them, and the coverage of intervals so far.

    Of a model with a filter, each message is a measurement of what it holds, at its time, and the state is the filter's estimate.
    Of one without, the state is the newest value of each channel.
    """

    def __init__(self, model: Any, max_age: float):
        self.model, self.max_age = model, max_age
        self.K, self.P = len(model.states), len(model.inputs)
        self.values = np.full(self.K + self.P, np.nan)
        self.times = np.full(self.K + self.P, -np.inf)
        self.commands: Deque[Tuple[float, Floats]] = collections.deque()  # inputs (P) with the time from which they hold
        self.estimate: Any = None  # dgm.StateEstimate, at newest
        self.newest = -math.inf
        self.samples: Deque[Tuple[float, Floats, Floats]] = collections.deque()
        self.pending: Deque[Tuple[float, Floats, Floats]] = collections.deque(maxlen=PENDING)
        self.hits: List[Deque[bool]] = [collections.deque(maxlen=RECENT) for _ in range(self.K)]
        self.restarts = 0
        self.outliers = np.zeros(self.K, dtype=int)
        self.resets: Dict[str, int] = collections.Counter()
        self.nis = math.nan
        self.plan: Optional[Tuple[float, Floats]] = None  # when it begins, and its rows

    def update(self, t: float, values: Dict[int, float]) -> None:
        """Takes values of channels, by their places, at t, s. A time before that of their last values, by more than max_age, is that of a clock
        that was set: what is known is of before, and is dropped."""
        if t < self.times[list(values)].max() - self.max_age:
            self.values[:], self.times[:] = np.nan, -np.inf
            for known in (self.samples, self.pending, self.commands):
                known.clear()
            self.estimate, self.newest = None, -math.inf
            self.model.forget()
            self.restarts += 1
        for place, v in values.items():
            if t >= self.times[place]:
                self.values[place], self.times[place] = v, t
        if any(place >= self.K for place in values):
            self.commands.append((max([t, *(c[0] for c in list(self.commands)[-1:])]), self.values[self.K :].copy()))
            while len(self.commands) > 1 and self.commands[1][0] < t - 2 * self.max_age:
                self.commands.popleft()
        if self.model.filtered and any(place < self.K for place in values):
            self._filter(t, {place: v for place, v in values.items() if place < self.K and np.isfinite(v)})

    def measured(self, values: Dict[int, float]) -> Floats:
        """The states (K) of values by their places, NaN for the others."""
        y = np.full(self.K, np.nan)
        for place, v in values.items():
            if place < self.K:
                y[place] = v
        return y

    def input_at(self, t: float) -> Floats:
        """The inputs (P) that hold at t, as a log has them, the oldest known before all of them; NaN = not received. Where stamps are of
        another clock than the commands', more than max_age behind it, the newest ones."""
        if self.commands and self.commands[-1][0] <= t + self.max_age:
            return next((u for at, u in reversed(self.commands) if at <= t), self.commands[0][1])
        return self.values[self.K :]

    def _filter(self, t: float, measured: Dict[int, float]) -> None:
        y, u = self.measured(measured), self.input_at(t)
        self.estimate = e = self.model.update(t, y, u if np.isfinite(u).all() else None)
        self.newest = max(self.newest, t)
        self.outliers += np.nan_to_num(e.ratio) > 1
        if e.reset:
            self.resets[e.reset] += 1
        if e.settled and e.used:
            nis = e.nis / e.used
            self.nis = nis if math.isnan(self.nis) else self.nis + (nis - self.nis) / NIS_MEMORY

    def sample(self, t: float) -> Optional[str]:
        """Makes what is known the sample at t. It returns why not, where it is not enough."""
        u = self.input_at(t).copy()
        if not np.isfinite(u).all():
            return f"the input {self.model.inputs[int(np.argmin(np.isfinite(u)))]} has not been received"
        reason = self._estimated() if self.model.filtered else self._measured(t)
        if reason:
            return reason
        x = self.values[: self.K].copy()
        if self.model.filtered:
            fresh = (self.times[: self.K] == self.newest) & np.isfinite(x) & ~(np.nan_to_num(self.estimate.ratio) > 1)
            t, compared, x = self.newest, np.where(fresh, x, self.estimate.x), self.estimate.x
            if self.samples and t == self.samples[-1][0]:
                self.samples.pop()  # a late measurement of another sensor has changed it
        else:
            if self.estimate is None:
                self.estimate = self.model.update(t, x)  # its covariance is that of the sensors, at all times
            self.newest, compared = t, x
        if self.samples and t <= self.samples[-1][0]:
            return "its time is not after that of the state before"
        if self.samples and t - self.samples[-1][0] > max(self.max_age, 0.5):
            self.samples.clear()  # history has no gaps
        self._compare(t, compared)
        self.samples.append((t, x, u))
        while self.samples[0][0] < t - 1.5 * self.model.history_seconds - 0.1:
            self.samples.popleft()
        return None

    def _measured(self, t: float) -> Optional[str]:
        for k in range(self.K):
            if t - self.times[k] > self.max_age:
                return f"{self.model.states[k]} has not been received" + ("" if np.isinf(self.times[k]) else f" for {t - self.times[k]:.2g} s")
            if not np.isfinite(self.values[k]):
                return f"{self.model.states[k]} is not measured"
        return None

    def _estimated(self) -> Optional[str]:
        if self.estimate is None:
            return "nothing has been measured"
        if not self.estimate.settled:
            return "the filter has not settled: " + (self.estimate.reset or "the variance of a rate is above its usual one")
        return None

    @property
    def P0(self) -> Optional[Floats]:
        """The covariance (K, K) that a prediction from the newest sample starts with; None = the sensors'."""
        return self.estimate.P0 if self.model.filtered else None

    def planned(self, t: float) -> Optional[Floats]:
        """The rows (R, P) of the plan over the horizon from t on, the last one held beyond its end. Without a plan, and when it has
        ended, the input is held: None, or after a command that is newer than the state that one from the next sample on."""
        if self.plan is not None:
            begin, rows = self.plan
            passed = max(0, int((t - begin) / self.model.horizon * len(rows) + 1e-6))
            if passed < len(rows):
                return rows[np.minimum(passed + np.arange(len(rows)), len(rows) - 1)]
        u, newest = self.input_at(t), self.values[self.K :]
        if len(self.samples) < 2 or (u == newest).all() or not np.isfinite(newest).all():
            return None
        rows = np.tile(newest, (min(MOST_ROWS, max(2, round(self.model.horizon / (t - self.samples[-2][0])))), 1))
        rows[0] = u
        return rows

    def history(self) -> Optional[Tuple[Floats, Floats, Floats]]:
        """The samples before the newest one; None where the model reads none, or there are none."""
        if not self.model.history_rows or len(self.samples) < 2:
            return None
        t, before = self.samples[-1][0], list(self.samples)[:-1]
        return np.array([b[0] - t for b in before]), np.array([b[1] for b in before]), np.array([b[2] for b in before]).reshape(len(before), self.P)

    def predict(self) -> Any:
        """The prediction from the newest sample, with the plan, or the input held."""
        t, x, u = self.samples[-1]
        plan = self.planned(t)
        asked: Dict[str, Any] = {} if not self.P else {"u": u} if plan is None else {"plan": plan}
        p = self.model.predict(x, history=self.history(), P0=self.P0, **asked)
        self.expect(t, p)
        return p

    def expect(self, t: float, p: Any) -> None:
        """Compares a prediction from t with what is measured later."""
        middle = len(p.times) // 2
        self.pending.append((t + p.times[middle], p.mean[middle], p.obs_std[middle]))

    def predict_plans(self, plans: Floats) -> Any:
        """The predictions of plans (N, R, P) that divide the horizon, from the newest sample."""
        return self.model.batch(self.samples[-1][1], plans, history=self.history(), P0=self.P0)

    def coverage(self) -> Dict[str, Tuple[float, int]]:
        """Share of measurements inside their intervals of 95 %, half a horizon ahead, and their number, by state."""
        return {n: (float(np.mean(h)) if h else np.nan, len(h)) for n, h in zip(self.model.states, self.hits)}

    def _compare(self, t: float, x: Floats) -> None:
        """Compares the predictions for times up to t with the measurement, interpolated from the one before."""
        while self.pending and self.pending[0][0] <= t:
            due, mean, std = self.pending.popleft()
            if not self.samples or due < self.samples[-1][0]:
                continue
            t0, x0, _ = self.samples[-1]
            w = (due - t0) / (t - t0)
            inside = np.abs(x0 + w * (x - x0) - mean) <= HALF95 * std
            for k, h in enumerate(self.hits):
                h.append(bool(inside[k]))

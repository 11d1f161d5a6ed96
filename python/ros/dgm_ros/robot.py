"""What a node knows of a robot between messages: state, history, and whether its predictions came true. No ROS in here."""

from __future__ import annotations

import collections
from typing import Any, Deque, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HALF95 = 1.959963984540054
PENDING = 400  # predictions that wait for what is measured later
RECENT = 2000  # comparisons of a channel that its coverage is of


class Robot:
    """The newest values of all channels with their times, the samples before them, and the coverage of intervals so far."""

    def __init__(self, model: Any, max_age: float):
        self.model, self.max_age = model, max_age
        self.K, self.P = len(model.states), len(model.inputs)
        self.values = np.full(self.K + self.P, np.nan)
        self.times = np.full(self.K + self.P, -np.inf)
        self.samples: Deque[Tuple[float, Floats, Floats]] = collections.deque()
        self.pending: Deque[Tuple[float, Floats, Floats]] = collections.deque(maxlen=PENDING)
        self.hits: List[Deque[bool]] = [collections.deque(maxlen=RECENT) for _ in range(self.K)]
        self.restarts = 0
        self.plan: Optional[Tuple[float, Floats]] = None  # when it begins, and its rows

    def update(self, t: float, values: Dict[int, float]) -> None:
        """Takes values of channels, by their places, at t, s. A time before the newest one, by more than max_age, is that of a clock
        that was set: what is known is of before, and is dropped."""
        newest = self.times.max()
        if t < newest - self.max_age:
            self.values[:], self.times[:] = np.nan, -np.inf
            self.samples.clear()
            self.pending.clear()
            self.restarts += 1
        for place, v in values.items():
            if t >= self.times[place]:
                self.values[place], self.times[place] = v, t

    def sample(self, t: float) -> Optional[str]:
        """Makes the values the sample at t. It returns why not, where they are none."""
        for k in range(self.K):
            if t - self.times[k] > self.max_age:
                return f"{self.model.states[k]} has not been received" + ("" if np.isinf(self.times[k]) else f" for {t - self.times[k]:.2g} s")
            if not np.isfinite(self.values[k]):
                return f"{self.model.states[k]} is not measured"
        for j in range(self.P):
            if not np.isfinite(self.values[self.K + j]):
                return f"the input {self.model.inputs[j]} has not been received"
        if self.samples and t <= self.samples[-1][0]:
            return "its time is not after that of the state before"
        if self.samples and t - self.samples[-1][0] > max(self.max_age, 0.5):
            self.samples.clear()  # history has no gaps
        x, u = self.values[: self.K].copy(), self.values[self.K :].copy()
        self._compare(t, x)
        self.samples.append((t, x, u))
        while self.samples[0][0] < t - 1.5 * self.model.history_seconds - 0.1:
            self.samples.popleft()
        return None

    def planned(self, t: float) -> Optional[Floats]:
        """The rows (R, P) of the plan over the horizon from t on, the last one held beyond its end; None without one, and when it
        has ended: then the input is held."""
        if self.plan is None:
            return None
        begin, rows = self.plan
        passed = max(0, int((t - begin) / self.model.horizon * len(rows) + 1e-6))
        if passed >= len(rows):
            return None
        return rows[np.minimum(passed + np.arange(len(rows)), len(rows) - 1)]

    def predict(self) -> Any:
        """The prediction from the newest sample, with the plan, or the input held."""
        t, x, u = self.samples[-1]
        plan = self.planned(t)
        history = None
        if self.model.history_rows and len(self.samples) > 1:
            before = list(self.samples)[:-1]
            history = (np.array([b[0] - t for b in before]), np.array([b[1] for b in before]), np.array([b[2] for b in before]).reshape(len(before), self.P))
        if not self.P:
            p = self.model.predict(x, history=history)
        elif plan is None:
            p = self.model.predict(x, u=u, history=history)
        else:
            p = self.model.predict(x, plan=plan, history=history)
        middle = len(p.times) // 2
        self.pending.append((t + p.times[middle], p.mean[middle], p.obs_std[middle]))
        return p

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

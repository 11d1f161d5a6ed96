"""What the models of one step share: windows on a grid of times, roll-outs, folds, and split-conformal intervals.

A model of a step reads the state (angles as sine and cosine), the displacements and mean inputs of some steps before, and the mean
input of the step, and gives the displacement over the step. A roll-out feeds its displacements back, the history too.
"""

import dataclasses
import math

import numpy as np
from scipy.interpolate import CubicSpline

from .flights import FOLDS, Z95

HISTORIES = (1, 4, 10)  # steps before the start


def lengths(task):
    """Returns lengths of a step to choose from, s: the largest that divides all horizons, a half and a fifth of it, none below the
    sampling time."""
    dt = np.median(np.concatenate([np.diff(f.t) for f in task.train]))
    counts = [task.times / task.times[0] * n for n in range(1, 100)]
    multiples = [task.times[0] / c[0] for c in counts if np.allclose(c, np.round(c), atol=1e-6)]
    largest = next((step for step in multiples if step > 0.99 * dt), dt)
    return [largest / n for n in (1, 2, 5) if n == 1 or largest / n > 0.99 * dt]


@dataclasses.dataclass
class Windows:
    """Windows on a grid of steps: states x (W, history+1+steps, K) and mean inputs u (W, history+steps, P). places (T) are those of the
    horizons among the steps, fold (W) is a window's fold (training only)."""

    task: object
    x: np.ndarray
    u: np.ndarray
    history: int
    places: np.ndarray
    fold: np.ndarray = None

    def only(self, chosen):
        """Returns the chosen windows."""
        return dataclasses.replace(self, x=self.x[chosen], u=self.u[chosen], fold=None if self.fold is None else self.fold[chosen])

    def seen(self, j):
        """Returns what a model reads of state and history at step j (W, S)."""
        past = self.x[:, j : self.history + j + 1]
        parts = [self.task.now(past[:, -1]), np.diff(past, axis=1)[:, ::-1], self.u[:, j : self.history + j]]
        return np.concatenate([p.reshape(len(past), -1) for p in parts], axis=1)

    def transitions(self, most):
        """Returns at most so many transitions: what is seen (N, S), inputs (N, P) and displacements (N, K). Those of the first step and of
        the last are all there are, as windows overlap."""
        last = self.u.shape[1] - self.history - 1
        at = [(j, self.history + j) for j in sorted({0, last})]
        rows = [(self.seen(j), self.u[:, i], self.x[:, i + 1] - self.x[:, i]) for j, i in at]
        chosen = np.random.default_rng(0).permutation(len(at) * len(self.x))[:most]
        return [np.concatenate(part)[chosen] for part in zip(*rows)]

    def measured(self):
        """Returns the displacements from the start at the horizons (W, T, K)."""
        return self.x[:, self.history + 1 + self.places] - self.x[:, self.history, None]

    def rolled(self, step, limit):
        """Returns the displacements at the horizons (W, T, K) that a step, a function of what is seen and the input, leads to. No step
        is longer than limit (K)."""
        w = dataclasses.replace(self, x=self.x.copy())
        for j in range(self.history, self.u.shape[1]):
            w.x[:, j + 1] = w.x[:, j] + np.clip(step(w.seen(j - self.history), self.u[:, j]), -limit, limit)
        return w.measured()

    def limit(self):
        """Returns twice the largest displacement over a step (K), which keeps an unstable roll-out finite."""
        return 2 * np.abs(np.diff(self.x, axis=1)).max(axis=(0, 1))


def cut(task, flights, windows, step, history, fold=None, places=None):
    """Returns windows on a grid; places are those of the horizons, where they are not given."""
    places = np.round(task.times / step).astype(int) - 1 if places is None else places
    steps = places[-1] + 1
    x, u = np.empty((len(windows), history + 1 + steps, task.K)), np.empty((len(windows), history + steps, task.P))
    for f in np.unique(windows[:, 0]):
        rows = windows[:, 0] == f
        at = flights[f].t[windows[rows, 1]][:, None] + step * np.arange(-history, steps + 1)
        x[rows], u[rows] = flights[f].state(at), flights[f].mean_input(at)
    return Windows(task, x, u, history, places, fold)


def training(task, step, history, most):
    """Returns at most so many training windows."""
    windows = task.windows(most)
    return cut(task, task.train, windows, step, history, task.groups(windows))


def simulated(task, step, history, forecast):
    """Returns the states of the record (n, K), where all after the initial samples is a forecast, a function of windows; None
    without a record."""
    f, last = task.record, task.initial - 1
    if f is None:
        return None
    count = math.ceil((f.t[-1] - f.t[last]) / step)
    window = cut(task, [f], np.array([[0, last]]), step, history, places=np.arange(count))
    path = f.x[last] + np.concatenate([np.zeros((1, task.K)), forecast(window)[0]])
    after = CubicSpline(f.t[last] + step * np.arange(count + 1), path)(f.t[last + 1 :])
    return np.concatenate([np.nan_to_num(f.x[: last + 1]), after])


def loss(errors, measured):
    """Returns the mean logarithm of the RMSE over that of hold."""
    return np.log(np.sqrt((errors**2).mean(axis=0)) / np.sqrt((measured**2).mean(axis=0) + 1e-24)).mean()


def folds(windows):
    """Yields what is fitted to and what is held out, for each fold that has windows."""
    for fold in range(FOLDS):
        held = windows.fold == fold
        if held.any() and not held.all():
            yield windows.only(~held), windows.only(held)


def conformal(errors, count):
    """Returns std and half50 (count, T, K) of the split-conformal intervals of held-out errors (N, T, K)."""
    n = len(errors)
    half = [np.quantile(np.abs(errors), min(1, math.ceil((n + 1) * p) / n), axis=0) for p in (0.5, 0.95)]
    std = np.maximum(half[1] / Z95, 1e-12)
    return np.broadcast_to(std, (count, *std.shape)), np.broadcast_to(half[0] / std, (count, *std.shape))

"""The flights and windows of a recording, as dgm-bench writes them."""

import json

import numpy as np

FOLDS = 4
Z50, Z95 = 0.6744898, 1.959964


class Flight:
    """A flight: t (n), x (n, K), u (n, P), and the integral of the held input (n, P)."""

    def __init__(self, doc, K, P):
        self.t = np.asarray(doc["t"])
        n = len(self.t)
        self.x = np.asarray(doc["x"], dtype=float).reshape(n, K)
        self.u = np.nan_to_num(np.asarray(doc["u"] or [], dtype=float).reshape(n, P))
        steps = np.diff(self.t)[:, None] * self.u[:-1]
        self.integral = np.vstack([np.zeros((1, P)), np.cumsum(steps, axis=0)])

    def state(self, at):
        """Returns the state at times of any shape (…, K), interpolated between measurements, held before the first and after the last."""
        return columns(at, self.x, lambda c: np.interp(at, self.t[np.isfinite(c)], c[np.isfinite(c)]))

    def mean_input(self, edges):
        """Returns the mean input between times (…, N+1): (…, N, P). Before the first sample and after the last the input is theirs."""
        beyond = [np.minimum(edges - self.t[0], 0), np.maximum(edges - self.t[-1], 0)]
        whole = columns(edges, self.integral, lambda c: np.interp(edges, self.t, c))
        whole += beyond[0][..., None] * self.u[0] + beyond[1][..., None] * self.u[-1]
        return np.diff(whole, axis=-2) / np.diff(edges, axis=-1)[..., None]


def columns(at, of, column):
    """Returns what a function makes of each column of a matrix, as the last axis."""
    return np.stack([column(c) for c in of.T], axis=-1) if of.shape[1] else np.zeros((*np.shape(at), 0))


class Task:
    """A recording. Windows (W, 2) are pairs of a flight and a sample; times (T) are horizons, s. For each state: periodic (an angle),
    invariant (its value does not matter) and derivative (the place of its rate, or -1). record is a flight to be simulated from its
    initial samples, after which nothing of it is measured, or None."""

    def __init__(self, path):
        with open(path) as f:
            doc = json.load(f)
        self.K, self.P = len(doc["states"]), len(doc["inputs"] or [])
        self.times = np.array(doc["times"])
        self.periodic, self.invariant = np.array(doc["periodic"], dtype=bool), np.array(doc["invariant"], dtype=bool)
        self.derivative = np.array(doc["derivative"])
        self.train, self.test = ([Flight(d, self.K, self.P) for d in doc[name]] for name in ("train", "test"))
        self.record, self.initial = doc["record"] and Flight(doc["record"], self.K, self.P), doc["initial"]
        self.train_windows, self.test_windows = np.array(doc["train_windows"]), np.array(doc["test_windows"])

    def windows(self, most):
        """Returns at most so many training windows, chosen at random, in their order."""
        n = len(self.train_windows)
        chosen = np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        return self.train_windows[chosen]

    def groups(self, windows):
        """Returns the fold of each training window: each flight is cut into FOLDS stretches of time."""
        return np.array([min(FOLDS - 1, int(FOLDS * i / len(self.train[f].t))) for f, i in windows])

    def now(self, x):
        """Returns what a regression reads of states (…, K): sines and cosines of angles, and the others, but not what does not matter."""
        x = np.moveaxis(x, -1, 0)
        now = np.where(self.periodic.reshape(-1, *[1] * (x.ndim - 1)), np.sin(x), x)
        return np.moveaxis(np.concatenate([now[~self.invariant], np.cos(x[self.periodic & ~self.invariant])]), 0, -1)

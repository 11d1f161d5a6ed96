"""Predictors of well-kept libraries on the windows of a recording, for `dgm-bench public`.

    pip install numpy scikit-learn mapie
    python python/studies/libraries.py TASK RESULT

TASK is a JSON object that dgm-bench writes, null = not measured: `states` and `inputs` (names), `periodic` and `invariant` (a flag for each state: an angle, one
whose value does not matter), `derivative` (for each state the place of its rate, or -1),
`times` (T, s after a window's start), `train` and `test` (lists of flights with `t` (n), `x` (n*K, angles unwrapped) and `u` (n*P)),
`train_windows` and `test_windows` (pairs of a flight and a sample). RESULT is a JSON list of objects with `name`, `seconds` of the fit, `mean` and
`std` (W*T*K, displacements from the start), and `half50`, the half width of the 50 % interval over the standard deviation (W*T*K).

The regressions read the sines and cosines of angles, the other states, the displacements and inputs of 20 samples before the start,
and the mean input of ten parts of each horizon; the ridge regression reads products of the start's state and the mean input, too. What was measured after a start is read of `train` only.
"""

import json
import sys
import time
import warnings

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

EARLIER = 20  # samples before the start
PARTS = 10  # of the input over the horizon
FOLDS = 4
MOST_POINTS = 500  # of a Gaussian process
MOST_WINDOWS = 4000  # of the ridge regression
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

    def mean_input(self, start, horizon):
        """Returns the mean input of PARTS parts from the start to the horizon, (PARTS*P)."""
        edges = self.t[start] + np.linspace(0, horizon, PARTS + 1)
        at = np.stack([np.interp(edges, self.t, c) for c in self.integral.T], axis=1) if self.u.shape[1] else np.zeros((PARTS + 1, 0))
        return (np.diff(at, axis=0) / (horizon / PARTS)).ravel()

    def features(self, start, horizon, periodic, invariant):
        """Returns what a regression reads of a window, and the products of what is known at the start and the mean input."""
        x0 = self.x[start]
        before = np.clip(np.arange(start - EARLIER, start), 0, None)
        past = np.concatenate([(self.x[before] - x0).ravel(), self.u[before].ravel()])
        now = np.concatenate([np.where(periodic, np.sin(x0), x0)[~invariant], np.cos(x0[periodic & ~invariant])])
        plan = self.mean_input(start, horizon)
        z = np.concatenate([now, plan.reshape(PARTS, -1).mean(axis=0)])
        return np.concatenate([now, past, plan]), np.outer(z, z)[np.triu_indices(len(z))]

    def displacement(self, start, horizon):
        """Returns the displacement from the start (K), interpolated; NaN beyond the flight's end."""
        at = self.t[start] + horizon
        if at > self.t[-1] + 1e-9:
            return np.full(self.x.shape[1], np.nan)
        return np.array([np.interp(at, self.t, c) for c in self.x.T]) - self.x[start]


def table(flights, windows, *args):
    """Returns the features of windows (W, F), and how many of the last are products."""
    rows = [flights[f].features(i, *args) for f, i in windows]
    return np.stack([np.concatenate(r) for r in rows]), len(rows[0][1])


def kept_velocity(flights, windows, horizon, derivative):
    """Returns the displacements of constant rates (W, K), which every predictor corrects; 0 without a rate."""
    x0 = np.stack([flights[f].x[i] for f, i in windows])
    return np.where(derivative >= 0, x0[:, derivative] * horizon, 0.0)


def groups_of(flights, windows):
    """Returns the fold of each window: each flight is cut into FOLDS stretches of time."""
    return np.array([min(FOLDS - 1, int(FOLDS * i / len(flights[f].t))) for f, i in windows])


def regression(alpha):
    return make_pipeline(StandardScaler(), Ridge(alpha))


def ridge(X, Y, groups, Z, pairs):
    """Yields mean, standard deviation and half50 for each column of Y, of a ridge regression with MAPIE's cross-conformal
    intervals. Penalty, and whether the last columns of X (pairs, products) are read, are those with the least error on folds."""
    cv, best = GroupKFold(FOLDS), [(np.inf, None, None)] * Y.shape[1]
    for width in (X.shape[1] - pairs, X.shape[1]):
        for alpha in len(X) * np.logspace(-6, 0, 7):
            held = cross_val_predict(regression(alpha), X[:, :width], Y, groups=groups, cv=cv).reshape(Y.shape)
            for k, error in enumerate(((Y - held) ** 2).mean(axis=0)):
                best[k] = min(best[k], (error, width, alpha))
    for k, (_, width, alpha) in enumerate(best):
        fitted = CrossConformalRegressor(regression(alpha), confidence_level=[0.5, 0.95], method="base", cv=cv)
        mean, intervals = fitted.fit_conformalize(X[:, :width], Y[:, k], groups=groups).predict_interval(Z[:, :width])
        half = (intervals[:, 1] - intervals[:, 0]) / 2  # W×2
        std = np.maximum(half[:, 1] / Z95, 1e-12)
        yield mean, std, half[:, 0] / std


def gaussian_process(X, Y, _, Z, pairs):
    """Yields mean, standard deviation and half50 for each column of Y, of a Gaussian process with a squared exponential kernel
    and noise. It reads no products (the last columns of X, pairs)."""
    X, Z = X[:, : X.shape[1] - pairs], Z[:, : Z.shape[1] - pairs]
    scaler = StandardScaler().fit(X)
    for y in Y.T:
        scale = max(y.std(), 1e-12)
        kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.sqrt(X.shape[1]), (1e-1, 1e4)) + WhiteKernel(1e-2, (1e-8, 1e1))
        model = GaussianProcessRegressor(kernel, random_state=0).fit(scaler.transform(X), (y - y.mean()) / scale)
        mean, std = model.predict(scaler.transform(Z), return_std=True)
        yield mean * scale + y.mean(), np.maximum(std * scale, 1e-12), np.full(len(Z), Z50)


def thinned(n, most, rng):
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def main(task_path, result_path):
    with open(task_path) as f:
        task = json.load(f)
    K, P, times = len(task["states"]), len(task["inputs"] or []), task["times"]
    periodic = np.array(task["periodic"], dtype=bool)
    train = [Flight(d, K, P) for d in task["train"]]
    test = [Flight(d, K, P) for d in task["test"]]
    results = []
    invariant, derivative = np.array(task["invariant"], dtype=bool), np.array(task["derivative"])
    for name, predictor, most in (("ridge, MAPIE", ridge, MOST_WINDOWS), ("Gaussian process", gaussian_process, MOST_POINTS)):
        windows = [task["train_windows"][i] for i in thinned(len(task["train_windows"]), most, np.random.default_rng(0))]
        groups = groups_of(train, windows)
        out = np.empty((3, len(task["test_windows"]), len(times), K))
        began = time.perf_counter()
        for i, horizon in enumerate(times):
            X, pairs = table(train, windows, horizon, periodic, invariant)
            Y = np.stack([train[f].displacement(s, horizon) for f, s in windows]) - kept_velocity(train, windows, horizon, derivative)
            Z, _ = table(test, task["test_windows"], horizon, periodic, invariant)
            kept = np.isfinite(X).all(axis=1) & np.isfinite(Y).all(axis=1)
            for k, column in enumerate(predictor(X[kept], Y[kept], groups[kept], np.nan_to_num(Z), pairs)):
                out[:, :, i, k] = column
            out[0, :, i] += np.nan_to_num(kept_velocity(test, task["test_windows"], horizon, derivative))
        seconds = time.perf_counter() - began
        mean, std, half50 = (part.ravel().tolist() for part in out)
        results.append({"name": name, "seconds": seconds, "mean": mean, "std": std, "half50": half50})
    with open(result_path, "w") as f:
        json.dump(results, f, allow_nan=False)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore", category=UserWarning)
    main(*sys.argv[1:])

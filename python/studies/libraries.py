"""Predictors of well-kept libraries on the windows of a recording, for `dgm-bench public`.

    pip install numpy scikit-learn mapie
    python python/studies/libraries.py TASK RESULT

TASK is a JSON object that dgm-bench writes, null = not measured: `states` and `inputs` (names), `periodic` (one flag for each state),
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
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

EARLIER = 20  # samples before the start
PARTS = 10  # of the input over the horizon
FOLDS = 4
MOST_POINTS = 500  # of a Gaussian process
MOST_WINDOWS = 4000  # of the ridge regression
Z95 = 1.959964


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

    def features(self, start, horizon, periodic, products):
        """Returns what a regression reads of a window, with products of what is known at the start when asked."""
        x0 = self.x[start]
        before = np.clip(np.arange(start - EARLIER, start), 0, None)
        past = np.concatenate([(self.x[before] - x0).ravel(), self.u[before].ravel()])
        now = np.concatenate([np.where(periodic, np.sin(x0), x0), np.cos(x0[periodic])])
        plan = self.mean_input(start, horizon)
        parts = [now, past, plan]
        if products:
            z = np.concatenate([now, plan.reshape(PARTS, -1).mean(axis=0)])
            parts.append(np.outer(z, z)[np.triu_indices(len(z))])
        return np.concatenate(parts)

    def displacement(self, start, horizon):
        """Returns the displacement from the start (K), interpolated; NaN beyond the flight's end."""
        at = self.t[start] + horizon
        if at > self.t[-1] + 1e-9:
            return np.full(self.x.shape[1], np.nan)
        return np.array([np.interp(at, self.t, c) for c in self.x.T]) - self.x[start]


def table(flights, windows, *args):
    return np.stack([flights[f].features(i, *args) for f, i in windows])


def groups_of(flights, windows):
    """Returns the fold of each window: each flight is cut into FOLDS stretches of time."""
    return np.array([min(FOLDS - 1, int(FOLDS * i / len(flights[f].t))) for f, i in windows])


def ridge(X, y, groups, Z):
    """Returns mean, standard deviation and half50 of a ridge regression with MAPIE's cross-conformal intervals."""
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-3, 5, 9)))
    fitted = CrossConformalRegressor(model, confidence_level=[0.5, 0.95], method="base", cv=GroupKFold(FOLDS))
    mean, intervals = fitted.fit_conformalize(X, y, groups=groups).predict_interval(Z)
    half = (intervals[:, 1] - intervals[:, 0]) / 2  # W×2
    std = np.maximum(half[:, 1] / Z95, 1e-12)
    return mean, std, half[:, 0] / std


def gaussian_process(X, y, _, Z):
    """Returns mean, standard deviation and half50 of a Gaussian process with a squared exponential kernel and noise."""
    scale_x, scale_y = StandardScaler().fit(X), max(y.std(), 1e-12)
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.sqrt(X.shape[1]), (1e-1, 1e4)) + WhiteKernel(1e-2, (1e-8, 1e1))
    model = GaussianProcessRegressor(kernel, random_state=0).fit(scale_x.transform(X), (y - y.mean()) / scale_y)
    mean, std = model.predict(scale_x.transform(Z), return_std=True)
    return mean * scale_y + y.mean(), np.maximum(std * scale_y, 1e-12), np.full(len(Z), 0.6744898)


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
    for name, predictor, most, products in (
        ("ridge, MAPIE", ridge, MOST_WINDOWS, True),
        ("Gaussian process", gaussian_process, MOST_POINTS, False),
    ):
        rng = np.random.default_rng(0)
        windows = [task["train_windows"][i] for i in thinned(len(task["train_windows"]), most, rng)]
        groups = groups_of(train, windows)
        out = np.empty((3, len(task["test_windows"]), len(times), K))
        seconds = 0.0
        for i, horizon in enumerate(times):
            began = time.perf_counter()
            X = table(train, windows, horizon, periodic, products)
            Y = np.stack([train[f].displacement(s, horizon) for f, s in windows])
            Z = table(test, task["test_windows"], horizon, periodic, products)
            usable = np.isfinite(X).all(axis=1)
            for k in range(K):
                kept = usable & np.isfinite(Y[:, k])
                out[:, :, i, k] = predictor(X[kept], Y[kept, k], groups[kept], np.nan_to_num(Z))
            seconds += time.perf_counter() - began
        mean, std, half50 = (part.ravel().tolist() for part in out)
        results.append({"name": name, "seconds": seconds, "mean": mean, "std": std, "half50": half50})
    with open(result_path, "w") as f:
        json.dump(results, f, allow_nan=False)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore", category=UserWarning)
    main(*sys.argv[1:])

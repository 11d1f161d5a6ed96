"""Regressions of scikit-learn, one for each channel and horizon.

They read the sines and cosines of angles, the other states, the displacements and inputs of 20 samples before the start, and the
mean input of ten parts of each horizon; the ridge regression reads products of the start's state and the mean input, too. They
correct the displacement that constant rates would give.
"""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .flights import FOLDS, Z50, Z95
from .steps import lengths

EARLIER = 20  # samples before the start
PARTS = 10  # of the input over the horizon
MOST_POINTS = 500  # of a Gaussian process
MOST_WINDOWS = 4000  # of the ridge regression


def features(task, flight, start, horizon, spacing):
    """Returns what a regression reads of a window, and the products of what is known at the start and the mean input."""
    x0 = flight.x[start]
    edges = flight.t[start] - spacing * np.arange(EARLIER, -1, -1)
    past = np.concatenate([(flight.state(edges[:-1]) - x0).ravel(), flight.mean_input(edges).ravel()])
    now = task.now(x0)
    plan = flight.mean_input(flight.t[start] + np.linspace(0, horizon, PARTS + 1))
    z = np.concatenate([now, plan.mean(axis=0)])
    return np.concatenate([now, past, plan.ravel()]), np.outer(z, z)[np.triu_indices(len(z))]


def table(task, flights, windows, horizon, spacing):
    """Returns the features of windows (W, F), and how many of the last are products."""
    rows = [features(task, flights[f], i, horizon, spacing) for f, i in windows]
    return np.stack([np.concatenate(r) for r in rows]), len(rows[0][1])


def displacements(flights, windows, horizon):
    """Returns the displacements from the starts (W, K), interpolated; NaN beyond a flight's end."""
    at = [(flights[f], i, flights[f].t[i] + horizon) for f, i in windows]
    return np.stack([f.state(t) - f.x[i] if t <= f.t[-1] + 1e-9 else np.full(f.x.shape[1], np.nan) for f, i, t in at])


def kept_velocity(task, flights, windows, horizon):
    """Returns the displacements of constant rates (W, K); 0 without a rate."""
    x0 = np.stack([flights[f].x[i] for f, i in windows])
    return np.where(task.derivative >= 0, x0[:, task.derivative] * horizon, 0.0)


def predict(task, most, regression):
    """Fits a regression of at most so many windows to each horizon."""
    windows = task.windows(most)
    groups = task.groups(windows)
    spacing = min(lengths(task))
    out = np.empty((3, len(task.test_windows), len(task.times), task.K))
    for i, horizon in enumerate(task.times):
        X, pairs = table(task, task.train, windows, horizon, spacing)
        Y = displacements(task.train, windows, horizon) - kept_velocity(task, task.train, windows, horizon)
        Z, _ = table(task, task.test, task.test_windows, horizon, spacing)
        kept = np.isfinite(X).all(axis=1) & np.isfinite(Y).all(axis=1)
        for k, column in enumerate(regression(X[kept], Y[kept], groups[kept], np.nan_to_num(Z), pairs)):
            out[:, :, i, k] = column
        out[0, :, i] += np.nan_to_num(kept_velocity(task, task.test, task.test_windows, horizon))
    return out


def pipeline(alpha):
    return make_pipeline(StandardScaler(), Ridge(alpha))


def ridge(task):
    """Ridge regressions with MAPIE's cross-conformal intervals. Penalty, and whether the products are read, are those with the
    least error on folds."""
    from mapie.regression import CrossConformalRegressor

    def columns(X, Y, groups, Z, pairs):
        cv, best = GroupKFold(FOLDS), [(np.inf, None, None)] * Y.shape[1]
        for width in (X.shape[1] - pairs, X.shape[1]):
            for alpha in len(X) * np.logspace(-6, 0, 7):
                held = cross_val_predict(pipeline(alpha), X[:, :width], Y, groups=groups, cv=cv).reshape(Y.shape)
                for k, error in enumerate(((Y - held) ** 2).mean(axis=0)):
                    best[k] = min(best[k], (error, width, alpha))
        for k, (_, width, alpha) in enumerate(best):
            fitted = CrossConformalRegressor(pipeline(alpha), confidence_level=[0.5, 0.95], method="base", cv=cv)
            mean, intervals = fitted.fit_conformalize(X[:, :width], Y[:, k], groups=groups).predict_interval(Z[:, :width])
            half = (intervals[:, 1] - intervals[:, 0]) / 2  # W×2
            std = np.maximum(half[:, 1] / Z95, 1e-12)
            yield mean, std, half[:, 0] / std

    return predict(task, MOST_WINDOWS, columns)


def gaussian_process(task):
    """Gaussian processes with a squared exponential kernel and noise. They read no products."""

    def columns(X, Y, _, Z, pairs):
        X, Z = X[:, : X.shape[1] - pairs], Z[:, : Z.shape[1] - pairs]
        scaler = StandardScaler().fit(X)
        for y in Y.T:
            scale = max(y.std(), 1e-12)
            kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.sqrt(X.shape[1]), (1e-1, 1e4)) + WhiteKernel(1e-2, (1e-8, 1e1))
            model = GaussianProcessRegressor(kernel, random_state=0).fit(scaler.transform(X), (y - y.mean()) / scale)
            mean, std = model.predict(scaler.transform(Z), return_std=True)
            yield mean * scale + y.mean(), np.maximum(std * scale, 1e-12), np.full(len(Z), Z50)

    return predict(task, MOST_POINTS, columns)

"""A state-space model of jax-sysid, trained on its simulations over the whole horizon by L-BFGS, with split-conformal intervals.

The displacement over a step is linear in what is seen of state, history and input, plus a net of one hidden layer. States are
simulated from what was measured at the start, so that none is hidden. The linear part begins as the ridge regression of a step.
Length of the step, history, hidden units and the penalty of the weights are those with the least error on the last fold.
"""

import contextlib
import io

import jax
import jax.numpy as jnp
import numpy as np
from jax_sysid.models import Model
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from . import steps
from .flights import FOLDS

MOST_WINDOWS, MOST_TRANSITIONS = 500, 4000
CHOICES = ((1, 0, 1e-6), (6, 0, 1e-6), (1, 8, 1e-6), (6, 8, 1e-6))  # history, hidden units, penalty
LBFGS = 300  # iterations


class Simulator:
    """A model of windows that are simulated side by side: the state is the displacement from the start (K), sines and cosines or
    values of the states, past displacements and past inputs, for every window."""

    def __init__(self, windows, hidden, penalty):
        self.task, self.history = windows.task, windows.history
        seen, inputs, moved = windows.transitions(MOST_TRANSITIONS)
        self.inputs = StandardScaler().fit(np.hstack([seen, inputs]))
        self.scale = np.maximum(moved.std(axis=0), 1e-12)
        X = self.inputs.transform(np.hstack([seen, inputs]))
        linear = Ridge(1e-4 * len(X)).fit(X, moved / self.scale)
        rng = np.random.default_rng(0)
        first = rng.normal(size=(X.shape[1], hidden)) / np.sqrt(X.shape[1])
        self.params = [linear.coef_.reshape(-1, X.shape[1]).T, np.broadcast_to(linear.intercept_, (self.task.K,)), first, np.zeros(hidden), np.zeros((hidden, self.task.K))]
        self.limit = windows.limit()
        self.fit(windows, penalty)

    def moved(self, seen, u, params):
        """Returns the displacements over a step (W, K)."""
        A, b, first, bias, last = params
        z = (jnp.hstack([seen, u]) - self.inputs.mean_) / self.inputs.scale_
        d = (z @ A + b + jnp.tanh(z @ first + bias) @ last) * self.scale
        return self.limit * jnp.tanh(d / self.limit)

    def step(self, x, u, params):
        """Returns the next state of all windows, flat."""
        task, K, P, h = self.task, self.task.K, self.task.P, self.history
        n = len(self.start)
        x, u = x.reshape(n, -1), u.reshape(n, P)
        at, seen = x[:, :K], x[:, K:]
        split = seen.shape[1] - h * (K + P)
        d = self.moved(seen, u, params)
        at = at + d
        absolute = self.start + at
        now = jnp.where(task.periodic, jnp.sin(absolute), absolute)[:, ~task.invariant]
        now = jnp.hstack([now, jnp.cos(absolute[:, task.periodic & ~task.invariant])])
        past = jnp.hstack([d, seen[:, split : split + (h - 1) * K]])
        inputs = jnp.hstack([seen[:, split + h * K + P :], u])
        return jnp.hstack([at, now, past, inputs]).reshape(-1)

    def model(self, windows, weights):
        """Returns the model of windows with their initial states, and what it is simulated on: outputs (steps, W*K) and inputs (steps, W*P)."""
        h, n = self.history, len(windows.x)
        self.start = windows.x[:, h]
        x0 = np.hstack([np.zeros_like(self.start), windows.seen(0)]).reshape(-1)
        # the output of a step is the displacement after it
        out = lambda x, u, params: self.step(x, u, params).reshape(n, -1)[:, : self.task.K].reshape(-1) * weights
        model = Model(x0.size, n * self.task.K, n * self.task.P, state_fcn=self.step, output_fcn=out)
        model.init(self.params, x0)
        y = (windows.x[:, h + 1 :] - self.start[:, None]).transpose(1, 0, 2).reshape(windows.u.shape[1] - h, -1)
        return model, x0, y, windows.u[:, h:].transpose(1, 0, 2).reshape(len(y), -1)

    def fit(self, windows, penalty):
        weights = np.tile(1 / np.maximum(windows.measured().std(axis=(0, 1)), 1e-12), len(windows.x))
        model, _, y, u = self.model(windows, weights)
        model.loss(lambda Yhat, Y: jnp.mean((Yhat - Y) ** 2), rho_th=penalty, train_x0=False, xsat=1e9)
        model.optimization(adam_epochs=0, lbfgs_epochs=LBFGS, iprint=-1)
        with contextlib.redirect_stdout(io.StringIO()):
            model.fit(y * weights, u)
        self.params = model.params

    def predict(self, windows):
        """Returns the displacements at the horizons (W, T, K)."""
        model, x0, y, u = self.model(windows, 1.0)
        out, _ = model.predict(x0, u)
        return np.asarray(out).reshape(len(y), len(windows.x), -1).transpose(1, 0, 2)[:, windows.places]


def predict(task):
    jax.config.update("jax_enable_x64", True)
    best = (np.inf,)
    for length in steps.lengths(task)[:2]:
        for history, hidden, penalty in CHOICES:
            windows = steps.training(task, length, history, MOST_WINDOWS)
            last = windows.fold == FOLDS - 1
            rest, held = windows.only(~last), windows.only(last)
            y = held.measured()
            error = steps.loss(Simulator(rest, hidden, penalty).predict(held) - y, y)
            best = min(best, (error, length, history, hidden, penalty))
    _, length, history, hidden, penalty = best
    windows = steps.training(task, length, history, MOST_WINDOWS)
    errors = np.concatenate([Simulator(rest, hidden, penalty).predict(held) - held.measured() for rest, held in steps.folds(windows)])
    forecast = Simulator(windows, hidden, penalty).predict
    mean = forecast(steps.cut(task, task.test, task.test_windows, length, history))
    return mean, *steps.conformal(errors, len(mean)), steps.simulated(task, length, history, forecast)

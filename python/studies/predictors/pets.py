"""Probabilistic ensembles with trajectory sampling (Chua et al. 2018) of mbrl-lib, with their own intervals.

Five nets of four layers of 200 units (SiLU) give mean and variance of the displacement over a step; they are trained on bootstraps of
the transitions with mbrl-lib's learning rate and weight decay for the pendulum on a cart. Predictions are 10 particles for each net, which
keep it (TS-infinity). The number of epochs is that with the least error on the last fold, which is trained on afterwards, too. A step
is a half of the largest that divides all horizons, or as long where samples are rarer.
"""

import numpy as np
import torch
from mbrl.models import GaussianMLP, ModelTrainer, OneDTransitionRewardModel
from mbrl.types import TransitionBatch
from mbrl.util import replay_buffer

from . import steps
from .flights import FOLDS, Z50

NETS, PARTICLES = 5, 10
RATE, DECAY, PATIENCE = 7.5e-4, 3e-5, 15
FEW, FEW_BATCH, FEW_EPOCHS = 2000, 32, 100  # transitions, of which batches are smaller and epochs more
BATCH, EPOCHS = 256, 50
MOST_WINDOWS, MOST_TRANSITIONS = 4000, 4000
HISTORY = 4  # steps
CHUNK = 200  # windows that are rolled out at once


class Displacements(OneDTransitionRewardModel):
    """A model whose targets are the first columns of what is seen next, as many as the net has outputs."""

    def _process_batch(self, batch, _as_float=False):
        seen, target = super()._process_batch(batch)
        return seen, target[..., : self.model.out_size]


def batches(windows, scale, bootstrap):
    """Returns the transitions of windows for a trainer; displacements are divided by scale (K), and fill a row of what is seen."""
    seen, inputs, moved = windows.transitions(MOST_TRANSITIONS)
    nothing = np.zeros(len(seen))
    targets = np.pad(moved / scale, ((0, 0), (0, seen.shape[1] - moved.shape[1])))
    rows = TransitionBatch(seen, inputs, targets, nothing, nothing, nothing)
    size, rng = FEW_BATCH if len(seen) < FEW else BATCH, np.random.default_rng(0)
    if not bootstrap:
        return replay_buffer.TransitionIterator(rows, 2048)
    return replay_buffer.BootstrapIterator(rows, size, NETS, shuffle_each_epoch=True, rng=rng)


def trained(windows, held=None, epochs=None):
    """Returns an ensemble, the scale of its displacements (K), and the number of epochs that is best for what is held out."""
    torch.manual_seed(0)
    scale = np.maximum(np.diff(windows.x, axis=1).std(axis=(0, 1)), 1e-12)
    rows = batches(windows, scale, True)
    width = rows.transitions.obs.shape[1] + rows.transitions.act.shape[1]
    net = GaussianMLP(width, len(scale), "cpu", ensemble_size=NETS, propagation_method="fixed_model", activation_fn_cfg={"_target_": "torch.nn.SiLU"})
    model = Displacements(net, target_is_delta=False, normalize=True, normalize_double_precision=True, learned_rewards=False)
    model.update_normalizer(rows.transitions)
    trainer = ModelTrainer(model, RATE, DECAY)
    if held is None:
        trainer.train(rows, num_epochs=epochs, evaluate=False, silent=True)
        return model, scale, epochs
    most = FEW_EPOCHS if rows.num_stored < FEW else EPOCHS
    _, scores = trainer.train(rows, batches(held, scale, False), most, PATIENCE, silent=True)
    return model, scale, 1 + int(np.argmin(scores))


def sampled(model, scale, windows, limit):
    """Returns mean and standard deviation of the particles (W, T, K)."""
    parts = []
    for begin in range(0, len(windows.x), CHUNK):
        some = np.arange(begin, min(begin + CHUNK, len(windows.x)))
        particles = windows.only(np.repeat(some, NETS * PARTICLES))
        state = model.reset(torch.as_tensor(particles.seen(0)), rng=torch.Generator().manual_seed(0))

        def step(seen, u):
            with torch.no_grad():
                return model.sample(torch.as_tensor(u), {**state, "obs": torch.as_tensor(seen)}, rng=torch.Generator())[0].double().numpy() * scale

        rolled = particles.rolled(step, limit).reshape(len(some), NETS * PARTICLES, len(windows.places), -1)
        parts.append([rolled.mean(axis=1), rolled.std(axis=1, ddof=1)])
    return [np.concatenate(p) for p in zip(*parts)]


def predict(task):
    length = steps.lengths(task)[:2][-1]
    windows = steps.training(task, length, HISTORY, MOST_WINDOWS)
    last = windows.fold == FOLDS - 1
    _, _, epochs = trained(windows.only(~last), windows.only(last))
    model, scale, _ = trained(windows, epochs=epochs)
    forecast = lambda w: sampled(model, scale, w, windows.limit())
    mean, std = forecast(steps.cut(task, task.test, task.test_windows, length, HISTORY))
    record = steps.simulated(task, length, HISTORY, lambda w: forecast(w)[0])
    return mean, np.maximum(std, 1e-12), np.full(std.shape, Z50), record

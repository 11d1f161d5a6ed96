"""Model predictive path integral control on a model file: python3 mppi.py flight.dgm (needs the package in python/).

Every step draws plans around the last one, predicts all of them in one call, and averages them by their cost
(Williams et al. 2017, Information theoretic MPC). The robot of this example is the model itself: its next state is drawn
from the predicted distribution.
"""
import sys
import time

import numpy as np

import dgm


class MPPI:
    """Plans inputs (rows, P) for a model whose cost of means (N, T, K) is to be low."""

    def __init__(self, model, cost, spread, rows=10, plans=500, temperature=0.05, seed=1):
        self.model, self.cost, self.spread, self.temperature = model, cost, spread, temperature
        self.plan = np.zeros((rows, len(model.inputs)))
        self.plans, self.step = plans, model.horizon / rows
        self.random = np.random.default_rng(seed)

    def improve(self, x):
        plans = self.plan + self.random.normal(size=(self.plans, *self.plan.shape)) * self.spread
        plans[0] = self.plan
        p = self.model.batch(x, plans, plan_times=self.step * np.arange(len(self.plan)), std=False)
        cost = self.cost(p.mean) + 10 * np.maximum(p.ood - 1, 0)  # outside of its training the model is not to be trusted
        weights = np.exp(-(cost - cost.min()) / (self.temperature * np.ptp(cost) + 1e-9))
        self.plan = np.tensordot(weights / weights.sum(), plans, 1)
        return self.plan

    def advance(self):
        """One row of the plan has been applied."""
        self.plan = np.vstack([self.plan[1:], self.plan[-1:]])


def run(path, start=0.5, seconds=2.0):
    """Brings the first state of a model to rest at 0 and returns the states (steps, K)."""
    m = dgm.Model.load(path)
    x = np.zeros(len(m.states))
    x[0] = start
    controller = MPPI(m, cost=lambda mean: np.square(mean).sum(axis=2).mean(axis=1), spread=0.3)
    states = [x]
    for i in range(round(seconds / controller.step)):
        before = time.perf_counter()
        plan = controller.improve(x)
        took = time.perf_counter() - before
        x = m.sample(x, 1, plan=plan, plan_times=controller.step * np.arange(len(plan)), times=[controller.step], seed=i)[0, 0]
        controller.advance()
        states.append(x)
        values = ", ".join(f"{name} {v:.3f} {unit}" for name, v, unit in zip(m.states, x, m.units))
        print(f"{(i + 1) * controller.step:.2f} s: input {plan[0].round(3).tolist()}, {values}; {controller.plans} plans in {1e3 * took:.1f} ms")
    return np.array(states)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mppi.py MODEL")
    run(sys.argv[1])

"""The MPC of mpc.py on the model as a CasADi function, beside that on callbacks: python3 exported.py flight.dgm (needs casadi
and the package in python/).

dgm.casadi returns the model in CasADi's own operations, with first and second derivatives by CasADi. The callbacks of mpc.py have
first derivatives of the library. All controllers plan from the same states.
"""
import sys
import time

import casadi as ca
import numpy as np

import dgm
from mpc import MPC


def exported(model, rows):
    """Means (K, rows) after every row of a plan, by a state (K) and a plan (P, rows)."""
    f = dgm.casadi(model, plan_rows=rows)
    x, plan = ca.MX.sym("x", len(f.states)), ca.MX.sym("plan", len(f.inputs), rows)
    mean, _ = f(x, plan=plan.T)
    ends = model.horizon / rows * np.arange(1, rows + 1)
    nearest = [int(np.abs(f.times - t).argmin()) for t in ends]  # of the model's own times
    return ca.Function("means", [x, plan], [mean[nearest, :].T])


def run(path, start=0.5, seconds=2.0, rows=10):
    """Brings the first state of a model to rest at 0, and returns by controller: iterations, seconds, plans of each step."""
    m = dgm.Model.load(path)
    controllers = {
        "callbacks": MPC(m, rows),
        "exported": MPC(m, rows, means=exported(m, rows)),
        "exported, exact Hessian": MPC(m, rows, means=exported(m, rows), hessian="exact"),
    }
    x = np.zeros(len(m.states))
    x[0] = start
    found = {name: [] for name in controllers}
    for i in range(round(seconds / (m.horizon / rows))):
        for name, c in controllers.items():
            before = time.process_time()
            plan = c.improve(x)
            found[name].append((c.iterations, time.process_time() - before, plan))
            c.advance()
        plan = found["callbacks"][-1][2]
        x = m.sample(x, 1, plan=plan, plan_times=m.horizon / rows * np.arange(rows), times=[m.horizon / rows], seed=i)[0, 0]
    for name, all_ in found.items():
        ms = np.array([1e3 * s for _, s, _ in all_])
        print(f"{name}: {np.mean([n for n, _, _ in all_]):.1f} iterations, {np.median(ms):.2f} ms of the processor in the middle, {ms.max():.2f} ms at most, of {len(all_)} plans")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: exported.py MODEL")
    run(sys.argv[1])

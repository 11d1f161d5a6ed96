"""Model predictive control with CasADi on a model file: python3 mpc.py flight.dgm (needs casadi and the package in python/).

Means is an external function of CasADi: the means of a prediction by state and plan, with Jacobians and adjoint products of
the model, so that every solver of CasADi differentiates through it. The robot of this example is the model itself: its next
state is drawn from the predicted distribution.
"""
import sys
import time

import casadi as ca
import numpy as np

import dgm


class _External(ca.Callback):
    """A dense external function with inputs and outputs of fixed shapes."""

    def __init__(self, name, shapes_in, shapes_out, opts=None):
        ca.Callback.__init__(self)
        self._in, self._out = shapes_in, shapes_out
        self.construct(name, opts or {})

    def get_n_in(self):
        return len(self._in)

    def get_n_out(self):
        return len(self._out)

    def get_sparsity_in(self, i):
        return ca.Sparsity.dense(*self._in[i])

    def get_sparsity_out(self, i):
        return ca.Sparsity.dense(*self._out[i])


class Means(_External):
    """Means (K, T) of a model by a state (K) and a plan (P, R), whose columns are applied one after the other."""

    def __init__(self, model, rows, step, times=None):
        self.model, self.rows, self.times = model, rows, model.times if times is None else np.asarray(times)
        self.plan_times = step * np.arange(rows) if rows > 1 else None
        self.K, self.P, self.T = len(model.states), len(model.inputs), len(self.times)
        self._derivatives = []  # CasADi keeps no Python object alive
        super().__init__("means", [(self.K, 1), (self.P, rows)], [(self.K, self.T)])

    def question(self, x, plan):
        """The arguments of the model's methods."""
        return {"x": np.array(x).ravel(), "plan": np.array(plan).T, "plan_times": self.plan_times, "times": self.times}

    def eval(self, arg):
        q = self.question(*arg)
        return [ca.DM(self.model.batch(q.pop("x"), q.pop("plan"), std=False, **q).mean[0].T)]

    def has_jacobian(self):
        return True

    def get_jacobian(self, name, inames, onames, opts):
        self._derivatives.append(_Jacobian(name, self, opts))
        return self._derivatives[-1]

    def has_reverse(self, n):
        return True

    def get_reverse(self, n, name, inames, onames, opts):
        self._derivatives.append(_Reverse(name, self, n, opts))
        return self._derivatives[-1]


class _Jacobian(_External):
    """∂means by state and by plan, all in CasADi's order of columns."""

    def __init__(self, name, of, opts):
        self.of, n = of, of.K * of.T
        super().__init__(name, [(of.K, 1), (of.P, of.rows), (of.K, of.T)], [(n, of.K), (n, of.P * of.rows)], opts)

    def eval(self, arg):
        A, B = self.of.model.jacobians(**self.of.question(*arg[:2]))
        return [ca.DM(A.reshape(-1, A.shape[2])), ca.DM(B.reshape(A.shape[0] * A.shape[1], -1))]


class _Reverse(_External):
    """The adjoints of state and plan for n adjoints of the means, side by side."""

    def __init__(self, name, of, n, opts):
        self.of, self.n = of, n
        super().__init__(name, [(of.K, 1), (of.P, of.rows), (of.K, of.T), (of.K, of.T * n)], [(of.K, n), (of.P, of.rows * n)], opts)

    def eval(self, arg):
        question = self.of.question(*arg[:2])
        bars = np.hsplit(np.array(arg[3]), self.n)
        all_ = [self.of.model.adjoint(mean=bar.T, **question) for bar in bars]
        return [ca.DM(np.column_stack([g.x for g in all_])), ca.DM(np.hstack([g.plan.T for g in all_]))]


class MPC:
    """Plans inputs between −limit and limit that bring all states to 0."""

    def __init__(self, model, rows=10, limit=1.0, effort=1e-3, means=None, hessian="limited-memory"):
        self.step, self.rows = model.horizon / rows, rows
        self.means = means or Means(model, rows, self.step, times=self.step * np.arange(1, rows + 1))
        K, P = len(model.states), len(model.inputs)
        x, plan = ca.MX.sym("x", K), ca.MX.sym("plan", P, rows)
        cost = ca.sumsqr(self.means(x, plan)) / rows + effort * ca.sumsqr(plan)
        quiet = {"ipopt.hessian_approximation": hessian, "ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False,
                 "ipopt.tol": 1e-4, "ipopt.max_iter": 30}
        self.solver = ca.nlpsol("mpc", "ipopt", {"x": ca.vec(plan), "p": x, "f": cost}, quiet)
        self.limit, self.plan, self.iterations = limit, np.zeros((rows, P)), 0

    def improve(self, x):
        """The plan (rows, P) from a state."""
        found = self.solver(x0=self.plan.ravel(), p=x, lbx=-self.limit, ubx=self.limit)
        self.plan, self.iterations = np.array(found["x"]).reshape(self.plan.shape), self.solver.stats()["iter_count"]
        return self.plan

    def advance(self):
        """One row of the plan has been applied."""
        self.plan = np.vstack([self.plan[1:], self.plan[-1:]])


def run(path, start=0.5, seconds=2.0):
    """Brings the first state of a model to rest at 0 and returns the states (steps, K)."""
    m = dgm.Model.load(path)
    x = np.zeros(len(m.states))
    x[0] = start
    controller, states = MPC(m), [x]
    for i in range(round(seconds / controller.step)):
        before = time.perf_counter()
        plan = controller.improve(x)
        took = time.perf_counter() - before
        x = m.sample(x, 1, plan=plan, plan_times=controller.step * np.arange(len(plan)), times=[controller.step], seed=i)[0, 0]
        states.append(x)
        values = ", ".join(f"{name} {v:.3f} {unit}" for name, v, unit in zip(m.states, x, m.units))
        print(f"{(i + 1) * controller.step:.2f} s: input {plan[0].round(3).tolist()}, {values}; solved in {1e3 * took:.1f} ms")
        controller.advance()
    return np.array(states)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mpc.py MODEL")
    run(sys.argv[1])

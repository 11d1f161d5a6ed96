"""A model as CasADi functions, which its solvers differentiate and generate code of.

Roll-outs are mapped functions of one step, so that graphs stay small. Derivatives at kinks are those of PROGRAM-FORMAT.md.
"""

from typing import Any, Dict, Tuple

import casadi as ca
import numpy as np

from .program import (Affine, Clamp, Columns, Distances, Document, Function, Gather, Largest, Local, Operation, Products, Program, Repeat,
                      SinCos, Weigh, read)

Values = Dict[int, Any]  # of registers, rows × columns: MX or SX


class CasadiFunction:
    """f(x, history, u, plan) → (mean, std), each T × K, of numbers or of symbols.

    x (K) is the state at the start; history (n, K+P) its rows before, the newest first, or None; plan (N, P) the input,
    whose rows divide the horizon, or None: u (P) is held; without u that is the mean input of the training.
    """

    def __init__(self, document: Document):
        self.document = document
        self.times = document.times  # (T) s after the start
        self.states, self.units = tuple(c.name for c in document.states), tuple(c.unit for c in document.states)
        self.inputs, self.input_units = tuple(c.name for c in document.inputs), tuple(c.unit for c in document.inputs)
        self.horizon, self.plan_rows, self.history_rows = document.horizon, document.plan_rows, len(document.history)
        self._functions: Dict[str, ca.Function] = {}

    def __call__(self, x: Any, history: Any = None, u: Any = None, plan: Any = None) -> Tuple[Any, Any]:
        d = self.document
        rows = None if history is None or isinstance(history, tuple) else _matrix(history)
        f = self.function(d.condition(history if rows is None else rows, plan, u))
        arguments = {"x": _vector("x", x, len(d.states))}
        if "history" in f.name_in():
            arguments["history"] = _shaped("history", rows, f.size_in("history"))
        if plan is not None:
            arguments["plan"] = _shaped("plan", _matrix(plan), f.size_in("plan"))
        elif d.inputs:
            arguments["u"] = _vector("u", d.input_mean if u is None else u, len(d.inputs))
        # Symbols get the expression itself, from which what they do not use is absent.
        symbolic = any(isinstance(a, (ca.MX, ca.SX)) for a in arguments.values())
        mean, std = f.call([arguments[name] for name in f.name_in()], symbolic, False)[:2]
        return mean, std

    def function(self, condition: str) -> ca.Function:
        """The function of a condition: plan, hold, plan-without-history or hold-without-history.

        Its inputs are x (K), history (n × K+P) in conditions with one, and plan (N × P) or u (P); its outputs mean, std,
        obs_std (T × K) and ood (), the out-of-distribution score.
        """
        if condition not in self._functions:
            self._functions[condition] = self._build(condition)
        return self._functions[condition]

    def _build(self, condition: str) -> ca.Function:
        d = self.document
        if condition not in d.programs:
            raise ValueError(f"condition: {condition!r} is none of {', '.join(d.programs)}")
        program = d.programs[condition]
        x = ca.MX.sym("x", len(d.states))
        symbols, inputs = {"x": x}, {"x": x}
        if "past" in program.inputs:
            rows = symbols["history"] = ca.MX.sym("history", len(d.history), len(d.states) + len(d.inputs))
            inputs["past"] = ca.vec(rows.T - ca.repmat(ca.vertcat(x, ca.DM.zeros(len(d.inputs))), 1, len(d.history)))
        if d.inputs and condition.startswith("plan"):
            plan = symbols["plan"] = ca.MX.sym("plan", d.plan_rows, len(d.inputs))
            inputs["plan"] = plan.T
        elif d.inputs:
            inputs["plan"] = symbols["u"] = ca.MX.sym("u", len(d.inputs))
        values = program.evaluate(_Operations(), {r: inputs[name] for name, r in program.inputs.items()})
        out = {name: values[r].T for name, r in program.outputs.items()}
        start = x if d.origin is None else ca.DM(d.origin)
        out["mean"] = out.pop("displacement") + ca.repmat(start.T, len(d.times), 1)
        # Conditions are false for NaN, and bounds and nets that saturate would hide what is not finite.
        known = _finite(*symbols.values())
        out["mean"] = out["mean"] + ca.if_else(known, 0, np.nan)
        finite = ca.logic_and(known, _finite(out["mean"]))
        for name in ("std", "obs_std"):
            out[name] = out[name] + ca.if_else(finite, 0, np.nan)
        out["ood"] = ca.if_else(finite, out["ood"], np.inf)
        names = ["mean", "std", "obs_std", "ood"]
        return ca.Function("dgm_" + condition.replace("-", "_"), [*symbols.values()], [ca.densify(out[n]) for n in names], [*symbols], names)


def function(source: Any) -> CasadiFunction:
    """The function of a document: its bytes, or the path of its file."""
    return CasadiFunction(read(source))


def _matrix(x: Any) -> Any:
    return x if isinstance(x, (ca.SX, ca.MX, ca.DM)) else ca.DM(np.asarray(x, dtype=np.float64))


def _shaped(name: str, x: Any, shape: Tuple[int, int]) -> Any:
    if x.shape != shape:
        raise ValueError(f"{name}: has shape {x.shape}, want {shape}")
    return x


def _vector(name: str, x: Any, n: int) -> Any:
    x = _matrix(x)
    return _shaped(name, x.T if x.shape == (1, n) else x, (n, 1))


def _finite(*all_: Any) -> Any:
    """Whether all numbers are."""
    return sum(ca.sum1(ca.sum2(ca.fabs(x))) for x in all_) < np.inf


def _wide(x: Any, columns: int) -> Any:
    """x with so many columns: one column stands for all."""
    return x if x.shape[1] == columns else ca.repmat(x, 1, columns)


def _sparse(rows: int, columns: int, i: np.ndarray, j: np.ndarray, v: np.ndarray) -> ca.DM:
    """Σ v at (i, j)."""
    return ca.DM.triplet(i.tolist(), j.tolist(), ca.DM(v), rows, columns)


def _matrix_of(m: np.ndarray) -> ca.DM:
    """m without its zeros."""
    i, j = np.nonzero(m)
    return ca.DM(m) if len(i) == m.size else _sparse(*m.shape, i, j, m[i, j])


class _Operations:
    """One method for each operation: it takes the program, the operation and the values so far."""

    def constant(self, v: Any) -> ca.DM:
        return ca.DM(v)

    def affine(self, p: Program, o: Affine, v: Values) -> Any:
        rows, columns = p.shapes[o.out]
        y = ca.DM.zeros(rows, columns) if o.c is None else ca.DM(np.repeat(o.c, columns, axis=1))
        for x, m in o.parts:
            y = y + _wide(ca.mtimes(_matrix_of(m), v[x]), columns)
        return y

    def local(self, p: Program, o: Local, v: Values) -> Any:
        columns = ca.horzsplit(_wide(v[o.x], p.shapes[o.out][1]))
        return ca.horzcat(*(ca.mtimes(_matrix_of(m), x) for m, x in zip(o.m, columns)))

    def products(self, p: Program, o: Products, v: Values) -> Any:
        rows, columns = p.shapes[o.out]
        terms = _wide(v[o.a], columns)[o.i.tolist(), :] * _wide(v[o.b], columns)[o.k.tolist(), :]
        return ca.mtimes(_sparse(rows, len(o.row), o.row, np.arange(len(o.row)), o.s), terms)

    def weigh(self, p: Program, o: Weigh, v: Values) -> Any:
        shape = p.shapes[o.out]
        y = ca.DM(np.broadcast_to(o.w, shape)) * _wide(v[o.x], shape[1])
        return y if o.c is None else y + ca.DM(np.broadcast_to(o.c, shape))

    def columns(self, p: Program, o: Columns, v: Values) -> Any:
        return ca.mtimes(v[o.x], _sparse(p.shapes[o.x][1], p.shapes[o.out][1], o.of, o.to, o.w))

    def gather(self, p: Program, o: Gather, v: Values) -> Any:
        return ca.vertcat(*(_wide(v[r][a:b, :], p.shapes[o.out][1]) for r, a, b in o.runs))

    def function(self, p: Program, o: Function, v: Values) -> Any:
        return _FUNCTIONS[o.f](v[o.x])

    def clamp(self, p: Program, o: Clamp, v: Values) -> Any:
        # One where the bound holds: at a bound the derivative is that of x, outside 0.
        rows, columns = p.shapes[o.out]
        y = x = v[o.x]
        for beyond, bound in ((ca.lt, o.low), (ca.gt, o.high)):
            if np.isfinite(bound).any():
                wide = ca.DM(np.repeat(bound, columns, axis=1))
                y = ca.if_else(beyond(x, wide), ca.DM(np.repeat(np.where(np.isfinite(bound), bound, 0), columns, axis=1)), y)
        return y

    def sincos(self, p: Program, o: SinCos, v: Values) -> Any:
        return ca.vertcat(ca.cos(v[o.x]), ca.sin(v[o.x]))

    def largest(self, p: Program, o: Largest, v: Values) -> Any:
        rows, n = p.shapes[o.out][0], p.shapes[o.x][0]
        y = v[o.x][:rows, :]
        for at in range(rows, n, rows):
            x = v[o.x][at:at + rows, :]
            y = ca.if_else(x > y, x, y)
        return y

    def distances(self, p: Program, o: Distances, v: Values) -> Any:
        rows, columns = p.shapes[o.out]
        y = 0
        for x, point in zip(ca.vertsplit(_wide(v[o.x], columns)), o.points.T):
            y = y + (ca.repmat(x, rows, 1) - ca.DM(np.repeat(point[:, None], columns, axis=1))) ** 2
        return y

    def repeat(self, p: Program, o: Repeat, v: Values) -> Tuple[Any, ...]:
        n = len(o.carried)
        step = self._step(o)
        initial = [v[c.initial] for c in o.carried]
        all_ = step.mapaccum(f"all_{o.times}_of_{step.name()}", o.times, list(range(n)), list(range(n)))
        if o.every:
            fixed = [_wide(v[r], o.times) for r, _ in o.fixed]
            out = all_(*initial, *(v[r] for r, _ in o.each), *fixed)
            return (out,) if n == 1 else tuple(out)
        # The state after the last step, for each column of the operands.
        columns = p.shapes[o.carried[0].out][1]
        symbols = [ca.MX.sym("s", p.shapes[r][0]) for r in [*(c.initial for c in o.carried), *(r for r, _ in o.fixed)]]
        ends = all_(*symbols[:n], *(_wide(s, o.times) for s in symbols[n:]))
        last = ca.Function("last_of_" + all_.name(), symbols, [e[:, -1] for e in ((ends,) if n == 1 else ends)])
        out = last.map(columns)(*(_wide(x, columns) for x in [*initial, *(v[r] for r, _ in o.fixed)]))
        return (out,) if n == 1 else tuple(out)

    def _step(self, o: Repeat) -> ca.Function:
        """The body: from state, each and fixed to the next state. A body without roll-outs of its own is of scalars, whose
        zeros and ones cost nothing."""
        kind = ca.MX if any(isinstance(i, Repeat) for i in o.body.operations) else ca.SX
        places = [*(c.into for c in o.carried), *(of for _, of in o.each), *(of for _, of in o.fixed)]
        symbols = [kind.sym("s", o.body.shapes[r][0]) for r in places]
        values = o.body.evaluate(self, dict(zip(places, symbols)))
        return ca.Function("step", symbols, [ca.densify(kind(values[c.next])) for c in o.carried])


def _sqrt(x: Any) -> Any:
    # What is not chosen is finite and constant: else its derivative, infinite at 0, would make NaN of 0.
    return ca.if_else(x > 0, ca.sqrt(ca.if_else(x > 0, x, 1)), ca.if_else(x < 0, np.nan, 0))


_FUNCTIONS = {
    "tanh": ca.tanh, "sigmoid": lambda x: 0.5 * (1 + ca.tanh(0.5 * x)), "exp": ca.exp, "log": ca.log, "sqrt": _sqrt,
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "abs": lambda x: ca.if_else(x < 0, -x, x), "floor": ca.floor,
}

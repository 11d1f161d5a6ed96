"""A model as a JAX function: pure, for jit, vmap, grad and jacfwd.

Numbers are float32, or float64 where jax_enable_x64 is set. Roll-outs are lax.scan. Derivatives at kinks are those of
PROGRAM-FORMAT.md, and never NaN where the value is finite.
"""

from typing import Any, Dict, Optional, Sequence, Tuple

import jax
import jax.numpy as jnp
import numpy as np

from .program import (Affine, Clamp, Columns, Distances, Document, Function, Gather, Largest, Local, Products, Program, Repeat, SinCos,
                      Weigh, read)

Values = Dict[int, Any]  # of registers, rows × columns


class JaxFunction:
    """f(x, history, u, plan) → (mean, std), each T × K.

    x (K) is the state at the start; history (n, K+P) its rows before, the newest first, or None; plan (N, P) the input,
    whose rows divide the horizon, or None: u (P) is held; without u that is the mean input of the training.
    """

    def __init__(self, document: Document):
        self.document = document
        self.times = document.times  # (T) s after the start
        self.states, self.units = tuple(c.name for c in document.states), tuple(c.unit for c in document.states)
        self.inputs, self.input_units = tuple(c.name for c in document.inputs), tuple(c.unit for c in document.inputs)
        self.horizon, self.plan_rows, self.history_rows = document.horizon, document.plan_rows, len(document.history)

    def __call__(self, x: Any, history: Any = None, u: Any = None, plan: Any = None) -> Tuple[jax.Array, jax.Array]:
        out = self.outputs(x, history, u, plan)
        return out["mean"], out["std"]

    def outputs(self, x: Any, history: Any = None, u: Any = None, plan: Any = None) -> Dict[str, jax.Array]:
        """mean, std and obs_std (T, K), and ood (): the out-of-distribution score, above 1 do not plan on it."""
        d = self.document
        x = _shaped("x", x, len(d.states))
        program = d.programs[d.condition(history, plan, u)]
        inputs = {"x": x[:, None]}
        if "past" in program.inputs:
            rows = _shaped("history", history, len(d.history), len(d.states) + len(d.inputs))
            inputs["past"] = (rows - jnp.pad(x, (0, len(d.inputs)))).reshape(-1, 1)
        if plan is not None:
            inputs["plan"] = _shaped("plan", plan, d.plan_rows, len(d.inputs)).T
        elif d.inputs:
            inputs["plan"] = _shaped("u", d.input_mean if u is None else u, len(d.inputs))[:, None]
        values = program.evaluate(_Operations(x.dtype), {r: inputs[name] for name, r in program.inputs.items()})
        out = {name: values[r].T for name, r in program.outputs.items()}
        mean = out.pop("displacement") + (x if d.origin is None else jnp.asarray(d.origin, x.dtype))
        # Bounds and nets that saturate would hide what is not finite.
        known = jnp.stack([jnp.isfinite(v).all() for v in inputs.values()]).all()
        mean, std, obs_std = (jnp.where(known, v, jnp.nan) for v in (mean, out["std"], out["obs_std"]))
        ood = out["ood"][0, 0]
        ood = jnp.where(jnp.isfinite(mean).all() & ~jnp.isnan(ood), ood, jnp.inf)
        return {"mean": mean, "std": std, "obs_std": obs_std, "ood": ood}


def function(source: Any) -> JaxFunction:
    """The function of a document: its bytes, or the path of its file."""
    return JaxFunction(read(source))


def _shaped(name: str, x: Any, *shape: int) -> jax.Array:
    a = jnp.asarray(x, jnp.result_type(float))
    if a.shape != shape:
        raise ValueError(f"{name}: has shape {a.shape}, want {shape}")
    return a


def _dot(m: Any, x: Any) -> jax.Array:
    """m x: in full precision on accelerators too, which else round factors to few digits."""
    return jnp.matmul(m, x, precision=jax.lax.Precision.HIGHEST)


def _rows(x: Any, rows: np.ndarray) -> Any:
    """Rows of x: of a few runs by slices, which compile faster than a gather and fuse with what reads them."""
    starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    if len(starts) > 4:
        numbers = jax.lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
        return jax.lax.gather(x, np.int32(rows[:, None]), numbers, (1, x.shape[1]), mode="promise_in_bounds")
    runs = [x[rows[a]:rows[b - 1] + 1] for a, b in zip(starts, [*starts[1:], len(rows)])]
    return _stacked(runs)


def _stacked(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _broadcast(x: Any, shape: Tuple[int, int]) -> Any:
    return x if x.shape == shape else jnp.broadcast_to(x, shape)


class _Operations:
    """One method for each operation: it takes the program, the operation and the values so far."""

    def __init__(self, dtype: Any):
        self.dtype = dtype

    def constant(self, v: Any) -> np.ndarray:
        return np.asarray(v, self.dtype)

    def affine(self, p: Program, o: Affine, v: Values) -> Any:
        y = None if o.c is None else self.constant(o.c)
        for x, m in o.parts:
            part = self._product(m, v[x])
            y = part if y is None else y + part
        return _broadcast(y, p.shapes[o.out])

    def _product(self, m: np.ndarray, x: Any) -> Any:
        """m x; without multiplications where m is diagonal."""
        if m.shape[0] == m.shape[1] and np.count_nonzero(m) == np.count_nonzero(np.diag(m)):
            d = np.diag(m)
            return x if (d == 1).all() else self.constant(d[:, None]) * x
        return _dot(self.constant(m), x)

    def local(self, p: Program, o: Local, v: Values) -> Any:
        x = _broadcast(v[o.x], (p.shapes[o.x][0], p.shapes[o.out][1]))
        return jnp.einsum("jrk,kj->rj", self.constant(o.m), x, precision=jax.lax.Precision.HIGHEST)

    def products(self, p: Program, o: Products, v: Values) -> Any:
        terms = _rows(v[o.a], o.i) * _rows(v[o.b], o.k)
        rows = p.shapes[o.out][0]
        if np.array_equal(o.row, np.arange(rows)):
            return terms if (o.s == 1).all() else self.constant(o.s)[:, None] * terms
        sums = np.zeros((rows, len(o.row)))
        sums[o.row, np.arange(len(o.row))] = o.s
        return _dot(self.constant(sums), terms)

    def weigh(self, p: Program, o: Weigh, v: Values) -> Any:
        y = self.constant(o.w) * v[o.x]
        return _broadcast(y if o.c is None else y + self.constant(o.c), p.shapes[o.out])

    def columns(self, p: Program, o: Columns, v: Values) -> Any:
        columns = p.shapes[o.out][1]
        if np.array_equal(o.to, np.arange(columns)) and (o.w == 1).all():
            return _rows(v[o.x].T, o.of).T
        return _dot(v[o.x], self.constant(o.matrix(p.shapes[o.x][1], columns)))

    def gather(self, p: Program, o: Gather, v: Values) -> Any:
        columns = p.shapes[o.out][1]
        return _stacked([_broadcast(v[r][a:b], (b - a, columns)) for r, a, b in o.runs])

    def function(self, p: Program, o: Function, v: Values) -> Any:
        return _FUNCTIONS[o.f](v[o.x])

    def clamp(self, p: Program, o: Clamp, v: Values) -> Any:
        x, low, high = v[o.x], self.constant(o.low), self.constant(o.high)
        return jnp.where(x < low, low, jnp.where(x > high, high, x))

    def sincos(self, p: Program, o: SinCos, v: Values) -> Any:
        return jnp.concatenate([jnp.cos(v[o.x]), jnp.sin(v[o.x])])

    def largest(self, p: Program, o: Largest, v: Values) -> Any:
        rows, columns = p.shapes[o.out]
        groups = v[o.x].reshape(-1, rows, columns)
        return jnp.take_along_axis(groups, jnp.argmax(groups, axis=0)[None], axis=0)[0]

    def distances(self, p: Program, o: Distances, v: Values) -> Any:
        return jnp.square(v[o.x] - self.constant(o.points)[:, :, None]).sum(axis=1)

    def repeat(self, p: Program, o: Repeat, v: Values) -> Tuple[Any, ...]:
        columns = 1 if o.every else p.shapes[o.carried[0].out][1]

        def step(state: Tuple[Any, ...], each: Tuple[Any, ...]) -> Tuple[Tuple[Any, ...], Optional[Tuple[Any, ...]]]:
            inputs = {of: v[r] for r, of in o.fixed}
            inputs.update(zip((of for _, of in o.each), each))
            inputs.update(zip((c.into for c in o.carried), state))
            values = self._widened(o.body, columns).evaluate(self, inputs)
            after = tuple(_broadcast(values[c.next], s.shape) for c, s in zip(o.carried, state))
            return after, after if o.every else None

        state = tuple(_broadcast(v[c.initial], (p.shapes[c.initial][0], columns)) for c in o.carried)
        each = tuple(v[r].T[:, :, None] for r, _ in o.each)
        last, all_ = jax.lax.scan(step, state, each, length=o.times)
        return tuple(y[:, :, 0].T for y in all_) if o.every else last

    @staticmethod
    def _widened(body: Program, columns: int) -> Program:
        """A body for so many columns at once: its registers have one."""
        if columns == 1:
            return body
        return Program(tuple((rows, columns) for rows, _ in body.shapes), body.inputs, body.outputs, body.constants, body.operations)


def _sqrt(x: Any) -> Any:
    # What is not chosen is finite and constant: else its derivative, infinite at 0, would make NaN of 0.
    above = x > 0
    return jnp.where(above, jnp.sqrt(jnp.where(above, x, 1)), jnp.sqrt(jax.lax.stop_gradient(jnp.where(above, 0, x))))


_FUNCTIONS = {
    "tanh": jnp.tanh, "sigmoid": lambda x: 0.5 * (1 + jnp.tanh(0.5 * x)), "exp": jnp.exp, "log": jnp.log, "sqrt": _sqrt, "square": jnp.square,
    "reciprocal": lambda x: 1 / x, "abs": lambda x: jnp.where(x < 0, -x, x), "floor": jnp.floor,
}

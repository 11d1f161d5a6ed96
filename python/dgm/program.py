"""Reads the programs of a model: lists of a dozen operations, as PROGRAM-FORMAT.md describes them.

It needs numpy and msgpack, and knows no target: program_jax.py and program_casadi.py evaluate what is read here, each with
a function for every operation.
"""

import dataclasses
import os
from typing import Any, Callable, ClassVar, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

MAGIC, VERSION = "dgm-program", 1

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Channel:
    """A state or an input."""

    name: str
    unit: str
    period: float  # in its unit; 0 = not periodic


class Operation:
    """Sets the register out (R×C) from others. Fields that are registers are named by their places."""

    op: ClassVar[str]


@dataclasses.dataclass(frozen=True)
class Affine(Operation):
    """y = Σ m x + c."""

    op = "affine"
    out: int
    parts: Tuple[Tuple[int, Array], ...]  # x and m (R × rows of x)
    c: Optional[Array]  # R×1


@dataclasses.dataclass(frozen=True)
class Local(Operation):
    """y(:,j) = m_j x(:,j)."""

    op = "local"
    out: int
    x: int
    m: Array  # C × R × rows of x


@dataclasses.dataclass(frozen=True)
class Products(Operation):
    """y_r = Σ s a_i b_k over its terms."""

    op = "products"
    out: int
    a: int
    b: int
    row: NDArray[np.int64]  # of y, for each term, ascending
    i: NDArray[np.int64]  # of a
    k: NDArray[np.int64]  # of b
    s: Array


@dataclasses.dataclass(frozen=True)
class Weigh(Operation):
    """y = w ⊙ x + c."""

    op = "weigh"
    out: int
    x: int
    w: Array  # R×C or R×1
    c: Optional[Array]  # R×C or R×1


@dataclasses.dataclass(frozen=True)
class Columns(Operation):
    """y(:,j) = Σ w x(:,i) over its entries."""

    op = "columns"
    out: int
    x: int
    to: NDArray[np.int64]  # column of y, for each entry, ascending
    of: NDArray[np.int64]  # column of x
    w: Array

    def matrix(self, columns_of_x: int, columns: int) -> Array:
        """The matrix M of y = x M: columns of x × C."""
        m = np.zeros((columns_of_x, columns))
        np.add.at(m, (self.of, self.to), self.w)
        return m


@dataclasses.dataclass(frozen=True)
class Gather(Operation):
    """Rows of other registers."""

    op = "gather"
    out: int
    runs: Tuple[Tuple[int, int, int], ...]  # register, its rows from … to


@dataclasses.dataclass(frozen=True)
class Function(Operation):
    """y = f(x), number by number."""

    op = "function"
    out: int
    x: int
    f: str


@dataclasses.dataclass(frozen=True)
class Clamp(Operation):
    """y = min(max(x, low), high)."""

    op = "clamp"
    out: int
    x: int
    low: Array  # R×1
    high: Array  # R×1


@dataclasses.dataclass(frozen=True)
class SinCos(Operation):
    """The cosines of all rows of x, below them the sines."""

    op = "sincos"
    out: int
    x: int


@dataclasses.dataclass(frozen=True)
class Largest(Operation):
    """y_r = the largest of the rows r, r + R, r + 2R, … of x."""

    op = "largest"
    out: int
    x: int


@dataclasses.dataclass(frozen=True)
class Distances(Operation):
    """y_r = ‖x − point r‖²."""

    op = "distances"
    out: int
    x: int
    points: Array  # R × rows of x


@dataclasses.dataclass(frozen=True)
class Program:
    """A list of operations on registers."""

    shapes: Tuple[Tuple[int, int], ...]  # rows and columns of each register
    inputs: Dict[str, int]
    outputs: Dict[str, int]
    constants: Dict[int, Array]  # by register, in its shape
    operations: Tuple[Operation, ...]

    def columns(self, *registers: int) -> int:
        """The columns of an operation on registers, each of which has as many or one."""
        return max(self.shapes[r][1] for r in registers)

    def evaluate(self, target: Any, inputs: Dict[int, Any]) -> Dict[int, Any]:
        """The values of all registers. target has a method for each operation, named as it is, which takes the
        program, the operation and the values so far and returns that of out, or of all outs; and constant(array)."""
        values = dict(inputs)
        values.update((r, target.constant(v)) for r, v in self.constants.items())
        for o in self.operations:
            y = getattr(target, o.op)(self, o, values)
            if isinstance(o, Repeat):
                values.update(zip((c.out for c in o.carried), y))
            else:
                values[o.out] = y  # type: ignore[attr-defined]
        return values


@dataclasses.dataclass(frozen=True)
class Carried:
    """A part of the state of a Repeat."""

    out: int
    initial: int
    into: int  # of the body
    next: int  # of the body


@dataclasses.dataclass(frozen=True)
class Repeat(Operation):
    """Evaluates body so many times with a carried state.

    With every, each out has a column for the state after every step, and step i reads column i of what is in each. Else
    out is the state after the last step, and the body stands for every column of the operands.
    """

    op = "repeat"
    body: Program
    times: int
    every: bool
    carried: Tuple[Carried, ...]
    each: Tuple[Tuple[int, int], ...]  # register, of the body
    fixed: Tuple[Tuple[int, int], ...]  # register, of the body
    count: int  # −1, or the register (one row) of how many steps change anything


@dataclasses.dataclass(frozen=True)
class Document:
    """The programs of a model, and what they are of."""

    model: str
    vehicle: str
    horizon: float  # s
    times: Array  # (T) s after the start
    states: Tuple[Channel, ...]  # K
    inputs: Tuple[Channel, ...]  # P
    plan_rows: int  # N, which divide the horizon; 0 without inputs
    history: Array  # (n) s, row j is the mean over [t0 − history[j], t0 − history[j−1]]
    input_mean: Array  # (P)
    origin: Optional[Array]  # (K) to which displacements are added; None = the state at the start
    left_out: str
    programs: Dict[str, Program]  # by condition

    def condition(self, history: Any, plan: Any, u: Any = None) -> str:
        """The name of the program that a query needs. A history of fewer rows than the model reads counts as none."""
        if history is not None and len(self.history) == 0:
            raise ValueError("history: the model reads none")
        if isinstance(history, tuple):
            raise ValueError("history: is a tuple, must be an array of rows; Model.history makes it from samples (t, x, u)")
        width = len(self.states) + len(self.inputs)
        shape = (0,) if history is None else getattr(history, "shape", None) or np.shape(history)
        if 0 not in shape and (len(shape) != 2 or shape[1] != width):
            raise ValueError(f"history: has shape {shape}, want ({len(self.history)}, {width})")
        if plan is not None and u is not None:
            raise ValueError("u: comes with plan, which has the input from the state on: give one of them")
        if plan is not None and len(self.inputs) == 0:
            raise ValueError("plan: the model has no inputs")
        name = "plan" if plan is not None or not self.inputs else "hold"
        if shape[0] < len(self.history):
            name += "-without-history"
        return name


def read(source: Union[bytes, str, "os.PathLike[str]"]) -> Document:
    """Reads a document: its bytes, or the path of a file."""
    import msgpack

    if not isinstance(source, bytes):
        with open(source, "rb") as f:
            source = f.read()
    d = msgpack.unpackb(source, strict_map_key=False)
    if not isinstance(d, dict) or d.get("magic") != MAGIC:
        raise ValueError("program: is no document of programs; dgm-bridge export writes one")
    if d["version"] != VERSION:
        raise ValueError(f"program: has version {d['version']}, and this reader knows {VERSION}: read it with the package of that release")
    about, arrays = d["about"], [_floats(b) for b in d["arrays"]]
    states, inputs = ([Channel(c["name"], c["unit"], c["period"]) for c in about[key] or ()] for key in ("states", "inputs"))
    return Document(
        about["model"], about["vehicle"], about["horizon"], _floats(about["times"]), tuple(states), tuple(inputs),
        about["plan_rows"], _floats(about["history"]), _floats(about["input_mean"]),
        None if about["displacement"] else _floats(about["origin"]), about["left_out"],
        {p["name"]: _program(p["program"], arrays) for p in d["programs"]},
    )


def _floats(b: bytes) -> Array:
    return np.frombuffer(b, dtype="<f8").astype(np.float64)


def _program(p: Dict[str, Any], arrays: Sequence[Array]) -> Program:
    shapes = tuple((r, c) for r, c in p["registers"])
    constants = {r: arrays[a].reshape(shapes[r]) if a >= 0 else np.zeros(shapes[r]) for r, a in p["constants"] or ()}
    return Program(shapes, dict(p["inputs"] or ()), dict(p["outputs"] or ()), constants,
                   tuple(_READERS[o["op"]](o, shapes, arrays) for o in p["ops"] or ()))


def _column(v: Optional[Array], shape: Tuple[int, int]) -> Optional[Array]:
    """Numbers for rows, or for rows and columns."""
    return None if v is None else v.reshape(shape[0], -1)


def _integers(v: Sequence[int], of: int) -> NDArray[np.int64]:
    return np.array(v, dtype=np.int64).reshape(-1, of).T


_Reader = Callable[[Dict[str, Any], Sequence[Tuple[int, int]], Sequence[Array]], Operation]


def _array(o: Dict[str, Any], key: str, arrays: Sequence[Array]) -> Array:
    return arrays[o[key]] if o[key] >= 0 else np.zeros(0)


def _affine(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Affine:
    rows = shapes[o["out"]][0]
    parts = tuple((p["x"], _array(p, "m", arrays).reshape(rows, shapes[p["x"]][0])) for p in o["parts"])
    return Affine(o["out"], parts, arrays[o["c"]].reshape(rows, 1) if o["c"] >= 0 else None)


def _local(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Local:
    rows, columns = shapes[o["out"]]
    return Local(o["out"], o["x"], _array(o, "m", arrays).reshape(columns, rows, shapes[o["x"]][0]))


def _products(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Products:
    row, i, k = _integers(o["terms"], 3)
    return Products(o["out"], o["a"], o["b"], row, i, k, _array(o, "s", arrays))


def _weigh(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Weigh:
    shape = shapes[o["out"]]
    w, c = _column(_array(o, "w", arrays), shape), _column(arrays[o["c"]] if o["c"] >= 0 else None, shape)
    return Weigh(o["out"], o["x"], w, c)


def _columns(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Columns:
    to, of = _integers(o["entries"], 2)
    return Columns(o["out"], o["x"], to, of, _array(o, "w", arrays))


def _gather(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Gather:
    runs: List[Tuple[int, int, int]] = []
    for register, row in _integers(o["from"], 2).T.tolist():
        if runs and runs[-1][0] == register and runs[-1][2] == row:
            runs[-1] = (register, runs[-1][1], row + 1)
        else:
            runs.append((register, row, row + 1))
    return Gather(o["out"], tuple(runs))


def _clamp(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Clamp:
    return Clamp(o["out"], o["x"], _array(o, "low", arrays).reshape(-1, 1), _array(o, "high", arrays).reshape(-1, 1))


def _distances(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Distances:
    return Distances(o["out"], o["x"], _array(o, "points", arrays).reshape(shapes[o["out"]][0], shapes[o["x"]][0]))


def _repeat(o: Dict[str, Any], shapes: Sequence[Tuple[int, int]], arrays: Sequence[Array]) -> Repeat:
    def pairs(key: str) -> Tuple[Tuple[int, int], ...]:
        return tuple((register, of) for register, of in o[key] or ())

    return Repeat(_program(o["body"], arrays), o["times"], o["all"], tuple(Carried(*c) for c in o["carried"]),
                  pairs("each"), pairs("fixed"), o["count"])


_READERS: Dict[str, _Reader] = {
    "affine": _affine, "local": _local, "products": _products, "weigh": _weigh, "columns": _columns, "gather": _gather,
    "function": lambda o, shapes, arrays: Function(o["out"], o["x"], o["f"]),
    "clamp": _clamp,
    "sincos": lambda o, shapes, arrays: SinCos(o["out"], o["x"]),
    "largest": lambda o, shapes, arrays: Largest(o["out"], o["x"]),
    "distances": _distances, "repeat": _repeat,
}

"""Arrays as a flight log: see estimator/flightlog/FORMAT.md."""

from __future__ import annotations

import datetime
import itertools
import math
import numbers as numbers_
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .arguments import numbers
from .library import unit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """A state or an input."""

    name: str
    role: str  # state or input
    unit: str = ""
    period: float = 0.0  # of an angle, in its unit; 0 = none
    derivative: str = ""  # the state that is this one's time derivative


@dataclass(frozen=True)
class Flight:
    """Samples of one flight."""

    t: NDArray[np.int64]  # (n) ns
    x: Floats  # (n, K), NaN = not measured
    u: Floats  # (n, P) held from each sample to the next


def flights(t: Any, x: Any, u: Any, states: Optional[Sequence[str]] = None, inputs: Optional[Sequence[str]] = None) -> List[Flight]:
    """The flights of arrays, or of lists of them. Columns of a table that have the names of states and inputs are taken by them."""
    if several(t):
        lengths = {name: len(a) if hasattr(a, "__len__") else "no" for name, a in (("t", t), ("x", x), ("u", u)) if name != "u" or u is not None}
        if len(set(lengths.values())) > 1:
            have = ", ".join(f"{name} has {n}" for name, n in lengths.items())
            raise ValueError(f"flights: {have}: give lists with an entry for each flight")
        return [_flight(t[i], x[i], None if u is None else u[i], f" of flight {i}", states, inputs) for i in range(len(t))]
    return [_flight(t, x, u, "", states, inputs)]


def several(t: Any) -> bool:
    """Whether times are those of a list of flights."""
    return isinstance(t, (list, tuple)) and len(t) > 0 and np.ndim(t[0]) > 0


def names(given: Any, data: Any, default: str, many: bool = False) -> List[str]:
    """The names that are given, else those of the columns of a table, else default with numbers. many: data is a list of flights."""
    if given is not None:
        if isinstance(given, (set, frozenset)):
            raise TypeError(f"{given!r}: a set has no order; give a list of names")
        return [given] if isinstance(given, str) else [str(n) for n in given]
    first = data[0] if many and data is not None and len(data) else data
    if first is None:
        return []
    columns = _named(first)
    if columns is not None:
        return list(columns)
    shape = np.shape(first)
    width = shape[1] if len(shape) > 1 else 1
    return [f"{default}{i + 1}" for i in range(width)]


def _named(a: Any) -> Optional[List[str]]:
    """The names of the columns of a table of pandas, a dataset or an array of xarray, or a mapping; None where there are none."""
    if isinstance(a, (list, tuple)):
        return None
    if isinstance(a, Mapping):  # a dataset of xarray is one
        return [str(n) for n in getattr(a, "data_vars", a)]
    if hasattr(a, "columns"):
        return [str(c) for c in a.columns]
    if hasattr(a, "coords") and np.ndim(a) == 2:
        return [str(v) for v in a.coords[a.dims[1]].values] if a.dims[1] in a.coords else None
    return [str(a.name)] if np.ndim(a) == 1 and getattr(a, "name", None) is not None else None


def channels(states: Sequence[str], inputs: Sequence[str], units: Mapping[str, str], periods: Mapping[str, float],
             rates: Optional[Mapping[str, str]], all_: Sequence[Flight]) -> List[Channel]:
    """The channels; rates maps a position to its rate, by default the data show it."""
    known, turns = [*states, *inputs], {}
    for what, names_ in (("units", units), ("periods", periods), ("rates", rates or {}), ("rates", dict.fromkeys((rates or {}).values()))):
        for n in names_:
            if n not in known:
                raise ValueError(f"{what}: {n!r} is no channel; there are {', '.join(known)}")
    for n in known:
        if not (n and n.isprintable() and len(n.encode()) <= 256):
            raise ValueError(f"states and inputs: the name {n[:40]!r} must be a text of 1 to 256 bytes that can be shown")
        given = "" if units.get(n) is None else units[n]
        if not isinstance(given, str):
            raise TypeError(f"units: {n!r} has {given!r}, must be a text, as 'm/s'")
        if not (given.isprintable() and len(given.encode()) < 256):
            raise ValueError(f"units: {n!r} has {given[:40]!r}, must be a text of less than 256 bytes that can be shown")
        try:
            spelling, turns[n] = unit(given)
        except ValueError as e:
            raise ValueError(f"units: {n!r}: {e}") from None
        units = {**units, n: spelling}
    for n, period in periods.items():
        if not (period is None or isinstance(period, numbers_.Real) and 0 <= period < math.inf):
            raise ValueError(f"periods: {n!r} has {period!r}, must be a positive number, as 360, or 0 for none")
    for n, rate in (rates or {}).items():
        seen = [n]
        while rate is not None and rate not in seen:
            seen.append(rate)
            rate = (rates or {}).get(rate)
        if rate is not None or not set(seen) <= set(states):
            raise ValueError(f"rates: {n!r} has {(rates or {})[n]!r}, must be another state, which is its time derivative")
    if rates is None:
        rates = _rates(states, units, turns, all_)
    out = []
    for i, n in enumerate(known):
        state = i < len(states)
        period = periods.get(n, turns[n] if state else 0.0)
        out.append(Channel(n, "state" if state else "input", units[n], float(period or 0.0), rates.get(n, "") if state else ""))
    return out


def write(path: Union[str, "os.PathLike[str]"], vehicle: str, all_: Sequence[Flight], columns: Sequence[Channel]) -> None:
    """Writes a log of the flights."""
    import msgpack

    header: Dict[str, Any] = {"magic": "dgm.flightlog", "version": 1, "vehicle": vehicle, "source": "dgm of Python", "channels": []}
    for c in columns:
        fields = {"name": c.name, "role": c.role, "unit": c.unit, "period": c.period, "derivative": c.derivative}
        header["channels"].append({k: v for k, v in fields.items() if v})
    head = msgpack.packb(header)
    with open(path, "wb") as f:
        f.write(head)
        f.write(_record(1, head))
        for i, flight in enumerate(all_):
            f.write(_record(2, msgpack.packb([f"flight {i + 1}" if len(all_) > 1 else "", None])))
            x, u = flight.x.astype("<f8"), flight.u.astype("<f8")
            for j, t in enumerate(flight.t.tolist()):
                f.write(_record(3, msgpack.packb([t, x[j].tobytes(), u[j].tobytes(), b""])))


def _labels(name: str, a: Any) -> Iterator[Tuple[str, Any]]:
    """The labels of the rows of what pandas and xarray make, of each column of a mapping; those that only count are none."""
    if hasattr(a, "indexes"):
        first = next(iter(a.data_vars.values()), None) if hasattr(a, "data_vars") else a
        labels = None if first is None or not first.dims else a.indexes.get(first.dims[0])
    elif isinstance(a, Mapping):
        for key, part in a.items():
            yield from _labels(f"{name}, {key}", part)
        return
    else:
        labels = getattr(a, "index", a)
    if hasattr(labels, "get_indexer") and not (getattr(labels, "step", 0) == 1 and getattr(labels, "start", 1) == 0):
        yield name, labels


def _aligned(named: Sequence[Tuple[str, Any]], of: str) -> None:
    """Raises an error where rows of the same place have different labels: they are joined by place."""
    all_ = [pair for name, a in named for pair in _labels(name, a)]
    for (first, others), (name, labels) in itertools.combinations(all_, 2):
        if labels.dtype.kind != others.dtype.kind or len(labels) != len(others) or labels.equals(others):
            continue
        i = next((i for i, (a, b) in enumerate(zip(others, labels)) if a != b), None)
        if i is not None:
            raise ValueError(f"{first} and {name}{of}: row {i} is that of {others[i]} in {first} and of {labels[i]} in {name}; align them, as by "
                             "reindex of pandas, or give arrays (to_numpy()) where the rows belong together as they are")


def _flight(t: Any, x: Any, u: Any, of: str, states: Optional[Sequence[str]], inputs: Optional[Sequence[str]]) -> Flight:
    _aligned([("t", t), ("x", x), ("u", u)], of)
    stamps = _stamps(t, of)
    tables = []
    for name, a, wanted in (("x", x, states), ("u", u, inputs)):
        table = np.empty((len(stamps), 0)) if a is None and name == "u" else _table(a, name + of, wanted)
        if table.ndim == 1 and len(table) == len(stamps):
            table = table[:, np.newaxis]
        if table.ndim != 2 or len(table) != len(stamps):
            mend = "; transpose it" if table.ndim == 2 and table.shape[1] == len(stamps) else ""
            raise ValueError(f"{name}{of}: has the shape {table.shape}, must be ({len(stamps)}, channels): a row for each time of t{mend}")
        tables.append(table)
    return Flight(stamps, *tables)


def _table(a: Any, name: str, wanted: Optional[Sequence[str]]) -> Floats:
    """The columns of an array, or of a table those with the names that are wanted, in their order, if it has any of them."""
    columns = _named(a)
    pick = None
    if wanted is not None and columns is not None and set(wanted) & set(columns):
        if not set(wanted) <= set(columns) or len(set(columns)) < len(columns):
            raise ValueError(f"{name}: the table has the columns {', '.join(columns)}, must have {', '.join(wanted)}, each once; rename them, or give an array without names")
        pick = [columns.index(n) for n in wanted]
    if isinstance(a, Mapping):
        parts = [(n, a[k]) for n, k in zip(columns or [], getattr(a, "data_vars", a))]
        parts = parts if pick is None else [parts[i] for i in pick]
        return np.stack([numbers(v, f"{name}, {n}") for n, v in parts], axis=-1) if parts else np.empty((0, 0))
    if hasattr(a, "iloc"):  # pandas, whose missing values are NaN
        a = a.iloc[:, pick] if pick is not None and np.ndim(a) == 2 else a
        times = [n for n, kind in zip(_named(a) or ["it"], a.dtypes if np.ndim(a) == 2 else [a.dtype]) if kind.kind in "mM"]
        if times:
            raise ValueError(f"{name}: {', '.join(times)} has times, not numbers; leave it out")
        try:
            return numbers(a.to_numpy(dtype=np.float64, na_value=np.nan), name)
        except (TypeError, ValueError) as e:
            raise ValueError(f"{name}: no table of numbers: {e}") from None
    a = numbers(a, name)
    return a[:, pick] if pick is not None and a.ndim == 2 else a


def _stamps(t: Any, of: str) -> NDArray[np.int64]:
    a = np.asarray(t)
    if a.ndim != 1 or len(a) < 2:
        raise ValueError(f"t{of}: has the shape {a.shape}, must be (n) with n of 2 at least: s, or datetime64; a list of such is several flights")
    if a.dtype == object and hasattr(a[0], "timestamp"):  # datetimes, with a time zone or without
        try:
            a = np.array([np.datetime64(v.astimezone(datetime.timezone.utc).replace(tzinfo=None) if v.tzinfo else v, "ns") for v in a])
        except (AttributeError, TypeError, ValueError) as e:
            raise ValueError(f"t{of}: not all are times: {e}") from None
    if a.dtype.kind in "mM":
        if np.isnat(a).any():
            raise ValueError(f"t{of}: element {int(np.argmax(np.isnat(a)))} is not a time (NaT)")
        stamps = a.astype(f"{'datetime64' if a.dtype.kind == 'M' else 'timedelta64'}[ns]").astype(np.int64)
    else:
        s = numbers(a, f"t{of}")
        if not np.isfinite(s).all():
            raise ValueError(f"t{of}: element {int(np.argmin(np.isfinite(s)))} is not finite")
        if np.abs(s).max() > 9e9:
            raise ValueError(f"t{of}: has values up to {np.abs(s).max():.3g}; it is in s: divide ms by 1e3, µs by 1e6, divide ns by 1e9")
        stamps = np.round(s * 1e9).astype(np.int64)
    back = np.diff(stamps) <= 0
    if back.any():
        coarse = a.dtype.kind == "f" and np.spacing(np.abs(a).max()) > 1e-3
        mend = f"{a.dtype} resolves {np.spacing(np.abs(a).max()):.2g} s there: give float64, or subtract the first time before" if coarse else "sort the samples and drop the repeated ones, or give flights as a list of arrays"
        raise ValueError(f"t{of}: element {int(np.argmax(back)) + 1} is not after the one before it; {mend}")
    return stamps


# s, over which a position's change is compared with the integral of a rate: the share of its mean square that this leaves at most.
SPANS = {0.05: 0.02, 0.2: 0.02, 0.8: 0.01}


def _unexplained(all_: Sequence[Flight], position: int, rate: int, period: float, factor: float = 1.0) -> float:
    """The share of the mean square of a position's changes that a factor times the integral of a rate leaves, over the most that may be left; inf
    without change. Long spans average the sensors' noise away, short ones resolve fast motion: the best of them decides.
"""
    return min(_left(all_, position, rate, period, span, factor) / most for span, most in SPANS.items())


def _left(all_: Sequence[Flight], position: int, rate: int, period: float, span: float, factor: float) -> float:
    """The share that is left over spans of so many s.

    Spans in which one of them was not measured for long do not count."""
    left = moved = 0.0
    for f in all_:
        p, r = (np.flatnonzero(np.isfinite(f.x[:, k])) for k in (position, rate))
        if len(p) < 2 or len(r) < 2:
            continue
        t = 1e-9 * (f.t - f.t[0])
        dt, usual = np.diff(t[r]), float(np.median(np.diff(t[p])))
        area = factor * np.concatenate([[0], np.cumsum(dt * (f.x[r[1:], rate] + f.x[r[:-1], rate]) / 2)])
        holes = np.concatenate([[0], np.cumsum(dt > max(span, 3 * float(np.median(dt))))])
        p = p[(p >= r[0]) & (p <= r[-1])][:: max(1, int(span / usual + 1e-9))]
        if len(p) < 2:
            continue
        d, steps = np.diff(f.x[p, position]), np.diff(t[p])
        if period:
            d = (d + period / 2) % period - period / 2
        known = (steps <= 2 * max(span, usual)) & (np.diff(np.interp(t[p], t[r], holes)) == 0)
        e = (d - np.diff(np.interp(t[p], t[r], area)))[known]
        left, moved = left + float(e @ e), moved + float(d[known] @ d[known])
    return left / moved if moved > 0 else math.inf


def _rates(states: Sequence[str], units: Mapping[str, str], turns: Mapping[str, float], all_: Sequence[Flight]) -> Dict[str, str]:
    """Which state is the time derivative of which: by their units where there are both, and by the data."""
    out: Dict[str, str] = {}
    for i, position in enumerate(states):
        best = (1.0, "")  # what is left over the most that may be
        for j, rate in enumerate(states):
            a, b = units[position], units[rate]
            if i == j or (a and b and b != unit(a + "/s")[0]):
                continue
            if rate not in out.values():
                best = min(best, (_unexplained(all_, i, j, turns[position]), rate))
        if best[1]:
            out[position] = best[1]
        elif turns[position]:
            _same_angle(i, states, units, turns[position], all_)
    return out


def _same_angle(i: int, states: Sequence[str], units: Mapping[str, str], turn: float, all_: Sequence[Flight]) -> None:
    """Raises an error where an angle and a rate whose units agree do not, but would if one was in degrees."""
    a = units[states[i]]
    for j, rate in enumerate(states):
        for factor in (180 / math.pi, math.pi / 180) if j != i and units[rate] == unit(a + "/s")[0] else ():
            if min(_unexplained(all_, i, j, period, factor) for period in (turn, turn * factor)) < 1:
                raise ValueError(f"units: {states[i]!r} in {a} changes by {factor:.3g} times the integral of {rate!r} in {units[rate]}: one of the two is in degrees, the other one in radians; correct its unit")


def _record(kind: int, payload: bytes) -> bytes:
    import msgpack

    return b"\x93" + msgpack.packb(kind) + msgpack.packb(_crc(bytes([kind]) + payload)) + msgpack.packb(payload)


def _table_of_crc() -> List[int]:
    out = []
    for c in range(256):
        for _ in range(8):
            c = (c >> 1) ^ (0x82F63B78 if c & 1 else 0)
        out.append(c)
    return out


_CRC = _table_of_crc()


def _crc(data: bytes) -> int:
    c = 0xFFFFFFFF
    for b in data:
        c = _CRC[(c ^ b) & 0xFF] ^ (c >> 8)
    return c ^ 0xFFFFFFFF

"""Arrays as a flight log: see estimator/flightlog/FORMAT.md."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from .library import numbers

Floats = NDArray[np.float64]
TURN = {"rad": 2 * math.pi, "deg": 360.0, "°": 360.0, "degree": 360.0, "degrees": 360.0, "radian": 2 * math.pi, "radians": 2 * math.pi}


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


def flights(t: Any, x: Any, u: Any) -> List[Flight]:
    """The flights of arrays, or of lists of them."""
    if several(t):
        if len(t) != len(x) or (u is not None and len(u) != len(t)):
            raise ValueError(f"flights: t has {len(t)}, x has {len(x)}" + ("" if u is None else f", u has {len(u)}"))
        return [_flight(t[i], x[i], None if u is None else u[i], f" of flight {i}") for i in range(len(t))]
    return [_flight(t, x, u, "")]


def several(t: Any) -> bool:
    """Whether times are those of a list of flights."""
    return isinstance(t, (list, tuple)) and len(t) > 0 and np.ndim(t[0]) > 0


def names(given: Any, data: Any, default: str, many: bool = False) -> List[str]:
    """The names that are given, else those of the columns of a table, else default with numbers. many: data is a list of flights."""
    if given is not None:
        return [given] if isinstance(given, str) else [str(n) for n in given]
    first = data[0] if many and data is not None else data
    if first is None:
        return []
    if hasattr(first, "columns"):  # pandas
        return [str(c) for c in first.columns]
    if hasattr(first, "data_vars"):  # xarray
        return [str(v) for v in first.data_vars]
    if getattr(first, "name", None) is not None and np.ndim(first) == 1:
        return [str(first.name)]
    shape = np.shape(first)
    width = shape[1] if len(shape) > 1 else 1
    return [f"{default}{i + 1}" for i in range(width)]


def channels(states: Sequence[str], inputs: Sequence[str], units: Mapping[str, str], periods: Mapping[str, float],
             rates: Optional[Mapping[str, str]], all_: Sequence[Flight]) -> List[Channel]:
    """The channels; rates maps a position to its rate, by default the data show it."""
    known = [*states, *inputs]
    for what, names_ in (("units", units), ("periods", periods), ("rates", rates or {}), ("rates", dict.fromkeys((rates or {}).values()))):
        for n in names_:
            if n not in known:
                raise ValueError(f"{what}: {n!r} is no channel; there are {', '.join(known)}")
    if rates is None:
        rates = _rates(states, units, all_)
    out = []
    for i, n in enumerate(known):
        state = i < len(states)
        unit = units.get(n, "")
        period = periods.get(n, TURN.get(unit, 0.0) if state else 0.0)
        out.append(Channel(n, "state" if state else "input", unit, float(period or 0.0), rates.get(n, "") if state else ""))
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


def _flight(t: Any, x: Any, u: Any, of: str) -> Flight:
    stamps = _stamps(t, of)
    x = _table(x)
    if x.ndim == 1:
        x = x[:, np.newaxis]
    u = np.empty((len(stamps), 0)) if u is None else _table(u)
    if u.ndim == 1:
        u = u[:, np.newaxis]
    for name, a in (("x", x), ("u", u)):
        if a.ndim != 2 or len(a) != len(stamps):
            raise ValueError(f"{name}{of}: has the shape {a.shape}, must be ({len(stamps)}, channels): a row for each time of t")
    return Flight(stamps, x, u)


def _table(a: Any) -> Floats:
    if hasattr(a, "data_vars"):  # a dataset of xarray: a column for each variable
        return numbers(np.stack([np.asarray(v) for v in a.data_vars.values()], axis=1))
    if hasattr(a, "to_numpy"):  # pandas, whose missing values are NaN
        a = a.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers(a)


def _stamps(t: Any, of: str) -> NDArray[np.int64]:
    a = np.asarray(t)
    if a.ndim != 1 or len(a) < 2:
        raise ValueError(f"t{of}: has the shape {a.shape}, must be (n) with n of 2 at least: s, or datetime64")
    if np.issubdtype(a.dtype, np.datetime64) or np.issubdtype(a.dtype, np.timedelta64):
        unit = "datetime64[ns]" if np.issubdtype(a.dtype, np.datetime64) else "timedelta64[ns]"
        stamps = a.astype(unit).astype(np.int64)
    else:
        s = numbers(a)
        if not np.isfinite(s).all():
            raise ValueError(f"t{of}: element {int(np.argmin(np.isfinite(s)))} is not finite")
        if np.abs(s).max() > 9e9:
            raise ValueError(f"t{of}: has values up to {np.abs(s).max():.3g}; it is in s: divide ns by 1e9")
        stamps = np.round(s * 1e9).astype(np.int64)
    back = np.diff(stamps) <= 0
    if back.any():
        raise ValueError(f"t{of}: element {int(np.argmax(back)) + 1} is not after the one before it; give flights as a list of arrays")
    return stamps


# s, over which a position's change is compared with the integral of a rate: the share of its mean square that this leaves at most.
SPANS = {0.05: 0.02, 0.2: 0.02, 0.8: 0.01}


def _unexplained(all_: Sequence[Flight], position: int, rate: int, period: float, span: float) -> float:
    """The share of the mean square of a position's changes, over spans of so many s, that the integral of a rate leaves; inf without change."""
    left = moved = 0.0
    for f in all_:
        stride = max(1, int(span * (len(f.t) - 1) / max(1e-9 * (f.t[-1] - f.t[0]), 1e-9)))
        dt = 1e-9 * np.diff(f.t)
        area = np.concatenate([[0], np.cumsum(dt * (f.x[1:, rate] + f.x[:-1, rate]) / 2)])[::stride]
        d = np.diff(f.x[::stride, position])
        if period:
            d = (d + period / 2) % period - period / 2
        e = d - np.diff(area)
        left, moved = left + float(np.nansum(e * e)), moved + float(np.nansum(d * d))
    return left / moved if moved > 0 else math.inf


def _rates(states: Sequence[str], units: Mapping[str, str], all_: Sequence[Flight]) -> Dict[str, str]:
    """Which state is the time derivative of which: by their units where there are both, and by the data.

    Long spans average the sensors' noise away, short ones resolve fast motion: the best of them decides.
    """
    out: Dict[str, str] = {}
    for i, position in enumerate(states):
        best = (1.0, "")  # what is left over the most that may be
        for j, rate in enumerate(states):
            a, b = units.get(position, ""), units.get(rate, "")
            if i == j or (a and b and b.replace(" ", "") not in (a + "/s", a + "s⁻¹", a + "s^-1")):
                continue
            if rate not in out.values():
                best = min(best, *((_unexplained(all_, i, j, TURN.get(a, 0.0), span) / most, rate) for span, most in SPANS.items()))
        if best[1]:
            out[position] = best[1]
    return out


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

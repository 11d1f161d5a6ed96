"""Checks of arguments. An error names the argument, what was given and what is expected."""

from __future__ import annotations

import numbers as numbers_
import operator
import re
from typing import Any, Mapping, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def numbers(x: Any, name: str) -> Floats:
    """x as float64 in the order of C; masked elements are NaN, which is refused as not measured."""
    if isinstance(x, (list, tuple)) and any(isinstance(e, np.ma.MaskedArray) and e.ndim > 0 for e in x):
        x = np.ma.stack([np.ma.asarray(e, dtype=np.float64) for e in x])
    if isinstance(x, np.ma.MaskedArray):
        x = x.astype(np.float64).filled(np.nan)
    try:
        if np.iscomplexobj(x):
            raise ValueError("complex numbers have no place here; take the real part where that is meant")
        if getattr(np.asarray(x), "dtype", np.dtype(float)).kind in "mM":
            raise ValueError("are times, which have no place here; give numbers")
        return np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError) as e:
        reason = "its rows have different lengths or shapes" if "sequence" in str(e) else e
        raise ValueError(f"{name}: no array of numbers: {reason}") from None


def shaped(name: str, x: Any, *shapes: Tuple[int, ...]) -> Floats:
    """x as numbers, if it has one of the shapes; −1 is any length above 0."""
    wanted = " or ".join("(" + ", ".join("N" if n < 0 else str(n) for n in s) + ")" for s in shapes)
    try:
        a = numbers(x, name)
    except ValueError as e:
        raise ValueError(f"{e}; want {wanted}") from None
    for shape in shapes:
        if a.ndim == len(shape) and all(n == want or (want < 0 and n > 0) for n, want in zip(a.shape, shape)):
            return a
    raise ValueError(f"{name}: has shape {a.shape}, want {wanted}")


def columns(name: str, x: Any, names: Sequence[str]) -> Any:
    """x, or of a row or table that has some of the names, and of a mapping, what belongs to them in their order."""
    labels: Any = ()
    if isinstance(x, Mapping):
        labels = x
    elif hasattr(x, "columns") or hasattr(x, "index") and not callable(x.index):  # of pandas
        labels = getattr(x, "columns", x.index)
    if not isinstance(x, Mapping) and not set(names) & set(labels):
        return x
    if not set(names) <= set(labels):
        raise ValueError(f"{name}: has {', '.join(map(str, labels))}, must have {', '.join(names)}")
    return np.stack([np.asarray(x[n]) for n in names], axis=-1)


def stamp(t: Any, name: str = "t") -> int:
    """A time in s as ns."""
    try:
        t = float(t)
    except (TypeError, ValueError) as e:
        raise TypeError(f"{name}: {t!r} is no time in s") from e
    if not abs(t) <= 9e9:
        raise ValueError(f"{name}: is {t}, must be a time in s: finite, and at most 9e9")
    return round(t * 1e9)


def seconds(name: str, value: Any) -> float:
    """A duration in s."""
    if isinstance(value, (bool, str)) or not isinstance(value, numbers_.Real):
        raise TypeError(f"{name}: {value!r} is no number of seconds, as 0.5")
    if not 1e-9 <= value < 1e9:
        raise ValueError(f"{name}: is {value!r}, must be positive and below 1e9 s")
    return float(value)


def whole(name: str, value: Any, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number between two bounds."""
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is no whole number") from None
    if not least <= n <= most:
        raise ValueError(f"{name}: is {n}, must be {f'at least {least}' if n < least else f'at most {most}'}")
    return n


def token(name: str, value: Any) -> str:
    """A name of a vehicle or sensor: part of a subject of NATS, see estimator/wire/PROTOCOL.md."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {value!r} is no text, as 'robot'")
    if not re.fullmatch("[A-Za-z0-9_-]{1,64}", value):
        raise ValueError(f"{name}: is {value[:80]!r}, must have 1 to 64 letters, digits, - and _ of ASCII")
    return value

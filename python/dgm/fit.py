"""Models from arrays, by dgm-train."""

from __future__ import annotations

import os
import pathlib
import re
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from . import log, programs
from .arguments import seconds, token, whole
from .model import Model


def fit(t: Any, x: Any, u: Any = None, *, states: Optional[Sequence[str]] = None, inputs: Optional[Sequence[str]] = None,
        units: Optional[Mapping[str, str]] = None, horizon: float = 0.5, preset: str = "default", periods: Optional[Mapping[str, float]] = None,
        rates: Optional[Mapping[str, str]] = None, seed: int = 1, filter: str = "auto", vehicle: str = "robot", out: Union[None, str, "os.PathLike[str]"] = None,
        progress: bool = True) -> Model:
    """Learns a model of a robot from arrays: the distribution of its state over the horizon, s, given state, inputs and plan.

    t (n) are the times in s, or datetime64; x (n, K) the states, NaN = not measured; u (n, P) the inputs, each held from its sample
    to the next. Lists of arrays are flights: with five or more, the held-out scores are of whole flights. Tables of pandas,
    datasets and arrays of xarray and mappings have the names; else states and inputs are lists of names, by which the columns of a table are taken. units are by name ("rad", "m/s"); a state in rad,
    mrad, deg, cdeg or turns is an angle unless its entry of periods is 0. rates maps a state to the one that is its time derivative; by default
    units and data show it. preset is default or quick. filter is auto, on or off: whether a Kalman filter estimates rates
    that nothing measures; such a model starts from the messages of a robot at an estimator, or from all states. The model is written to out with its report beside it, by default to a
    temporary folder that lives as long as the model. Ctrl-C ends the training with the model so far.
    """
    for what, given in (("units", units), ("periods", periods), ("rates", rates)):
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{what}: {given!r} is no mapping by names, as {{'theta': …}}")
    for what, value, example in (("preset", preset, "default or quick"), ("filter", filter, "auto, on or off")):
        if not isinstance(value, str):
            raise TypeError(f"{what}: {value!r} is no text: {example}")
    horizon, seed, vehicle = seconds("horizon", horizon), whole("seed", seed, most=2**64 - 1), token("vehicle", vehicle)
    states = log.names(states, x, "x", log.several(t))
    inputs = log.names(inputs, u, "u", log.several(t))
    flights = log.flights(t, x, u, states, inputs)
    for what, given, of, have in (("states", states, "x", flights[0].x.shape[1]), ("inputs", inputs, "u", flights[0].u.shape[1])):
        if len(given) != have:
            raise ValueError(f"{what}: {len(given)} names ({', '.join(given)}) for {have} columns of {of}")
    if len(set(states) | set(inputs)) < len(states) + len(inputs):
        raise ValueError("states and inputs: a name is given twice")
    for i, f in enumerate(flights):
        if f.x.shape[1] != len(states) or f.u.shape[1] != len(inputs):
            raise ValueError(f"x and u of flight {i}: have {f.x.shape[1]} and {f.u.shape[1]} columns, must have those of the first one: {len(states)} and {len(inputs)}")
    columns = log.channels(states, inputs, units or {}, periods or {}, rates, flights)
    folder = None
    if out is None:
        folder = tempfile.TemporaryDirectory(prefix="dgm-")
        out = os.path.join(folder.name, "model.dgm")
    target = pathlib.Path(out)
    with tempfile.TemporaryDirectory() as logs:
        path = os.path.join(logs, "flights.msgpack")
        log.write(path, vehicle, flights, columns)
        arguments = ["--log", path, "--out", os.fspath(target), "--horizon", f"{round(horizon * 1e9)}ns", "--preset", preset, "--seed", str(seed), "--filter", filter]
        try:
            programs.document("dgm-train", arguments, programs.printer("dgm-train") if progress else None)
        except ValueError as e:
            text = re.sub(r" \(see dgm-train --help\)", "", str(e).replace(path, "the arrays"))
            text = text.replace("in its channel of the map, and import the log again", "in units and periods of fit")
            raise ValueError(re.sub(r"--(horizon|preset|filter|seed) ([\d.e+]+(?=s\b)|\"\w*\")s?", r"\1=\2", text).replace(" (--horizon)", "").replace("--horizon", "horizon")) from None
    return Model(target, folder)

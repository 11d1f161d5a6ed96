"""Scores of a model on flights, by dgm-eval, and its predictions compared with measurements."""

from __future__ import annotations

import functools
import html
import json
import os
import pathlib
import shutil
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import log, programs
from .arguments import stamp, whole

HALF95 = 1.959963984540054


class Report(Dict[str, Any]):
    """The report of a training as data; a notebook shows its page. html is the page."""

    def __init__(self, data: Mapping[str, Any], page: str):
        super().__init__(data)
        self.html = page

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"{self['verdict']}: {self['reason']} {self['next']}"


class Evaluation(Dict[str, Any]):
    """The scores of a model on flights, the document of dgm-eval --json; a notebook shows a table."""

    @property
    def verdict(self) -> str:
        """use, care or no."""
        return self["verdict"]

    def rows(self) -> List[Tuple[float, str, str, float, float, float]]:
        """Horizon in s, state, unit, RMSE of the model and of the best simple predictor, share in intervals of 95 %."""
        out = []
        for h in self["horizons"]:
            for c in h["channels"]:
                simple = min(v for v in (c.get("hold"), c.get("velocity"), c.get("linear"), c.get("ridge")) if v is not None)
                out.append((h["t"], c["name"], c["unit"], c["rmse"], simple, c["coverage95"]))
        return out

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{n}</th>" for n in ("ahead", "state", "RMSE", "best simple predictor", "in 95 %"))
        body = "".join(f"<tr><td>{t:g} s</td><td>{html.escape(name)}</td><td>{e:.3g} {html.escape(unit)}</td><td>{s:.3g}</td><td>{100 * c:.0f} %</td></tr>"
                       for t, name, unit, e, s, c in self.rows())
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    def __repr__(self) -> str:
        return f"{self['verdict']}: {self['reason']} {self['next']}"

    def __str__(self) -> str:
        width = max((len(name) for _, name, *_ in self.rows()), default=5)
        table = [f"{t:7g} s  {name:{width}}  {e:10.3g}  {s:10.3g}  {100 * c:5.0f} %  {unit}" for t, name, unit, e, s, c in self.rows()]
        return "\n".join([repr(self), f"    ahead  {'state':{width}}        RMSE  of simple*  in 95 %", *table, "* hold, constant velocity, linear or ridge regression: the best of them", *self["details"]])


class Evaluated:
    """The part of a model that compares it with flights. The methods take t, x and u as fit does, arrays or lists of them: x has the
    states that sensors measure, u the inputs, both in the model's order."""

    path: str
    states: Tuple[str, ...]
    units: Tuple[str, ...]
    inputs: Tuple[str, ...]
    input_units: Tuple[str, ...]
    estimated: Tuple[str, ...]
    filtered: bool
    horizon: float
    history_rows: int
    history_seconds: float
    predict: Callable[..., Any]

    @functools.cached_property
    def report(self) -> Report:
        """The report of the training, NAME.report.json and NAME.report.html beside the model. FileNotFoundError where they are not."""
        data, page = (pathlib.Path(self.path).with_suffix(f".report.{kind}").read_text(encoding="utf-8") for kind in ("json", "html"))
        return Report(json.loads(data), page)

    @property
    def verdict(self) -> str:
        """use, care or no: what the report advises."""
        return self.report["verdict"]

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model, and beside it the report as NAME.report.html and NAME.report.json."""
        source, target = pathlib.Path(self.path), pathlib.Path(path)
        if target.exists() and target.samefile(source):
            return  # it is there
        shutil.copyfile(source, target)
        for kind in (".report.html", ".report.json"):
            shutil.copyfile(source.with_suffix(kind), target.with_suffix(kind))

    def evaluate(self, t: Any, x: Any, u: Any = None, *, adapt: bool = False) -> Evaluation:
        """Scores of the model on other flights; adapt: also with adaptation in flight."""
        flights = self._flights(t, x, u)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "flights.msgpack")
            log.write(path, "robot", flights, self._columns)
            try:
                return Evaluation(programs.document("dgm-eval", ["--model", os.fspath(self.path), "--log", path, *(["--adapt"] if adapt else [])]))
            except ValueError as e:
                raise ValueError(str(e).replace(path, "the arrays")) from None

    def plot(self, t: Any, x: Any, u: Any = None, at: Optional[float] = None, states: Optional[Sequence[str]] = None) -> Any:
        """A figure of matplotlib: measurements, and the prediction with the intervals of 95 % of them from the first sample at or after at, s,
        by default the middle of the flight. The inputs that follow are the plan."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as e:
            raise ImportError(f"{e}: plots are drawn by matplotlib; pip install matplotlib") from e

        shown = [states] if isinstance(states, str) else list(states or self.states)
        for name in shown:
            if name not in self.states:
                raise ValueError(f"states: the model has no state {name!r}; it has {', '.join(self.states)}")
        f = self._flights(t, x, u)[0]
        s = 1e-9 * (f.t - f.t[0])
        at = s[-1] / 2 if at is None else 1e-9 * stamp(at, "at")
        if not 0 <= at <= s[-1]:
            raise ValueError(f"at: is {at:g}, must be a time in s from the first sample: 0 to {s[-1]:g}")
        i = min(int(np.searchsorted(s, at)), len(s) - 2)
        p = self.after(t, x, u, i)
        low, high = p.mean - HALF95 * p.obs_std, p.mean + HALF95 * p.obs_std
        figure, axes = plt.subplots(len(shown), 1, sharex=True, squeeze=False, figsize=(8, 2.2 * len(shown)))
        measured = {c.name: k for k, c in enumerate(c for c in self._columns if c.role == "state")}
        view = (s >= s[i] - self.horizon) & (s <= s[i] + self.horizon)
        for ax, name in zip(axes[:, 0], shown):
            k = self.states.index(name)
            if name in measured:
                ax.plot(s[view], f.x[view, measured[name]], ".", color="0.4", markersize=3, label="measured")
            ax.plot(s[i] + p.times, p.mean[:, k], color="C0", label="predicted")
            ax.fill_between(s[i] + p.times, low[:, k], high[:, k], color="C0", alpha=0.25, linewidth=0, label="95 % of measurements")
            ax.set_ylabel(f"{name}, {self.units[k]}" if self.units[k] else name)
        axes[0, 0].legend(loc="best", fontsize="small")
        axes[-1, 0].set_xlabel("s")
        figure.tight_layout()
        return figure

    def estimates(self, t: Any, x: Any, u: Any = None) -> Tuple[np.ndarray, np.ndarray]:
        """What the model's filter makes of a flight up to each sample: the states (n, K) and their standard deviations (n, K), NaN
        until it has settled. ValueError where the model has no filter: then all states are as measured."""
        if not self.filtered:
            raise ValueError("the model has no filter, so there are no estimates")
        return self._estimates(self._flights(t, x, u)[0])

    def _estimates(self, f: log.Flight) -> Tuple[np.ndarray, np.ndarray]:
        K = len(self.states)
        measured = [k for k, n in enumerate(self.states) if n not in self.estimated]
        mean, std, y = np.full((len(f.t), K), np.nan), np.full((len(f.t), K), np.nan), np.full(K, np.nan)
        with type(self)(self.path) as robot:  # an open model has one robot
            for i, at in enumerate(f.t - f.t[0]):
                y[measured] = f.x[i]
                e = robot.update(1e-9 * at, y, f.u[i])
                if e.settled:
                    mean[i], std[i] = e.x, np.sqrt(np.diagonal(e.P))
        return mean, std

    def after(self, t: Any, x: Any, u: Any, i: int) -> Any:
        """The prediction from sample i of a flight, its samples before as history, its inputs after as plan. That of a model with a filter
        starts from the filter's estimate. ValueError where the filter has not settled by then."""
        f = self._flights(t, x, u)[0]
        i = whole("i", i, -(2**31))
        if not 0 <= i < len(f.t):
            raise ValueError(f"i: is {i}, must be a sample of the flight: 0 to {len(f.t) - 1}")
        states, P0 = f.x, None
        if self.filtered:
            states, std = self._estimates(log.Flight(f.t[: i + 1], f.x[: i + 1], f.u[: i + 1]))
            if not np.isfinite(states[i]).all():
                raise ValueError(f"sample {i}: the filter has not settled by then; choose a later one")
            P0 = np.diag(std[i] ** 2)
        s = 1e-9 * (f.t - f.t[i])
        history = None
        if self.history_rows:
            from_ = int(np.searchsorted(s, -1.5 * self.history_seconds))
            known = np.flatnonzero(~np.isfinite(states[from_:i]).all(axis=1))
            from_ += int(known[-1]) + 1 if len(known) else 0
            history = (s[from_:i], states[from_:i], f.u[from_:i]) if i > from_ else None
        if not self.inputs:
            return self.predict(states[i], history=history, P0=P0)
        rows = 50
        at = np.clip(np.searchsorted(s, self.horizon / rows * np.arange(rows), side="right") - 1, i, None)
        return self.predict(states[i], plan=f.u[at], history=history, P0=P0)

    @property
    def _columns(self) -> List[log.Channel]:
        """What a log has for the model: the states that sensors measure, and the inputs."""
        measured = [log.Channel(n, "state", unit) for n, unit in zip(self.states, self.units) if n not in self.estimated]
        return measured + [log.Channel(n, "input", unit) for n, unit in zip(self.inputs, self.input_units)]

    def _flights(self, t: Any, x: Any, u: Any) -> List[log.Flight]:
        states, inputs = ([c.name for c in self._columns if c.role == role] for role in ("state", "input"))
        flights = log.flights(t, x, u, states, inputs)
        K, P = len(states), len(inputs)
        for f in flights:
            if f.x.shape[1] != K or f.u.shape[1] != P:
                raise ValueError(f"x and u: have {f.x.shape[1]} and {f.u.shape[1]} columns, the model has {K} measured states and {P} inputs: {', '.join(c.name for c in self._columns)}")
        return flights

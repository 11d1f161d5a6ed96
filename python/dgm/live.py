"""States to an estimator over NATS, predictions and estimates from it: see estimator/wire/PROTOCOL.md."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, AsyncIterator, Dict, List, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import seconds, shaped, stamp, token
from .queries import vector

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Distribution:
    """A prediction: distributions of K channels at T times after a state."""

    seq: int  # of the state
    t: float  # s, when it was measured
    valid_until: float  # s
    channels: Sequence[str]  # K
    units: Sequence[str]  # K
    horizon: Floats  # (T) s after t
    mean: Floats  # (T, K)
    std: Floats  # (T, K) of the state
    obs_std: Floats  # (T, K) of a measurement of it
    factor: Optional[Floats]  # (T, K) by which intervals must be scaled to cover 95 % at present; None = not known
    ood: float  # above 1 is out of distribution
    flags: int  # the first 16 bits are warnings
    tube: Optional[Floats] = None  # (3) factors: a whole trajectory stays within mean ± factor·std with probability 0.5, 0.9, 0.95

    def __repr__(self) -> str:
        last = ", ".join(f"{n} {m:.3g} ± {s:.2g} {unit}".rstrip() for n, m, s, unit in zip(self.channels, self.mean[-1], self.std[-1], self.units))
        return f"<Distribution of state {self.seq} at {len(self.horizon)} times; in {self.horizon[-1]:g} s {last}; ood {self.ood:.2g}, warnings {self.flags & 0xFFFF:#x}>"


@dataclass(frozen=True)
class Estimate:
    """The estimate of a model's filter after the measurements up to a state."""

    seq: int  # of the state
    t: float  # s
    sensor: str  # that sent the state; "" without a name
    channels: Sequence[str]  # K
    units: Sequence[str]  # K
    x: Floats  # (K)
    P: Floats  # (K, K) covariance of its error
    settled: bool  # predictions start from it
    innovation: Floats  # (K) measured less predicted; NaN = not measured
    ratio: Floats  # (K) test ratio: above 1 is an outlier; NaN = not measured
    nis: float  # normalised innovations squared, mean: 1 in a consistent filter
    rejected: int  # outliers so far
    sensors: Sequence[str]  # channels that were measured


class Live:
    """The estimator of one vehicle. nc is a connection of nats-py.

        nc = await nats.connect()
        live = dgm.Live(nc, "v1")
        predictions = await live.predictions()
        await live.send(x, u=u)
        print((await predictions.__anext__()).mean)

    A state that the estimator refuses is not answered: statuses says why.
    """

    def __init__(self, nc: Any, vehicle: str):
        self.nc, self.vehicle = nc, token("vehicle", vehicle)
        self._seq: Dict[str, int] = {}

    async def send(self, x: ArrayLike, t: Optional[float] = None, u: Optional[ArrayLike] = None, plan: Optional[ArrayLike] = None,
                   plan_dt: Optional[float] = None, P0: Optional[ArrayLike] = None, sensor: str = "") -> int:
        """Sends a state and returns its number.

        x (K), NaN = not measured, or what sensors measure alone, in the order of the model; t s since 1970, default now; u (P) is the input held at t, plan (R, P) those of the future, each
        for plan_dt s; P0 (K, K) the covariance of x. sensor names one of several senders of the vehicle.
        """
        import msgpack

        message: Dict[str, Any] = {"v": 1, "t": time.time_ns() if t is None else stamp(t), "x": shaped("x", x, (-1,))}
        K = len(message["x"])
        if u is not None:
            message["u"] = shaped("u", u, (-1,))
        if plan is not None:
            message["plan"] = shaped("plan", plan, (-1, -1 if u is None else len(message["u"])))
        if P0 is not None:
            message["P0"] = shaped("P0", P0, (K, K))
        message = {k: v.astype("<f8").tobytes() if isinstance(v, np.ndarray) else v for k, v in message.items()}
        if plan_dt is not None:
            message["plan_dt"] = seconds("plan_dt", plan_dt)
        if sensor:
            message["sensor"] = token("sensor", sensor)
        seq = message["seq"] = self._seq[sensor] = self._seq.get(sensor, -1) + 1
        await self.nc.publish("dgm.state." + self.vehicle, msgpack.packb(message))
        return seq

    async def predictions(self) -> AsyncIterator[Distribution]:
        """Returns an iterator over the predictions from now on."""
        return _decoded(await self.nc.subscribe("dgm.predict." + self.vehicle), prediction)

    async def estimates(self) -> AsyncIterator[Estimate]:
        """Returns an iterator over the estimates from now on: of a model with a filter, else there are none."""
        return _decoded(await self.nc.subscribe("dgm.estimate." + self.vehicle), estimate)

    async def statuses(self) -> AsyncIterator[Dict[str, Any]]:
        """Returns an iterator over the estimator's status, once a second from now on: the fields of Status in PROTOCOL.md. reasons has, for
        each kind of state that was not answered, its count, text and last error."""
        return _decoded(await self.nc.subscribe("dgm.status." + self.vehicle), _message)


async def _decoded(subscription: Any, decode: Any) -> AsyncIterator[Any]:
    async for m in subscription.messages:
        yield decode(m.data)


def prediction(data: bytes) -> Distribution:
    """Decodes the message of dgm.predict.<vehicle>. ValueError where it is none."""
    m = _message(data)
    K, T = len(m["channels"]), len(vector(m["horizon"]))
    shaped = [vector(m[k]).reshape(T, K) for k in ("mean", "std", "obs_std")]
    factor = vector(m["factor"]) if m.get("factor") else None
    return Distribution(m["seq"], 1e-9 * m["t"], 1e-9 * m["valid_until"], m["channels"], m["units"], vector(m["horizon"]), *shaped,
                        factor=None if factor is None else factor.reshape(T, K), ood=float(m["ood"]), flags=m["flags"],
                        tube=vector(m["tube"]) if m.get("tube") else None)


def estimate(data: bytes) -> Estimate:
    """Decodes the message of dgm.estimate.<vehicle>. ValueError where it is none."""
    m = _message(data)
    K = len(m["channels"])
    rest: List[Any] = [vector(m["x"]), vector(m["P"]).reshape(K, K), m["settled"], vector(m["innovation"]), vector(m["ratio"])]
    return Estimate(m["seq"], 1e-9 * m["t"], m.get("sensor", ""), m["channels"], m["units"], *rest, nis=float(m["nis"]), rejected=m["rejected"], sensors=m["sensors"])


def _message(data: bytes) -> Dict[str, Any]:
    import msgpack

    m = msgpack.unpackb(data)
    if not isinstance(m, dict) or m.get("v") != 1:
        raise ValueError("no message of version 1 of the estimator")
    return m

"""What-if questions to an estimator over NATS: see estimator/wire/PROTOCOL.md, Query and Answer."""

from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import numbers, seconds, shaped, token

Floats = NDArray[np.float64]


class Refused(Exception):
    """The estimator refuses a query; key is the one that is to blame, or None."""

    def __init__(self, text: str, code: int, key: Optional[str]):
        super().__init__(text)
        self.code, self.key = code, key


@dataclass(frozen=True)
class Answer:
    """The distributions of N questions at T times, for K channels."""

    channels: Sequence[str]
    times: Floats  # (T) s after the state
    mean: Floats  # (N, T, K)
    std: Floats  # (N, T, K) of the state
    obs_std: Floats  # (N, T, K) of a measurement of it
    samples: Floats  # (N, S, T, K), of QueryClient.sample; else empty
    ood: Floats  # (N) above 1 is out of distribution
    flags: int
    no_history: int  # questions without all the history that the model reads
    cov: Optional[Floats] = None  # (N, T, K, K) of the states at a time; its diagonal is std**2
    violation: Optional[Floats] = None  # (N, M, T) probability of each half-space, then of each box
    violation_whole: Optional[Floats] = None  # (N) of any of them at any time
    jacobian: Optional[Floats] = None  # (N, T, K, K) derivatives of the mean by the state
    input_jacobian: Optional[Floats] = None  # (N, T, K, R·P) by the plan; by u with R = 1
    start_gradient: Optional[Floats] = None  # (N, K) gradient of the cost of mean_adjoint by the state
    plan_gradient: Optional[Floats] = None  # (N, R·P) by the plan; by u with R = 1
    tube: Optional[Floats] = None  # (N, 3) factors of 50, 90 and 95 %: a whole trajectory stays within mean ± factor·std


def vector(v: Any, dtype: str = "f8") -> Floats:
    """A vector of a message: little-endian floats, or an array of numbers."""
    return np.frombuffer(v, dtype="<" + dtype).astype(np.float64) if isinstance(v, bytes) else np.asarray(v, dtype=np.float64)


class QueryClient:
    """Asks the estimator of one vehicle. nc is a connection of nats-py."""

    def __init__(self, nc: Any, vehicle: str, timeout: float = 1.0):
        self.nc, self.vehicle, self.timeout = nc, token("vehicle", vehicle), seconds("timeout", timeout)

    async def ask(self, **query: Any) -> Dict[str, Any]:
        """Sends a query with these keys, arrays as vectors, and returns the answer's fields as they come."""
        import msgpack

        timeout = {} if query.get("want") == "model" else {"timeout": int(self.timeout * 1e9)}
        fields = {k: v if k == "want" or isinstance(v, (str, int, float)) else numbers(v, k).astype("<f8").tobytes() for k, v in query.items() if v is not None}
        m = await self.nc.request("dgm.query." + self.vehicle, msgpack.packb({"v": 1, **timeout, **fields}), timeout=self.timeout)
        if not m.data:
            h = m.headers or {}
            raise Refused(h.get("Nats-Service-Error", "the answer is empty"), int(h.get("Nats-Service-Error-Code", 0)), h.get("Dgm-Key"))
        return msgpack.unpackb(m.data)

    async def model(self) -> Dict[str, Any]:
        """The model's data for planners: channels, units, input_channels, model_horizon, horizon, history …"""
        fields = await self.ask(want="model")
        return {**fields, "horizon": vector(fields["horizon"])}

    async def predict(self, states: ArrayLike, **query: Any) -> Answer:
        """Predicts from states (K) or (N, K). The other keys are those of PROTOCOL.md: u, plans (R, P) or (N, R, P) with plan_dt, P0,
        times, history="stream" or (t, x, u), samples before the states; want=["mean", "std", "cov", "tube", "violation",
        "jacobian", "adjoint"] or some of them; half_spaces (M, K+1) with a·x > b and boxes (M, 2, K), low and high, for violation;
        mean_adjoint and std_adjoint (T, K) or (N, T, K), derivatives of a cost, for adjoint."""
        return _answer(await self.ask(states=states, **_keys(query)))

    async def sample(self, states: ArrayLike, n: int, seed: int = 0, **query: Any) -> Answer:
        """n trajectories of each question; the other arguments are those of predict."""
        return _answer(await self.ask(want="samples", states=states, samples=n, seed=seed, **_keys(query)))


def _keys(query: Dict[str, Any]) -> Dict[str, Any]:
    """The keys of a query: rows come from the shape of the plans (R, P) or (N, R, P), history from its samples."""
    keys = dict(query)
    if keys.get("plans") is not None:
        plans = keys["plans"] = shaped("plans", keys["plans"], (-1, -1), (-1, -1, -1))
        keys["rows"] = plans.shape[-2]
    if isinstance(keys.get("history"), tuple):
        if not 2 <= len(keys["history"]) <= 3:
            raise ValueError(f"history: is a tuple of {len(keys['history'])}, must be samples (t, x, u), or the text stream")
        keys.update(zip(("history_t", "history_x", "history_u"), keys.pop("history")))
    return keys


def _answer(a: Dict[str, Any]) -> Answer:
    dtype = a.get("dtype") or "f8"
    times, ood = vector(a["horizon"], dtype), vector(a["ood"], dtype)
    T, K, N = len(times), len(a["channels"]), len(ood)
    shaped: Dict[str, Floats] = {}
    for name in ("mean", "std", "obs_std"):
        v = vector(a.get(name, b""), dtype)
        shaped[name] = v.reshape(N, T, K) if v.size else np.empty((0, T, K))
    for name, size in (("cov", (N, T, K, K)), ("tube", (N, 3)), ("violation", (N, -1, T)), ("violation_whole", (N,)),
                       ("jacobian", (N, T, K, K)), ("input_jacobian", (N, T, K, -1)), ("start_gradient", (N, K)), ("plan_gradient", (N, -1))):
        v = vector(a.get(name, b""), dtype)
        if v.size:
            shaped[name] = v.reshape(size)
    samples = vector(a.get("samples", b""), dtype)
    shape: Tuple[int, ...] = (N, -1, T, K) if samples.size else (N, 0, T, K)
    return Answer(a["channels"], times, samples=samples.reshape(shape), ood=ood, flags=a.get("flags", 0), no_history=a.get("no_history", 0), **shaped)

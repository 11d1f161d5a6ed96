"""Predictions of a dgm-estimator over NATS: states go to it, and what it predicts comes back. No ROS in here."""

from __future__ import annotations

import asyncio
import collections
import re
import threading
from types import SimpleNamespace
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

import dgm

Floats = NDArray[np.float64]
PATIENCE = 5.0  # s for the server to answer at the start
AGE = 1.0  # s from a state to its prediction at most, at a fixed rate
PENDING = 2000  # states that wait for their prediction


class Stream:
    """The estimator of one vehicle at a NATS server. It is served by a thread of its own, which calls notify when predictions have come;
    take returns them. A connection that is lost is made again."""

    def __init__(self, url: str, vehicle: str, notify: Callable[[], None]):
        try:
            import nats  # noqa: F401
        except ImportError as e:
            raise OSError(f"nats: {e}: pip install './python[queries]'") from e
        self.vehicle, self.notify = vehicle, notify
        self.sent, self.answered, self.lost = 0, 0, ""
        self._reported = 0, 0  # sent and answered, at the last call of silence
        self._starts: "collections.OrderedDict[int, Tuple[float, Any]]" = collections.OrderedDict()  # by seq: when it was measured, s since 1970, and what
        self._received: Deque[Any] = collections.deque(maxlen=PENDING)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self._run(self._connect(url)).result()
        except Exception as e:
            self.close()
            raise ConnectionError(f"nats: no server at {url}: {str(e) or type(e).__name__}; start one, or leave the parameter nats empty to predict in the node") from e

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _connect(self, url: str) -> None:
        import nats

        async def lost(e: Optional[Exception] = None) -> None:
            self.lost = f"nats: {e}" if e else self.lost

        async def found() -> None:
            self.lost = ""

        self._nc = await asyncio.wait_for(nats.connect(url, error_cb=lost, reconnected_cb=found, max_reconnect_attempts=-1, reconnect_time_wait=0.5), PATIENCE)
        self._live = dgm.Live(self._nc, self.vehicle)
        self._reader = self._loop.create_task(self._read(await self._live.predictions()))

    async def _read(self, predictions: Any) -> None:
        async for p in predictions:
            self._received.append(p)
            self.notify()

    def ask(self, t: int, x: Floats, start: Any, topic: str = "", **inputs: Any) -> None:
        """Sends a state (K) that was measured at t, ns, with NaN for what was not, and its inputs u, plan and plan_dt; its predictions come
        with start. topic is that of a sensor that has others beside it."""
        self._starts[self.sent] = 1e-9 * t, start
        self.sent += 1  # as Live counts
        while len(self._starts) > PENDING:
            self._starts.popitem(last=False)
        self.measure(t, x, topic, **inputs)

    def measure(self, t: int, x: Floats, topic: str, **inputs: Any) -> None:
        """Sends what another sensor measured: it improves the estimate, and is not answered."""
        self._run(self._live.send(x, t=1e-9 * t, sensor=re.sub(r"[^A-Za-z0-9_-]", "_", topic.strip("/"))[:64], **inputs))

    def take(self) -> List[Tuple[Any, float, Any]]:
        """The predictions (dgm.Distribution) since the last call, those of states of this stream: each with the time, s, from its state to it,
        above 0 at a fixed rate, and with the start of the state."""
        out = []
        while self._received:
            p = self._received.popleft()
            self.answered += 1
            t, start = self._starts.get(p.seq, (0.0, None))
            if start is not None and -1e-3 < p.t - t < AGE:  # else it is of another sensor's state, or of before a restart
                out.append((p, p.t - t, start))
        return out

    def silence(self) -> str:
        """Why states since the last call were not answered; "" where some were, or none were sent."""
        (sent, answered), self._reported = self._reported, (self.sent, self.answered)
        if self.sent == sent or self.answered > answered:
            return ""
        return self.lost or f"no estimator answers for {self.vehicle}"

    def close(self) -> None:
        async def end() -> None:
            if hasattr(self, "_nc"):
                self._reader.cancel()
                await self._nc.close()

        try:
            self._run(end()).result(PATIENCE)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)


def prediction(p: Any) -> Any:
    """A dgm.Distribution as what Model.predict returns. A message has no correlations: cov is diagonal."""
    cov = np.einsum("tk,kl->tkl", np.square(p.std), np.eye(p.std.shape[1]))
    tube: Dict[float, float] = {} if p.tube is None else {0.95: float(p.tube[2])}
    return SimpleNamespace(times=p.horizon, mean=p.mean, std=p.std, obs_std=p.obs_std, cov=cov, tube=tube, out_of_distribution=bool(p.flags & 1))

"""Live against a connection that records what is sent, and messages that the estimator's own code wrote."""
import asyncio
import math
import pathlib

import pytest

np = pytest.importorskip("numpy")
msgpack = pytest.importorskip("msgpack")
import dgm  # noqa: E402
from dgm import live  # noqa: E402

GOLDEN = pathlib.Path(__file__).parents[2] / "estimator" / "wire" / "testdata"


def golden(name):
    if not GOLDEN.exists():
        pytest.skip(f"{GOLDEN} is not there")
    return (GOLDEN / name).read_bytes()


class Connection:
    def __init__(self, *messages):
        self.sent, self.waiting, self.subjects = [], messages, []

    async def publish(self, subject, data):
        self.sent.append((subject, msgpack.unpackb(data)))

    async def subscribe(self, subject):
        self.subjects.append(subject)

        async def messages():
            for data in self.waiting:
                yield type("Message", (), {"data": data})

        return type("Subscription", (), {"messages": messages()})


def test_send_is_what_the_estimator_reads():
    nc = Connection()

    async def run():
        robot = dgm.Live(nc, "pend1")
        for _ in range(8):
            await robot.send([0.5, -2], t=1772682400.25)
        await robot.send([0.5, np.nan], u=[0.25], plan=[[0.25], [0], [-0.25]], plan_dt=0.25, P0=np.eye(2), sensor="gyro")
        await robot.send(np.ma.masked_array([0.5, -2], [0, 1]), sensor="gyro")

    asyncio.run(run())
    subject, small = nc.sent[7]
    want = msgpack.unpackb(golden("state-v1-small.msgpack"))
    assert subject == "dgm.state.pend1" and small.keys() == want.keys()
    assert small["seq"] == 7 and abs(small["t"] - 1772682400_250000000) < 1000 and small["x"] == want["x"]
    timed, whole = msgpack.unpackb(golden("state-v1-timed.msgpack")), nc.sent[8][1]
    assert whole.keys() == (timed.keys() - {"layout"}) | {"sensor"}
    assert whole["plan"] == timed["plan"] and whole["u"] == timed["u"] and whole["plan_dt"] == timed["plan_dt"]
    assert whole["seq"] == 0 and whole["sensor"] == "gyro" and math.isnan(np.frombuffer(whole["x"], "<f8")[1]) and len(whole["P0"]) == 32
    masked = nc.sent[9][1]
    assert masked["seq"] == 1 and math.isnan(np.frombuffer(masked["x"], "<f8")[1])


def test_predictions_and_estimates():
    nc = Connection(golden("prediction-v1-full.msgpack"))

    async def first(of):
        return await (await of).__anext__()

    p = asyncio.run(first(dgm.Live(nc, "pend1").predictions()))
    assert nc.subjects == ["dgm.predict.pend1"] and list(p.channels) == ["theta", "omega"] and p.seq == 7
    assert p.mean.tolist() == [[-0.5, -1.5], [-1, 0.25]] and p.obs_std.tolist() == [[0.25, 0.5], [0.5, 0.75]]
    assert p.factor.tolist() == [[1, 1.5], [2, 0.5]] and p.ood == 1.5 and abs(p.valid_until - p.t - 1) < 1e-6
    assert live.prediction(golden("prediction-v1.msgpack")).factor is None and "theta -1 ±" in repr(p)
    nc = Connection(golden("estimate-v1.msgpack"))
    e = asyncio.run(first(dgm.Live(nc, "pend1").estimates()))
    K = len(e.channels)
    assert nc.subjects == ["dgm.estimate.pend1"] and e.x.shape == (K,) and e.P.shape == (K, K) and (e.P == e.P.T).all()
    assert e.settled and e.nis > 0 and math.isnan(e.innovation[1]) and e.sensors == [e.channels[0]] and e.sensor == ""


def test_a_status_says_why_states_are_not_answered():
    nc = Connection(golden("status-v1.msgpack"))

    async def first():
        return await (await dgm.Live(nc, "pend1").statuses()).__anext__()

    s = asyncio.run(first())
    assert nc.subjects == ["dgm.status.pend1"] and s["vehicle"] == "pend1" and all(r["count"] > 0 and r["text"] for r in s["reasons"]) and s["reasons"]


def test_other_messages():
    with pytest.raises(ValueError, match="version 1"):
        live.prediction(msgpack.packb({"v": 2}))
    with pytest.raises(ValueError):
        live.estimate(msgpack.packb([1]))


@pytest.mark.parametrize("change, message", [
    (dict(t=math.nan), "t: is nan, must be a time in s"), (dict(t=1.7e12), "t: is 1700000000000.0, must be a time in s"), (dict(t="now"), "t: 'now' is no time in s"),
    (dict(x=[[0.5, 0]]), r"x: has shape \(1, 2\), want \(N\)"), (dict(x=[]), r"x: has shape \(0,\), want \(N\)"), (dict(x=["a", 0]), "x: no array of numbers"),
    (dict(u=[[0.1]]), r"u: has shape \(1, 1\)"), (dict(plan=[0.1, 0.2]), r"plan: has shape \(2,\), want \(N, N\)"), (dict(u=[0.1], plan=[[1, 2]]), r"plan: has shape \(1, 2\), want \(N, 1\)"),
    (dict(plan=[[1], [2, 3]]), "plan: no array of numbers: its rows have different lengths"), (dict(plan_dt=math.nan), "plan_dt: is nan, must be positive"), (dict(plan_dt=-1), "plan_dt: is -1"),
    (dict(P0=[1, 1]), r"P0: has shape \(2,\), want \(2, 2\)"), (dict(sensor="my gyro"), "sensor: is 'my gyro', must have 1 to 64 letters"),
])
def test_wrong_arguments_are_named(change, message):
    nc = Connection()
    robot = dgm.Live(nc, "v1")
    with pytest.raises((TypeError, ValueError), match="^" + message):
        asyncio.run(robot.send(**{"x": [0.5, 0], **change}))
    assert not nc.sent and asyncio.run(robot.send([0.5, 0])) == 0


@pytest.mark.parametrize("of", [dgm.Live, dgm.QueryClient])
@pytest.mark.parametrize("vehicle", ["a b", "", "v.1", "*", 3])
def test_names_of_vehicles(of, vehicle):
    with pytest.raises((TypeError, ValueError), match="^vehicle: "):
        of(Connection(), vehicle)

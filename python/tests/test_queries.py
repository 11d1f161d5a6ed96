"""QueryClient against a connection that records what is asked."""
import asyncio

import pytest

np = pytest.importorskip("numpy")
msgpack = pytest.importorskip("msgpack")
import dgm  # noqa: E402


class Connection:
    def __init__(self, answer, headers=None):
        self.answer, self.headers = answer, headers

    async def request(self, subject, data, timeout):
        self.subject, self.query, self.timeout = subject, msgpack.unpackb(data), timeout
        return type("Message", (), {"data": self.answer and msgpack.packb(self.answer), "headers": self.headers})


def f8(*x):
    return np.array(x, dtype="<f8").tobytes()


def test_predict():
    nc = Connection({"channels": ["a", "b"], "horizon": f8(0.1), "mean": f8(1, 2, 3, 4), "std": f8(5, 6, 7, 8), "obs_std": f8(5, 6, 7, 8), "ood": f8(0.5, 2)})
    a = asyncio.run(dgm.QueryClient(nc, "v1", 0.5).predict([1, 2], plans=np.zeros((2, 3, 1)), plan_dt=0.1, history=([-0.1, 0], [[1, 2], [1, 2]], [[0], [0]])))
    assert nc.subject == "dgm.query.v1" and nc.timeout == 0.5 and nc.query["timeout"] == 500_000_000
    assert nc.query["states"] == f8(1, 2) and nc.query["rows"] == 3 and len(nc.query["plans"]) == 48
    assert nc.query["history_x"] == f8(1, 2, 1, 2) and nc.query["history_t"] == f8(-0.1, 0)
    assert a.mean.tolist() == [[[1, 2]], [[3, 4]]] and a.ood.tolist() == [0.5, 2] and a.samples.shape == (2, 0, 1, 2)


def test_wants():
    nc = Connection({"channels": ["a", "b"], "horizon": f8(0.1), "mean": b"", "std": b"", "obs_std": b"", "cov": f8(4, 1, 1, 9), "tube": f8(1, 2, 3), "ood": f8(0.5)})
    a = asyncio.run(dgm.QueryClient(nc, "v1").predict([1, 2], want=["cov", "tube"]))
    assert nc.query["want"] == ["cov", "tube"]
    assert a.violation is None
    nc = Connection({"channels": ["a", "b"], "horizon": f8(0.1, 0.2), "violation": f8(0, 0.5, 0.25, 1), "violation_whole": f8(1), "ood": f8(0.5)})
    b = asyncio.run(dgm.QueryClient(nc, "v1").predict([1, 2], want=["violation"], half_spaces=[[1, 0, 3]], boxes=[[[0, 0], [1, 1]]]))
    assert nc.query["half_spaces"] == f8(1, 0, 3) and nc.query["boxes"] == f8(0, 0, 1, 1)
    assert b.violation.tolist() == [[[0, 0.5], [0.25, 1]]] and b.violation_whole.tolist() == [1]
    assert a.cov.tolist() == [[[[4, 1], [1, 9]]]] and a.tube.tolist() == [[1, 2, 3]] and a.mean.shape == (0, 1, 2)


def test_sample():
    nc = Connection({"channels": ["a"], "dtype": "f4", "horizon": np.float32([0.1, 0.2]).tobytes(), "mean": b"", "std": b"", "obs_std": b"",
                     "samples": np.arange(6, dtype="<f4").tobytes(), "ood": np.float32([1]).tobytes()})
    a = asyncio.run(dgm.QueryClient(nc, "v1").sample([1], 3, seed=2, dtype="f4"))
    assert nc.query["want"] == "samples" and nc.query["samples"] == 3 and nc.query["seed"] == 2
    assert a.samples.tolist() == [[[[0], [1]], [[2], [3]], [[4], [5]]]]


def test_refused():
    nc = Connection(b"", {"Nats-Service-Error": "states: is missing", "Nats-Service-Error-Code": "400", "Dgm-Key": "states"})
    with pytest.raises(dgm.Refused, match="states: is missing") as e:
        asyncio.run(dgm.QueryClient(nc, "v1").predict([]))
    assert e.value.code == 400 and e.value.key == "states"


@pytest.mark.parametrize("query, message", [(dict(plans=[[1], [1, 2]]), "plans: no array of numbers: its rows have different lengths"),
                                            (dict(history=([0],)), r"history: is a tuple of 1, must be samples \(t, x, u\)")])
def test_wrong_arguments_are_named(query, message):
    with pytest.raises(ValueError, match="^" + message):
        asyncio.run(dgm.QueryClient(Connection({}), "v1").predict([1, 2], **query))
    with pytest.raises(ValueError, match="timeout: is 0"):
        dgm.QueryClient(Connection({}), "v1", 0)


def test_plans_without_rows():
    nc = Connection({})
    with pytest.raises(ValueError, match=r"plans: has shape \(3,\), want \(N, N\) or \(N, N, N\)"):
        asyncio.run(dgm.QueryClient(nc, "v1").predict([1, 2], plans=[1, 2, 3]))
    for plan in ([1, 2, 3], [[1, 2]]):
        with pytest.raises(ValueError, match=r"plan: has shape .*, want \(N, 1\)"):
            asyncio.run(dgm.Live(nc, "v1").send([1, 2], u=[0], plan=plan, plan_dt=0.1))

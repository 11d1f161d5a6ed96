"""Model against what Go predicts: the Go test of cmd/libdgm writes DGM_EXPECTED and runs this file."""
import json
import os
import pathlib
import threading

import pytest

np = pytest.importorskip("numpy")
import dgm  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"


@pytest.fixture(scope="module")
def m():
    with dgm.Model.load(PENDULUM) as m:
        yield m


def cases():
    name = os.environ.get("DGM_EXPECTED")
    return json.loads(pathlib.Path(name).read_text()) if name else []


@pytest.mark.skipif("DGM_EXPECTED" not in os.environ, reason="DGM_EXPECTED is not set: go test ./cmd/libdgm sets it")
def test_the_same_numbers_as_go():
    assert cases()
    for c in cases():
        with dgm.Model.load(c["path"]) as m:
            T, K, P = len(m.times), len(m.states), len(m.inputs)
            x, plans = np.array(c["states"]), np.reshape(c["plans"], (-1, 5, P))
            history = np.reshape(c["history"], (-1, K + P)) if c["history"] else None
            plan_times = m.horizon / 5 * np.arange(5)
            p = m.predict(x, plan=plans[0], plan_times=plan_times, history=history)
            assert p.times.tolist() == c["times"]
            assert p.mean.shape == p.std.shape == (T, K)
            assert p.mean.ravel().tolist() == c["mean"][: T * K]
            assert p.std.ravel().tolist() == c["std"][: T * K]
            assert p.ood == c["ood"][0]
            assert p.cov.shape == (T, K, K) and p.cov.ravel().tolist() == c["cov"]
            assert list(p.tube.values()) == [f for f in c["tube"] if f]
            b = m.batch(x, plans, plan_times=plan_times, history=history, cov=True)
            assert b.cov.shape == (len(plans), T, K, K) and b.cov[0].ravel().tolist() == c["cov"]
            assert all(f.shape == (len(plans),) for f in b.tube.values())
            assert b.mean.shape == b.std.shape == b.obs_std.shape == (len(plans), T, K)
            assert b.mean.ravel().tolist() == c["mean"] and b.std.ravel().tolist() == c["std"] and b.ood.tolist() == c["ood"]
            means = m.batch(x, plans, plan_times=plan_times, history=history, std=False, workers=2)
            assert means.std is None and means.mean.ravel().tolist() == c["mean"]
            A, B = m.jacobians(x, plan=plans[0], plan_times=plan_times, history=history)
            assert A.shape == (T, K, K) and A.ravel().tolist() == c["jacobian"]
            assert B.shape == (T, K, 5, P) and B.ravel().tolist() == c["input_jacobian"]
            g = m.adjoint(x, p.mean, p.std, plan=plans[0], plan_times=plan_times, history=history)
            assert g.x.tolist() == c["start_gradient"] and g.plan.shape == (5, P) and g.plan.ravel().tolist() == c["plan_gradient"]
            s = m.sample(x, 3, plan=plans[0], plan_times=plan_times, history=history, seed=7)
            assert s.shape == (3, T, K) and s.ravel().tolist() == c["samples"]
            low, high = np.full(K, -np.inf), np.full(K, np.inf)
            low[0], high[0] = 0.1, 0.3
            v = m.violation(x, [[1, *np.zeros(K - 1), 0.2]], [[low, high]], plan=plans[0], plan_times=plan_times, history=history, n=500, seed=7)
            assert v.each.shape == (2, T) and v.each.ravel().tolist() == c["violation"] and v.whole == c["violation_whole"]


def test_a_model_says_what_it_reads(m):
    assert m.states == ("theta", "omega") and len(m.inputs) == 1
    assert len(m.units) == 2 and m.horizon == pytest.approx(0.5) and m.times[-1] == pytest.approx(m.horizon)


def test_intervals_and_flags(m):
    p = m.predict([0.5, 0], u=[0.1])
    low, high = p.interval(0.95)
    low50, high50 = p.interval(0.5)
    assert np.all(low < low50) and np.all(low50 < p.mean) and np.all(high50 < high)
    assert not p.out_of_distribution and p.ood <= 1
    far = m.predict([0.5, 1e4])
    assert far.out_of_distribution and far.ood > 1
    with pytest.raises(ValueError, match="level"):
        p.interval(0.9)


def test_the_gradient_is_that_of_the_jacobians(m):
    plan, mean = np.array([[0.1], [-0.2], [0.3]]), np.arange(2.0 * len(m.times)).reshape(-1, 2)
    A, B = m.jacobians([0.5, 0], plan=plan)
    g = m.adjoint([0.5, 0], mean, plan=plan)
    assert np.allclose(g.x, np.einsum("tk,tkc->c", mean, A), rtol=1e-4)
    assert np.allclose(g.plan, np.einsum("tk,tkrj->rj", mean, B), rtol=1e-4)
    with pytest.raises(ValueError, match="mean: has shape"):
        m.adjoint([0.5, 0], mean[1:], plan=plan)


def test_a_model_that_cannot_adapt_says_so(m):
    with pytest.raises(NotImplementedError, match="nothing to adapt"):
        m.learn(0, [0.5, 0], [0.1])
    m.forget()
    assert m.amounts == {}
    with pytest.raises(ValueError, match="x: has shape"):
        m.learn(0, [0.5], [0.1])


def test_update_of_a_model_without_a_filter(m):
    assert not m.filtered and m.estimated == ()
    e = m.update(0, {m.states[0]: 0.5, m.states[1]: 0})
    assert e.x.tolist() == [0.5, 0] and e.P0 is None and e.settled and not e.late and np.all(np.diagonal(e.P) > 0)
    with pytest.raises(ValueError, match="no state speed"):
        m.update(0, {"speed": 1})
    with pytest.raises(ValueError, match=f"{m.states[1]} is not measured"):
        m.update(0, {m.states[0]: 0.5})


def test_times_and_covariance(m):
    p = m.predict([0.5, 0], times=[0.1, 0.2])
    assert p.mean.shape == (2, 2)
    wide = m.predict([0.5, 0], times=[0.1, 0.2], P0=0.1 * np.eye(2))
    assert np.array_equal(wide.mean, p.mean) and np.all(wide.std > p.std)
    for q in (p, wide):
        assert np.array_equal(np.diagonal(q.cov, axis1=1, axis2=2), q.std**2)
        assert np.array_equal(q.cov, q.cov.swapaxes(1, 2)) and np.linalg.eigvalsh(q.cov).min() > 0
    with pytest.raises(KeyError, match="earlier release"):
        p.tube[0.95]


def test_single_precision_lists_and_slices(m):
    x = np.zeros((4, 2))[::2][0] + [0.5, 0]
    want = m.predict(x, plan=np.zeros((3, 1)))
    for other in ([0.5, 0], np.array([0.5, 0], dtype=np.float32), np.array([0.5, 9, 0])[::2]):
        assert np.array_equal(m.predict(other, plan=[[0], [0], [0]]).mean, want.mean)


@pytest.mark.parametrize("arguments, name", [
    (dict(x=[0.5]), "x"),
    (dict(x=[[0.5, 0]]), "x"),
    (dict(x=[0.5, float("nan")]), r"x: element 1 \(omega\) is NaN"),
    (dict(x=np.ma.masked_array([0.5, 999.0], mask=[False, True])), "x: element 1"),
    (dict(x=[0.5, 0], u=[1, 2]), "u"),
    (dict(x=[0.5, 0], plan=[1, 2]), "plan"),
    (dict(x=[0.5, 0], plan=[[1, 2]]), "plan"),
    (dict(x=[0.5, 0], plan=np.zeros((0, 1))), "plan: has shape"),
    (dict(x=[0.5 + 1j, 0]), "x: no array of numbers: complex"),
    (dict(x=[0.5, 0], plan=[np.ma.masked_array([1.0], mask=[True])]), "plan: element 0"),
    (dict(x=[0.5, 0], plan=[[1], [2]], plan_times=[0.1, 0.2]), "plan_times"),
    (dict(x=[0.5, 0], plan_times=[0, 0.2]), "plan_times"),
    (dict(x=[0.5, 0], times=[9.0]), "times"),
    (dict(x=[0.5, 0], times=[]), "times"),
    (dict(x=[0.5, 0], P0=[1, 2, 3, 4]), "P0"),
    (dict(x=[0.5, 0], P0=[[1, 2], [2, 1]]), "P0: is no covariance"),
    (dict(x=[0.5, 0], history=np.zeros((3, 3))), "history"),
    (dict(x=[0.5, 0], u=[0.1], plan=[[0.1]]), "u: comes with plans, which have the input from the state on: give one of them"),
    (dict(x=[0.5, [0]]), r"x: no array of numbers: its rows have different lengths or shapes; want \(2\)"),
    (dict(x=[0.5, 0], plan=[[0.1], [0.1, 0.2]]), r"plan: no array of numbers: its rows have different lengths or shapes; want \(N, 1\)"),
    (dict(x=[0.5, 0], history=[[0.5, 0, 0.1], [0.5, 0]]), r"history: no array of numbers: its rows .*; want \(N, 3\)"),
    (dict(x=[0.5, 0], history=[0.5, 0, 0.1]), r"history: has shape \(3,\), want \(N, 3\)"),
    (dict(x=[0.5, 0], history=([0], [[0.5, 0]], [[0]], 1)), r"history: is a tuple of 4, must be samples \(t, x, u\)"),
    (dict(x=[0.5, 0], history=([-1, -2], [[0.5, 0]], [[0]])), r"history x: has shape \(1, 2\), want \(2, 2\)"),
    (dict(x=[0.5, 0], history=[[-1], [[0.5, 0]], [[0]]]), r"history: .* or a tuple \(t, x, u\), samples"),
    (dict(x=[0.5, 0], history=([1.0, 2.0], np.zeros((2, 2)), [[0], [0]])), "history t: element 0 is 1, must be s before the state"),
    (dict(x=[0.5, 0], plan=[[1], [2]], plan_times=[0, 50]), "plan_times: the second row begins at 50 s, after the horizon of 0.5 s"),
    (dict(x={"theta": 0.5}), "x: has theta, must have theta, omega"),
    (dict(x=[0.5, 0], plan=[[1]] * 3, plan_times=[0, 0.1, 0.3]), "plan_times: must be equal steps"),
])
def test_wrong_arguments_are_named(m, arguments, name):
    with pytest.raises(ValueError, match="^" + name):
        m.predict(**arguments)


@pytest.mark.parametrize("workers", [-1, 2**31, 1.5])
def test_numbers_of_processors(m, workers):
    with pytest.raises((TypeError, ValueError), match="^workers: "):
        m.batch([0.5, 0], np.zeros((2, 3, 1)), workers=workers)


@pytest.mark.parametrize("change, message", [(dict(seed=-1), "seed: is -1, must be at least 0"), (dict(seed=2**64), "seed: is .*, must be at most"), (dict(seed=0.5), "seed: 0.5 is no whole number"),
                                             (dict(n=0), "n: is 0"), (dict(n=-3), "n: is -3"), (dict(n="3"), "n: '3' is no whole number")])
def test_numbers_of_trajectories(m, change, message):
    for ask in (lambda **of: m.sample([0.5, 0], **{"n": 3, **of}), lambda **of: m.violation([0.5, 0], [[1, 0, 1]], **of)):
        with pytest.raises((TypeError, ValueError), match="^" + message):
            ask(**change)
    assert m.sample([0.5, 0], np.int64(2), seed=2**64 - 1).shape == (2, len(m.times), 2)


def test_names_of_a_row_are_read(m):
    pandas = pytest.importorskip("pandas")
    want = m.predict([0.5, 0.1], plan=[[0.1], [0.2]]).mean
    table = pandas.DataFrame({"torque": [0.1, 0.2], "omega": [0.1, 9], "theta": [0.5, 9]})
    table = table.rename(columns={"torque": m.inputs[0]})
    for x in (table.iloc[0], dict(omega=0.1, theta=0.5), pandas.Series([0.5, 0.1])):
        assert np.array_equal(m.predict(x, plan=table[m.inputs[0]].to_numpy()[:, None]).mean, want)
        assert np.array_equal(m.predict(x, plan=table).mean, want)
    with pytest.raises(ValueError, match="x: has .*, must have theta, omega"):
        m.predict(table.iloc[0][["omega"]])


def test_other_errors(m, tmp_path):
    with pytest.raises(ArithmeticError):
        m.predict([0.5, 1e300])
    with pytest.raises(ValueError, match="plans: 3 of them, and others are 2"):
        m.batch(np.zeros((2, 2)), np.zeros((3, 4, 1)))
    with pytest.raises(OSError):
        dgm.Model.load(tmp_path / "none.dgm")
    other = dgm.Model.load(PENDULUM)
    other.close()
    other.close()
    with pytest.raises(ValueError, match="not open"):
        other.predict([0.5, 0])


def test_a_forked_process_is_told(m):
    if (child := os.fork()) == 0:
        try:
            m.predict([0.5, 0])
        except RuntimeError:
            os._exit(7)
        finally:
            os._exit(8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_jacobians_are_differences_of_means(m):
    x, plan, h = np.array([0.5, 0]), np.zeros((3, 1)), 1e-4
    A, B = m.jacobians(x, plan=plan)
    for c, step in enumerate(h * np.eye(2)):
        d = (m.predict(x + step, plan=plan).mean - m.predict(x - step, plan=plan).mean) / (2 * h)
        assert np.allclose(A[:, :, c], d, rtol=1e-2, atol=1e-2)
    for r, step in enumerate(h * np.eye(3)):
        d = (m.predict(x, plan=plan + step[:, None]).mean - m.predict(x, plan=plan - step[:, None]).mean) / (2 * h)
        assert np.allclose(B[:, :, r, 0], d, rtol=1e-2, atol=1e-2)
    assert m.jacobians(x).B.shape == (len(m.times), 2, 1, 1)


def test_violations_are_those_of_the_distribution(m):
    p, inf = m.predict([0.5, 0]), np.inf
    edge = p.mean[-1, 0] + p.std[-1, 0]
    v = m.violation([0.5, 0], [[1, 0, edge], [0, 0, 1]], [[[edge, -inf], [inf, inf]]], n=4000, seed=1)
    assert v.each.shape == (3, len(p.times)) and v.each[0, -1] == pytest.approx(0.158655, abs=1e-5) and not v.each[1].any()
    assert np.allclose(v.each[0], v.each[2], atol=0.04) and v.each[2].max() <= v.whole <= 1
    s = m.sample([0.5, 0], 4000, seed=1)
    assert v.whole == pytest.approx((s[:, :, 0] > edge).any(1).mean(), abs=0.04)
    for wrong, name in ((dict(half_spaces=[1, 0, 1]), "half_spaces"), (dict(boxes=np.zeros((1, 4))), "boxes"), (dict(), "half_spaces"),
                        (dict(half_spaces=[[1, 0, np.nan]]), "half_spaces"), (dict(half_spaces=[[1, 0, 1]], n=0), "n")):
        with pytest.raises(ValueError, match="^" + name):
            m.violation([0.5, 0], **wrong)


def test_samples_have_the_moments_of_the_prediction(m):
    p, s = m.predict([0.5, 0]), m.sample([0.5, 0], 4000, seed=1)
    assert np.all(np.abs(s.mean(0) - p.mean) < 5 * p.std / np.sqrt(4000))
    assert np.allclose(s.std(0), p.std, rtol=0.1)


def test_threads(m):
    want, wrong = m.predict([0.5, 0]).mean, []

    def run(i):
        for _ in range(50):
            if not np.array_equal(m.predict([0.5, 0]).mean, want):
                wrong.append(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.skipif("DGM_EXPECTED" not in os.environ, reason="DGM_EXPECTED is not set: go test ./cmd/libdgm sets it")
def test_the_program_of_the_page_runs():
    path = next(c["path"] for c in cases() if any(c["tube"]))
    page = (PENDULUM.parents[2] / "docs" / "planning.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    assert '"flight.dgm"' in program
    names = {}
    exec(program.replace('"flight.dgm"', repr(path)), names)
    m, T, K, P = names["m"], len(names["m"].times), len(names["m"].states), len(names["m"].inputs)
    assert names["low"].shape == names["high"].shape == (T, K)
    assert names["b"].mean.shape == (500, T, K)
    assert names["A"].shape == (T, K, K) and names["B"].shape == (T, K, 10, P)
    assert names["g"].x.shape == (K,) and names["g"].plan.shape == (10, P)
    assert names["s"].shape == (100, T, K)
    assert names["v"].each.shape == (1, T) and np.ndim(names["v"].whole) == 0
    m.close()


@pytest.mark.parametrize("t", [float("nan"), float("inf"), 1e12])
def test_times_of_samples_are_in_s(m, t):
    for add in (m.update, m.learn):
        with pytest.raises(ValueError, match=f"t: is {t}, must be a time in s"):
            add(t, [0.1, 0.0], [0.0])
        with pytest.raises(TypeError, match="t: None is no time in s"):
            add(None, [0.1, 0.0], [0.0])


def test_a_violation_has_limits(m):
    with pytest.raises(ValueError, match="half_spaces and boxes: give limits"):
        m.violation([0.5, 0])

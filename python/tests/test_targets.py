"""dgm.jax and dgm.casadi of a model against the library's predictions."""
import pathlib

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("msgpack")
import dgm  # noqa: E402
from dgm import program  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"
X, PLAN = np.array([0.5, 0.1]), np.linspace(-0.3, 0.3, 5)[:, None]


@pytest.fixture(scope="module")
def m():
    with dgm.Model.load(PENDULUM) as m:
        yield m


def of(m, target):
    pytest.importorskip(target)
    return getattr(dgm, target)(m, plan_rows=5)


def test_the_program_of_a_model(m):
    d = program.read(m.program(5))
    assert tuple(c.name for c in d.states) == m.states and tuple(c.unit for c in d.inputs) == m.input_units
    assert d.plan_rows == 5 and np.array_equal(d.times, m.times) and set(d.programs) == {"plan", "hold"}
    assert m.program(5) == m.program(5) != m.program(6)
    for wrong in (0, -1, 5000):
        with pytest.raises(ValueError, match="plan_rows"):
            m.program(wrong)
    with pytest.raises(ValueError, match="no document"):
        program.read(b"\x80")


@pytest.mark.parametrize("target, within", [("jax", 1e-3), ("casadi", 1e-3)])
def test_a_function_of_the_model(m, target, within):
    f = of(m, target)
    assert f.states == m.states and f.inputs == m.inputs and f.units == m.units and np.array_equal(f.times, m.times)
    for arguments in (dict(plan=PLAN), dict(u=[0.2]), {}):
        mean, std = f(X, **arguments)
        want = m.predict(X, **arguments)
        assert mean.shape == std.shape == want.mean.shape
        assert np.abs((np.array(mean) - want.mean) / want.std).max() < within and np.abs(np.array(std) / want.std - 1).max() < within
    for wrong, name in ((dict(x=X[:1]), "x"), (dict(x=X, plan=PLAN[:4]), "plan"), (dict(x=X, u=[1, 2]), "u"), (dict(x=X, u=[1], plan=PLAN), "u: comes with plan")):
        with pytest.raises(ValueError, match="^" + name):
            f(**wrong)


def test_the_path_of_a_model():
    pytest.importorskip("casadi")
    assert dgm.casadi(PENDULUM, plan_rows=3).plan_rows == dgm.casadi(str(PENDULUM), plan_rows=3).plan_rows == 3


def test_jax_maps_and_differentiates(m):
    f = of(m, "jax")
    import jax

    plans = np.stack([PLAN, 2 * PLAN, 0 * PLAN])
    mean, _ = jax.vmap(lambda plan: f(X, plan=plan))(plans)
    assert np.allclose(mean, m.batch(X, plans).mean, atol=1e-4)
    A, B = jax.jacfwd(lambda x, plan: f(x, plan=plan)[0], argnums=(0, 1))(np.float32(X), np.float32(PLAN))
    want = m.jacobians(X, plan=PLAN)
    assert np.allclose(A, want.A, atol=1e-3) and np.allclose(B, want.B, atol=1e-3)


def test_casadi_functions(m):
    f = of(m, "casadi")
    import casadi as ca

    raw = f.function("plan")
    assert isinstance(raw, ca.Function) and raw.name_in() == ["x", "plan"] and raw.name_out() == ["mean", "std", "obs_std", "ood"]
    assert float(raw(x=X, plan=PLAN)["ood"]) == pytest.approx(float(m.predict(X, plan=PLAN).ood), abs=1e-4)
    with pytest.raises(ValueError, match="condition"):
        f.function("other")
    x, plan = ca.MX.sym("x", 2), ca.MX.sym("plan", 5)
    A, B = (np.array(j(X, PLAN)) for j in (ca.Function("j", [x, plan], [ca.jacobian(ca.vec(f(x, plan=plan)[0].T), by)]) for by in (x, plan)))
    want = m.jacobians(X, plan=PLAN)
    assert np.allclose(A.reshape(want.A.shape), want.A, atol=1e-3) and np.allclose(B.reshape(want.B.shape), want.B, atol=1e-3)

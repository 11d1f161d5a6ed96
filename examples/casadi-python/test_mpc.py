"""CasADi has the derivatives of the model, and brings the pendulum of the estimator's tests to rest."""
import pathlib

import pytest

np = pytest.importorskip("numpy")
ca = pytest.importorskip("casadi")
import dgm  # noqa: E402
from mpc import Means, run  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"


def test_jacobians_and_adjoints():
    m = dgm.Model.load(PENDULUM)
    means = Means(m, 4, m.horizon / 4, times=m.times[::5])
    x, plan = ca.MX.sym("x", 2), ca.MX.sym("plan", 1, 4)
    y, at = means(x, plan), (ca.DM([0.5, 0.1]), ca.DM([[0.2, -0.1, 0.3, 0]]))
    A, B = m.jacobians(np.array(at[0]).ravel(), plan=np.array(at[1]).T, times=means.times)
    jacobian = ca.Function("jacobian", [x, plan], [ca.jacobian(ca.vec(y), x), ca.jacobian(ca.vec(y), ca.vec(plan))])(*at)
    assert np.array_equal(np.array(jacobian[0]), A.reshape(-1, 2)) and np.array_equal(np.array(jacobian[1]), B.reshape(-1, 4))
    gradient = ca.Function("gradient", [x, plan], [ca.gradient(ca.sumsqr(y), x), ca.gradient(ca.sumsqr(y), plan)])(*at)
    bar = 2 * np.array(means(*at)).T
    assert np.allclose(np.array(gradient[0]).ravel(), np.einsum("tk,tkc->c", bar, A), rtol=1e-4, atol=1e-5)
    assert np.allclose(np.array(gradient[1]).ravel(), np.einsum("tk,tkrj->rj", bar, B).ravel(), rtol=1e-4, atol=1e-5)


def test_it_comes_to_rest():
    states, m, x = run(PENDULUM), dgm.Model.load(PENDULUM), np.array([0.5, 0])
    free = [x]
    for i in range(len(states) - 1):
        x = m.sample(x, 1, u=[0], times=[0.05], seed=i)[0, 0]
        free.append(x)
    late = slice(len(states) // 2, None)
    assert np.square(states[late]).sum() < 0.2 * np.square(np.array(free)[late]).sum()

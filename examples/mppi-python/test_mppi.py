"""The pendulum of the estimator's tests is at rest sooner than without a planner."""
import pathlib

import pytest

np = pytest.importorskip("numpy")
import dgm  # noqa: E402
from mppi import run  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"


def test_it_comes_to_rest():
    states, m, x = run(PENDULUM), dgm.Model.load(PENDULUM), np.array([0.5, 0])
    free = [x]
    for i in range(len(states) - 1):
        x = m.sample(x, 1, u=[0], times=[0.05], seed=i)[0, 0]
        free.append(x)
    late = slice(len(states) // 2, None)
    assert np.square(states[late]).sum() < 0.2 * np.square(np.array(free)[late]).sum()

"""The exported function and the callbacks find the same plans."""
import pathlib

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("casadi")
pytest.importorskip("msgpack")
from exported import run  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"


def test_the_same_plans():
    found = run(PENDULUM, seconds=0.5)
    for plans in zip(*([plan for _, _, plan in all_] for all_ in found.values())):
        assert np.abs(plans[0] - plans[1]).max() < 1e-3 and np.abs(plans[0] - plans[2]).max() < 0.1  # to the solver's tolerance

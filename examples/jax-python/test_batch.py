"""JAX and the library predict the same for many plans."""
import pathlib

import pytest

pytest.importorskip("jax")
pytest.importorskip("msgpack")
from batch import run  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"


def test_the_same_numbers():
    mean, std = run(PENDULUM, n=40)
    assert mean < 1e-4 and std < 1e-3

"""PyTorch and the library predict the same for many plans."""
import pathlib

import pytest

pytest.importorskip("torch")
pytest.importorskip("msgpack")
from plans import run  # noqa: E402

PENDULUM = pathlib.Path(__file__).resolve().parents[2] / "estimator" / "testdata" / "pendulum.dgm"


def test_the_same_numbers():
    assert run(PENDULUM, n=40, compiled=False) < 1e-4

"""The conformance suite of messages, logs and models, with a reader in Python that shares nothing with the one in Go."""
import filecmp
import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("msgpack")

ESTIMATOR = pathlib.Path(__file__).resolve().parents[2] / "estimator"
SUITE = ESTIMATOR / "conformance"


def run(*command):
    return subprocess.run([sys.executable, SUITE / "run.py", *command], capture_output=True, text=True)


def test_a_reader_in_python_conforms():
    ran = run(sys.executable, SUITE / "reader.py")
    assert ran.returncode == 0, ran.stdout


def test_a_reader_that_accepts_everything_does_not():
    ran = run(sys.executable, "-c", "print('{}')")
    assert ran.returncode == 1 and "files/state-cut.msgpack: cut off: expected to be refused" in ran.stdout


def test_the_files_are_those_that_the_program_makes(tmp_path):
    shutil.copytree(SUITE, tmp_path / "conformance")
    shutil.copytree(ESTIMATOR / "model" / "testdata", tmp_path / "model" / "testdata", ignore=shutil.ignore_patterns("fuzz"))
    subprocess.run([sys.executable, tmp_path / "conformance" / "make.py"], check=True, stdout=subprocess.DEVNULL)
    here = sorted(p.relative_to(SUITE) for p in SUITE.rglob("files/*"))
    assert here == sorted(p.relative_to(tmp_path / "conformance") for p in (tmp_path / "conformance").rglob("files/*"))
    _, other, missing = filecmp.cmpfiles(SUITE, tmp_path / "conformance", [*map(str, here), "cases.json"], shallow=False)
    assert not other and not missing

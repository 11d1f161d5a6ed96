"""The notebook of the examples runs from its first cell to its last, whose assertions hold."""

import pathlib

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
for name in ("ipykernel", "matplotlib", "pandas"):
    pytest.importorskip(name)

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebook-python" / "pendulum.ipynb"


def test_it_runs(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    assert sum("image/png" in o.get("data", {}) for o in outputs) == 3
    assert "upright within" in "".join(o.get("text", "") for o in outputs)

"""Fits a predictor of a well-kept library to the windows of a recording, for `dgm-bench public`.

    pip install numpy scikit-learn mapie pykoop jax-sysid torch hydra-core omegaconf gymnasium tqdm termcolor
    pip install --no-deps mbrl                # its own list asks for versions of 2021
    python python/studies/libraries.py PREDICTOR TASK RESULT

PREDICTOR is a row of predictors.PREDICTORS. TASK is a JSON object that dgm-bench writes, null = not measured: `states` and `inputs`
(names), `periodic` and `invariant` (a flag for each state: an angle, one whose value does not matter), `derivative` (for each state
the place of its rate, or -1), `times` (T, s after a window's start), `train` and `test` (lists of flights with `t` (n), `x` (n*K,
angles unwrapped) and `u` (n*P)), `train_windows` and `test_windows` (pairs of a flight and a sample), `record` (a flight of which the first `initial` samples are
measured, or null). RESULT is a JSON object with
`name`, `seconds` of the fit, `mean` and `std` (W*T*K, displacements from the start), and `half50`, the half width of the 50 %
interval over the standard deviation (W*T*K), and `record`, the states of the simulated record (n*K), or null. What was measured after a start is read of `train` only.
"""

import importlib
import json
import sys
import time
import warnings

from predictors import PREDICTORS


def main(predictor, task_path, result_path):
    title, module, function, packages = PREDICTORS[predictor]
    try:
        from predictors.flights import Task

        predict = getattr(importlib.import_module("predictors." + module), function)
        task = Task(task_path)
        began = time.perf_counter()
        parts = dict(zip(("mean", "std", "half50", "record"), predict(task)))
        seconds = time.perf_counter() - began
    except ModuleNotFoundError as e:
        sys.exit(f'{predictor} needs the Python package "{e.name}": pip install numpy {packages}')
    with open(result_path, "w") as f:
        values = {name: part.ravel().tolist() for name, part in parts.items() if part is not None}
        json.dump({"name": title, "seconds": seconds, **values}, f, allow_nan=False)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in PREDICTORS:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    main(*sys.argv[1:])

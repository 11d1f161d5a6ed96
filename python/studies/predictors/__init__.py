"""Predictors of well-kept libraries: a file each, and a row in PREDICTORS.

A predictor is a function of a flights.Task that is fitted to its training flights and returns (mean, std, half50), each
W×T×K: the displacement from the start of every test window, its standard deviation, and the half width of the 50 % interval
over the standard deviation. It may return the states of the simulated record (n×K), too, or None.
"""

# name: (name in tables, module, function, packages)
PREDICTORS = {
    "ridge": ("ridge, MAPIE", "regression", "ridge", "scikit-learn mapie"),
    "gaussian-process": ("Gaussian process", "regression", "gaussian_process", "scikit-learn"),
    "koopman": ("EDMD, pykoop", "koopman", "predict", "pykoop"),
    "state-space": ("neural state space, jax-sysid", "statespace", "predict", "jax-sysid"),
    "pets": ("PETS, mbrl-lib", "pets", "predict", "torch hydra-core omegaconf gymnasium tqdm termcolor; pip install --no-deps mbrl"),
}

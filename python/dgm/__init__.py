"""Distributions of a robot's state to come.

fit learns a model from arrays. Model predicts in process, from a model file, by libdgm, and compares its predictions with flights. jax and casadi make a model a function of those packages, with
derivatives of their own; they need the packages of dgm[jax] and dgm[casadi]. Live sends states to an estimator over NATS and
receives its predictions and estimates, QueryClient asks it; they need the packages of dgm[queries].
"""

from __future__ import annotations

import os
from importlib import metadata
from typing import TYPE_CHECKING, Optional, Union

from .evaluation import Evaluation, Report
from .fit import fit
from .live import Distribution, Estimate, Live
from .model import Gradient, Jacobians, Model, Prediction, StateEstimate, Violation
from .queries import Answer, QueryClient, Refused

if TYPE_CHECKING:
    from .program_casadi import CasadiFunction
    from .program_jax import JaxFunction

__all__ = ["Answer", "Distribution", "Estimate", "Evaluation", "Gradient", "Jacobians", "Live", "Model", "Prediction", "QueryClient", "Refused", "Report", "StateEstimate", "Violation", "casadi", "fit", "jax"]

try:
    __version__ = metadata.version("dgm")
except metadata.PackageNotFoundError:
    __version__ = "not installed"


def jax(m: Union[Model, str, os.PathLike[str]], plan_rows: Optional[int] = None) -> JaxFunction:
    """A model, or the model of a file, as a JAX function f(x, history, u, plan) → (mean, std), each (T, K).

    x (K), history (n, K+P) with the newest row first, u (P) and plan (plan_rows, P), whose rows divide the horizon, are
    those of Model.predict. It is for jit, vmap, grad and jacfwd; float32, or float64 with jax_enable_x64.
    """
    try:
        from . import program_jax

        return program_jax.function(_document(m, plan_rows))
    except ImportError as e:
        raise ImportError(f"{e}; pip install './python[jax]'") from e


def casadi(m: Union[Model, str, os.PathLike[str]], plan_rows: Optional[int] = None) -> CasadiFunction:
    """A model, or the model of a file, as a CasADi function f(x, history, u, plan) → (mean, std), each T × K.

    Its arguments are those of jax, numbers or symbols; f.function(condition) is the casadi.Function.
    """
    try:
        from . import program_casadi

        return program_casadi.function(_document(m, plan_rows))
    except ImportError as e:
        raise ImportError(f"{e}; pip install './python[casadi]'") from e


def _document(m: Union[Model, str, os.PathLike[str]], plan_rows: Optional[int]) -> bytes:
    if isinstance(m, Model):
        return m.program(plan_rows)
    with Model.load(m) as opened:
        return opened.program(plan_rows)

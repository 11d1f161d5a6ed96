"""Distributions of a robot's state to come.

Model predicts in process, from a model file, by libdgm. QueryClient asks an estimator over
NATS; it needs the packages of dgm[queries].
"""

from .model import Gradient, Jacobians, Model, Prediction, Violation
from .queries import Answer, QueryClient, Refused

__all__ = ["Answer", "Gradient", "Jacobians", "Model", "Prediction", "QueryClient", "Refused", "Violation"]

"""Writes swing.npz: 60 rows of a pendulum, by NumPy 2."""
import numpy as np

t = np.arange(60) * 0.02
np.savez_compressed(
    "swing.npz",
    t=(1_700_000_000_000_000_000 + np.arange(60) * 20_000_000).astype("datetime64[ns]"),
    theta=np.sin(2 * t), rates=np.stack([np.cos(2 * t), t], axis=1).astype(">f4"), tau=(t > 0.5),
    robot=np.array(["a", "bö"] * 30), mass=1.5, other=np.arange(7))

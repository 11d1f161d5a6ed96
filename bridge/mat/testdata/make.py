"""Writes files of a pendulum for the tests, by SciPy: packed and not, columns and rows, fields of a structure."""
import numpy as np
from scipy.io import savemat

t = np.arange(60) * 0.02
columns = dict(t=t[:, None], theta=np.sin(2 * t)[:, None], rates=np.stack([np.cos(2 * t), t], axis=1).astype("f4"),
               tau=(t > 0.5).astype("u1")[:, None], count=np.arange(60, dtype="i8")[:, None] - 5, mass=1.5, name="pendulum", other=np.arange(7.0))
savemat("swing.mat", columns, do_compression=True)
savemat("plain.mat", columns)
savemat("rows.mat", dict(X=np.stack([t, np.sin(2 * t)]), y=np.cos(2 * t)[None]))
savemat("log.mat", dict(log=dict(t=t[:, None], pose=dict(x=np.sin(t)[:, None])), cube=np.zeros((2, 3, 4))))

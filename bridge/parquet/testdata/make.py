"""Writes swing.parquet: 60 rows of a pendulum; halves.parquet: numbers of 16 bits; empty.parquet: the same without rows. By pandas and pyarrow."""
import numpy as np
import pandas as pd

t = np.arange(60) * 0.02
pd.DataFrame({
    "time": pd.to_datetime(1_700_000_000_000_000_000 + np.arange(60) * 20_000_000, utc=True), "theta": np.where(np.arange(60) == 5, np.nan, np.sin(2 * t)),
    "omega": np.cos(2 * t).astype(np.float32), "tau": t > 0.5, "robot": ["a", "b"] * 30, "n": pd.array([None, *range(59)], dtype="Int64"),
    "list": [[1, 2]] * 60,
}).to_parquet("swing.parquet", row_group_size=25)
halves = pd.DataFrame({"time": t[:5], "theta": np.sin(2 * t[:5]).astype(np.float16)})
halves.to_parquet("halves.parquet")
halves[:0].to_parquet("empty.parquet")

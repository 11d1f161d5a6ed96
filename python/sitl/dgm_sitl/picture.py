"""The picture of a run."""

import numpy as np


def draw(path, doc):
    """Draw a second and a half of predictions before the change and after it, with adaptation and without."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    live = doc["worn"]
    t, x = np.array(live["time"]), np.array(live["measured"])
    channel = live["channels"].index("q")
    figure, axes = pyplot.subplots(2, 1, figsize=(9, 6), sharex=True, sharey=True, constrained_layout=True)
    for axis, (kind, got) in zip(axes, live["predicted"].items()):
        mean, half = np.array(got["mean"])[:, channel], np.array(got["half"])[:, channel]
        part = (t > 8) & (t < 20)
        axis.fill_between(t[part], (mean - half)[part], (mean + half)[part], color="#9ecae1", label=f"95 % interval, predicted {live['later_s']:g} s before")
        axis.plot(t[part], mean[part], color="#2171b5", lw=1, label="mean")
        axis.plot(t[part], x[part, channel], color="black", lw=0.8, label="measured")
        axis.axvline(12, color="#cb181d", ls="--", lw=1)
        axis.set_title(kind, loc="left", fontsize=10)
        axis.set_ylabel("pitch rate q in rad/s")
    axes[0].legend(loc="upper left", fontsize=8, ncols=3)
    axes[1].set_xlabel("time of flight in s; the propeller wears out at the dashed line")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)

"""The picture of a run."""

import numpy as np

COLOURS = ("#cb181d", "#2171b5", "#238b45", "#6a51a3")


def draw(path, doc, change):
    """Draw what adaptation learns of each input in the live flight, and its errors and coverage under the plan that was flown."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    live = doc["worn"]
    figure, (gains, errors) = pyplot.subplots(2, 1, figsize=(9, 6.6), constrained_layout=True)
    t = np.array([a[0] for a in live["gains"]])
    for name, colour in zip(sorted(live["gains"][0][1]) if live["gains"] else [], COLOURS):
        value, std = np.array([a[1][name] for a in live["gains"]]).T
        gains.fill_between(t, value - 2 * std, value + 2 * std, color=colour, alpha=0.15)
        gains.plot(t, value, color=colour, marker="o", ms=3, label=name)
    gains.axvline(change, color="black", ls="--", lw=1)
    gains.set(xlabel="time of flight, s", ylabel="gain, %", title=f"{doc['vehicle']}: how much more or less each input does, learned in flight (± 2 std)")
    if live["gains"]:
        gains.legend(ncols=4, fontsize=9, loc="upper left")
    rows = [r for r in live["adaptation"]["since"] if r["windows"]]
    names = [f"{r['from']:g}-{r['to']:g} s" if r["to"] else f"from {r['from']:g} s" for r in rows]
    place = np.arange(len(rows))
    errors.bar(place - 0.2, [r["coverage95_before"] for r in rows], 0.38, color="#bdbdbd", label="95 % intervals covered, without adaptation")
    errors.bar(place + 0.2, [r["coverage95"] for r in rows], 0.38, color="#6baed6", label="95 % intervals covered, with adaptation")
    errors.plot(place, [r["rmse_ratio"] for r in rows], color="#cb181d", marker="o", ms=4, label="RMSE with adaptation over that without")
    errors.axhline(0.95, color="black", lw=0.8, ls=":")
    errors.set_xticks(place, names, fontsize=8)
    errors.set(xlabel=f"time in the log; the change is found at {live['fault']['since']:.1f} s" if live["fault"] else "time in the log", ylim=(0, 1.1))
    errors.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    figure.savefig(path)
    pyplot.close(figure)

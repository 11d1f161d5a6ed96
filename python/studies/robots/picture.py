"""An animated picture (SVG) of a flight and what a model predicts along it."""
import numpy as np

WIDTH, HEIGHT, MARGIN = 640, 360, 44
FRAMES, SECONDS = 50, 10.0  # of the picture
MEASURED, PREDICTED = "#8a8f98", "#1f6feb"


def write(path, robot, model, t, x, u):
    """Draws the first flight of t, x, u: a map of two states, or states over time, with the prediction from each frame's sample."""
    t, x, u = t[0], x[0], u[0]
    use = t <= min(t[-1] - model.horizon, 20.0)
    at = np.linspace(1.5 * model.history_seconds / (t[1] - t[0]) + 5, use.sum() - 1, FRAMES).astype(int)
    predictions = [(i, predict(model, t, x, u, i)) for i in at]
    draw = on_map if robot.seen else over_time
    path.write_text(draw(robot, model, t, x, predictions, int(use.sum())), encoding="utf-8")


def predict(model, t, x, u, i):
    s = t - t[i]
    first = int(np.searchsorted(s, -1.5 * model.history_seconds))
    history = (s[first:i], x[first:i], u[first:i]) if model.history_rows else None
    rows = 50
    plan = u[np.clip(np.searchsorted(s, model.horizon / rows * np.arange(rows), side="right") - 1, i, None)]
    return model.predict(x[i], plan=plan, history=history)


def page(title, scale, shapes):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"><title>{title}</title>'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><text x="{WIDTH / 2}" y="22" text-anchor="middle" fill="#24292f">{title}</text>{scale}{"".join(shapes)}</svg>\n')


def frame(k, content):
    """What is seen in frame k alone."""
    from_, to = k / FRAMES, (k + 1) / FRAMES
    times = f"0;{from_:.3f};{to:.3f}" if k else f"0;{to:.3f}"
    values = "none;inline;none" if k else "inline;none"
    return f'<g display="{"inline" if k == 0 else "none"}"><animate attributeName="display" dur="{SECONDS}s" repeatCount="indefinite" calcMode="discrete" keyTimes="{times}" values="{values}"/>{content}</g>'


def line(points, color, width=1.5):
    return f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" fill="none" stroke="{color}" stroke-width="{width}" stroke-linejoin="round"/>'


def on_map(robot, model, t, x, predictions, n):
    """A map that moves with the robot: where it was, where it went in the horizon, and where it was predicted to go."""
    a, b = (robot.states.index(name) for name in robot.seen)
    ahead_of = lambda i: int(np.searchsorted(t, t[i] + model.horizon))
    moved = np.median([np.linalg.norm(x[ahead_of(i), [a, b]] - x[i, [a, b]]) for i, _ in predictions])
    unit = (HEIGHT - 2 * MARGIN) / (4 * moved)
    shapes = []
    for k, (i, p) in enumerate(predictions):
        place = lambda v: (WIDTH / 2 + unit * (v[0] - x[i, a]), HEIGHT / 2 + 8 - unit * (v[1] - x[i, b]))
        began = int(np.searchsorted(t, t[i] - 3 * model.horizon))
        ellipses = "".join(
            f'<ellipse cx="{place(p.mean[j, [a, b]])[0]:.1f}" cy="{place(p.mean[j, [a, b]])[1]:.1f}" rx="{max(unit * 2.45 * p.std[j, a], 1):.1f}" ry="{max(unit * 2.45 * p.std[j, b], 1):.1f}" fill="{PREDICTED}" fill-opacity=".15"/>'
            for j in range(0, len(p.times), max(1, len(p.times) // 10)))
        shapes.append(frame(k, line(map(place, x[began:i + 1, [a, b]]), "#d0d7de", 2) + ellipses + line(map(place, x[i:ahead_of(i), [a, b]]), MEASURED, 6)
                            + line(map(place, [x[i, [a, b]], *p.mean[:, [a, b]]]), PREDICTED, 2) + f'<circle cx="{WIDTH / 2}" cy="{HEIGHT / 2 + 8}" r="6" fill="#24292f"/>'
                            + f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 12}" text-anchor="end" fill="#24292f">at {t[i]:.1f} s; after {model.horizon:g} s ±{1.96 * max(p.std[-1, a], p.std[-1, b]):.2g} {robot.units.get(robot.seen[0], "")} (95 %)</text>'))
    bar = 10.0 ** np.floor(np.log10(2 * moved))
    scale = f'<line x1="{MARGIN}" y1="{HEIGHT - 16}" x2="{MARGIN + unit * bar:.1f}" y2="{HEIGHT - 16}" stroke="#24292f"/><text x="{MARGIN + unit * bar + 6:.1f}" y="{HEIGHT - 12}" fill="#24292f">{bar:g} {robot.units.get(robot.seen[0], "")}</text>'
    return page(title(robot, model), scale, shapes)


def over_time(robot, model, t, x, predictions, n):
    """Two states over a time that moves on."""
    shown = robot.plotted
    shapes = []
    height = (HEIGHT - 2 * MARGIN) / len(shown)
    for k, (i, p) in enumerate(predictions):
        from_, to = t[i] - 3 * model.horizon, t[i] + 1.2 * model.horizon
        content = ""
        for row, name in enumerate(shown):
            c = robot.states.index(name)
            low, high = x[:n, c].min(), x[:n, c].max()
            low, high = low - 0.1 * (high - low), high + 0.1 * (high - low)
            place = lambda s, v: (MARGIN + (WIDTH - 2 * MARGIN) * (s - from_) / (to - from_), MARGIN + height * (row + 1) - 10 - (height - 20) * (np.clip(v, low, high) - low) / (high - low))
            began, ahead = int(np.searchsorted(t, from_)), int(np.searchsorted(t, t[i] + model.horizon))
            s = t[i] + p.times
            edge = [place(*v) for v in zip(s, p.mean[:, c] + 1.96 * p.obs_std[:, c])] + [place(*v) for v in zip(s[::-1], (p.mean[:, c] - 1.96 * p.obs_std[:, c])[::-1])]
            content += (line((place(*v) for v in zip(t[began:i + 1], x[began:i + 1, c])), "#d0d7de", 2) + f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in edge)}" fill="{PREDICTED}" fill-opacity=".25"/>'
                        + line((place(*v) for v in zip(t[i:ahead], x[i:ahead, c])), MEASURED, 3) + line((place(*v) for v in zip(s, p.mean[:, c])), PREDICTED, 2))
        shapes.append(frame(k, content + f'<text x="{WIDTH - 90}" y="{HEIGHT - 12}" fill="#24292f">{t[i]:.1f} s</text>'))
    scale = "".join(f'<text x="{MARGIN}" y="{MARGIN + height * row + 12:.0f}" fill="#24292f">{name}, {robot.units.get(name, "")}</text>' for row, name in enumerate(shown))
    return page(title(robot, model), scale, shapes)


def title(robot, model):
    return f"{robot.title}, {robot.test}: predicted {model.horizon:g} s ahead (blue, 95 %), and what followed (grey)"

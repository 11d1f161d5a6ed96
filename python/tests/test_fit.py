"""fit, its report and evaluations. dgm-train and dgm-eval are in DGM_PROGRAMS or in PATH."""
import json
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("msgpack")
import dgm  # noqa: E402
from dgm import log, programs  # noqa: E402


def available():
    try:
        return all(map(programs.find, ("dgm-train", "dgm-eval", "dgm-bridge")))
    except FileNotFoundError:
        return False


needs_programs = pytest.mark.skipif(not available(), reason="the programs of dgm are not here")


def fly(seed, seconds=12.0, dt=0.02):
    """A pendulum under a torque that is held for 0.4 s."""
    rng = np.random.default_rng(seed)
    n, x, u = int(seconds / dt), np.array([rng.uniform(-1, 1), 0.0]), 0.0
    xs, us = np.empty((n, 2)), np.empty((n, 1))
    for i in range(n):
        u = rng.normal() * 1.5 if i % 20 == 0 else u
        xs[i], us[i] = x + rng.normal(size=2) * [0.005, 0.02], u
        for _ in range(10):
            x = x + dt / 10 * np.array([x[1], -9.81 * np.sin(x[0]) - 0.3 * x[1] + 2 * u])
    return np.arange(n) * dt, xs, us


NAMES = {"states": ["theta", "omega"], "inputs": ["torque"], "units": {"theta": "rad", "omega": "rad/s", "torque": "N·m"}}


@pytest.fixture(scope="module")
def m():
    t, x, u = zip(*map(fly, range(5)))
    return dgm.fit(list(t), list(x), list(u), **NAMES, horizon=0.5, preset="quick", progress=False)


@needs_programs
def test_fit(m, tmp_path):
    assert m.verdict == m.report["verdict"] == "use", m.report
    assert list(m.states) == NAMES["states"] and list(m.inputs) == NAMES["inputs"] and m.horizon == 0.5
    assert "<iframe" in m.report._repr_html_() and m.report.html.startswith("<!")
    assert m.report["latency"][0]["input"] == "torque"
    e = m.evaluate(*fly(99))
    assert e.verdict == "use" and "<table>" in e._repr_html_()
    t, name, unit, error, simple, covered = e.rows()[-1]
    assert (t, name, unit) == (0.5, "omega", "rad/s") and error < 0.7 * simple and 0.85 < covered <= 1
    m.save(tmp_path / "pendulum.dgm")
    assert (tmp_path / "pendulum.report.html").exists() and json.loads((tmp_path / "pendulum.report.json").read_text())["verdict"] == "use"
    with dgm.Model.load(tmp_path / "pendulum.dgm") as saved:  # it is what fit returned
        assert saved.id == m.id and saved.verdict == "use" and saved.report == m.report and saved.evaluate(*fly(99)).rows() == e.rows()
        assert "theta [rad], omega [rad/s] from torque [N·m], 0.5 s ahead" in repr(saved)
    assert len(str(e).splitlines()) == 3 + len(e.rows()) + len(e["details"]) and str(e).startswith(repr(e)) and e["next"] in repr(e) and e["details"]
    (tmp_path / "pendulum.report.json").unlink()
    with dgm.Model.load(tmp_path / "pendulum.dgm") as alone, pytest.raises(FileNotFoundError, match="pendulum.report.json"):
        alone.report


@needs_programs
def test_prediction_after_a_sample(m):
    t, x, u = fly(98)
    p = m.after(t, x, u, 300)
    later = np.interp(t[300] + p.times, t, x[:, 0])
    assert np.abs(p.mean[:, 0] - later).max() < 0.1
    at = 0.2  # s; the error from samples of a flight is what evaluate has, so a model with a filter starts from its estimates
    found = [np.interp(t[i] + at, t, x[:, 0]) - np.interp(at, p.times, p.mean[:, 0]) for i in range(100, 500, 40) for p in [m.after(t, x, u, i)]]
    (expected,) = [rmse for ahead, name, _, rmse, *_ in m.evaluate(t, x, u).rows() if (ahead, name) == (at, "theta")]
    assert np.sqrt(np.mean(np.square(found))) < 1.5 * expected
    with pytest.raises(ValueError, match="1 and 1 columns, the model has 2 measured states and 1 inputs: theta, omega, torque"):
        m.evaluate(t, x[:, 0], u)


@needs_programs
def test_a_robot_that_measures_positions_only():
    flights = [fly(s) for s in range(5)]
    t, x, u = [f[0] for f in flights], [f[1][:, 0] for f in flights], [f[2] for f in flights]
    m = dgm.fit(t, x, u, states=["theta"], inputs=["torque"], units={"theta": "rad"}, horizon=0.5, preset="quick", progress=False)
    assert list(m.states) == ["theta", "theta_rate"]
    t, x, u = fly(97)
    estimates, std = m.estimates(t, x[:, 0], u)
    assert estimates.shape == std.shape == x.shape
    assert np.sqrt(np.mean((estimates[100:, 1] - x[100:, 1]) ** 2)) < 0.1 and (std[100:] > 0).all()
    p = m.after(t, x[:, 0], u, 300)
    assert np.abs(p.mean[:, 1] - np.interp(t[300] + p.times, t, x[:, 1])).max() < 0.3
    with pytest.raises(ValueError, match="sample 0: the filter has not settled"):
        m.after(t, x[:, 0], u, 0)


@needs_programs
@pytest.mark.parametrize("i", [-1, 600])
def test_a_sample_is_one_of_the_flight(m, i):
    with pytest.raises(ValueError, match=f"i: is {i}, must be a sample of the flight: 0 to 599"):
        m.after(*fly(98), i)


@needs_programs
def test_errors_of_an_evaluation_name_the_arrays(m):
    with pytest.raises(ValueError, match="on the arrays: no window of 0.5 s"):
        m.evaluate(*[a[:5] for a in fly(98)])
    m.save(m.path)
    assert m.verdict == "use"


@needs_programs
def test_plot(m):
    pytest.importorskip("matplotlib").use("Agg")
    with pytest.raises(ValueError, match="no state 'phi'; it has theta, omega"):
        m.plot(*fly(99), states="phi")
    for at in (1e4, -1, float("nan"), "start"):
        with pytest.raises((TypeError, ValueError), match="^at: "):
            m.plot(*fly(99), at=at)
    figure = m.plot(*fly(99), at=3.0)
    assert [a.get_ylabel() for a in figure.axes] == ["theta, rad", "omega, rad/s"]


@needs_programs
def test_log_has_what_was_given(tmp_path):
    t, x, u = fly(1)
    x[5, 1] = np.nan
    flights = log.flights([t, t], [x, x[::-1]], [u, u])
    columns = log.channels(["theta", "omega"], ["torque"], NAMES["units"], {}, None, flights)
    log.write(tmp_path / "a.msgpack", "p", flights, columns)
    info = json.loads(subprocess.run([programs.find("dgm-bridge"), "info", "--json", str(tmp_path / "a.msgpack")], check=True, capture_output=True).stdout)
    assert "skipped" not in json.dumps(info.get("damage"))
    assert len(info["segments"]) == 2 and info["channels"][0]["period"] == pytest.approx(2 * np.pi)


def test_rates_are_found():
    t, x, u = fly(1)
    flights = log.flights(t, x, u)
    assert [c.derivative for c in log.channels(["theta", "omega"], ["torque"], NAMES["units"], {}, None, flights)] == ["omega", "", ""]
    assert [c.derivative for c in log.channels(["a", "b"], ["torque"], {}, {}, None, flights)] == ["b", "", ""]
    assert [c.derivative for c in log.channels(["theta", "omega"], ["torque"], NAMES["units"], {}, {}, flights)] == ["", "", ""]
    assert log.channels(["theta", "omega"], ["torque"], NAMES["units"], {"theta": 0}, {}, flights)[0].period == 0


@pytest.mark.parametrize("unit, of_rate, turn", [("rad", "Rad/s", 2 * np.pi), ("DEG", "°/s", 360), ("Degrees", "degrees/sec", 360), ("mrad", "mrad s^-1", 2000 * np.pi), ("m", "m/s", 0)])
def test_units_of_angles(unit, of_rate, turn):
    t, x, u = fly(1)
    theta = log.channels(["theta", "omega"], ["torque"], {"theta": unit, "omega": of_rate}, {}, None, log.flights(t, x, u))[0]
    assert theta.period == pytest.approx(turn) and theta.derivative == "omega"


@pytest.mark.parametrize("factors, units, message", [((180 / np.pi, 1), ("rad", "rad/s"), "57.3"), ((1, 180 / np.pi), ("rad", "rad/s"), "0.0175"), ((180 / np.pi, 1), ("deg", "deg/s"), "57.3"),
                                                     ((180 / np.pi, 1), ("deg", "rad/s"), None), ((180 / np.pi, 180 / np.pi), ("deg", "deg/s"), None)])
@pytest.mark.parametrize("wrapped", [False, True])
def test_degrees_among_radians(factors, units, message, wrapped):
    t = np.arange(2000) / 100
    angle, rate = 3 * np.sin(t) + 2 * t, 3 * np.cos(t) + 2
    if wrapped:
        angle = (angle + np.pi) % (2 * np.pi) - np.pi
    flights = log.flights(t, np.stack([angle, rate], 1) * factors, None)

    def channels():
        return log.channels(["q", "w"], [], dict(zip("qw", units)), {}, None, flights)

    if message:
        with pytest.raises(ValueError, match=f"units: 'q' in {units[0]} changes by {message} times the integral of 'w' in {units[1]}: one of the two is in degrees"):
            channels()
    else:
        assert channels()[0].derivative == ("w" if units[1].startswith(units[0]) else "")


@pytest.mark.parametrize("noise", [0.01, 0.02])
def test_rates_are_found_in_noise(noise):
    rng = np.random.default_rng(1)
    t = np.arange(3000) / 100
    x = np.stack([np.sin(t), np.sin(0.7 * t + 1), np.cos(t), 0.7 * np.cos(0.7 * t + 1)], 1)
    flights = log.flights(t, x + noise * rng.standard_normal(x.shape), np.zeros((3000, 1)))
    columns = log.channels(["a", "b", "da", "db"], ["u"], dict(a="rad", b="rad", da="rad/s", db="rad/s"), {}, None, flights)
    assert [c.derivative for c in columns] == ["da", "db", "", "", ""]


def test_tables_have_their_names():
    pandas = pytest.importorskip("pandas")
    t, x, u = fly(1)
    table = pandas.DataFrame(x, columns=["theta", "omega"], index=pandas.to_datetime(t, unit="s"))
    table.iloc[3, 0] = None
    assert log.names(None, table, "x") == ["theta", "omega"] and log.names(None, pandas.Series(u[:, 0], name="torque"), "u") == ["torque"]
    assert log.names(None, x[:2].tolist(), "x") == ["x1", "x2"] and log.names(None, [table, table], "x", many=True) == ["theta", "omega"]
    f = log.flights(table.index, table, pandas.Series(u[:, 0], name="torque"))[0]
    assert np.isnan(f.x[3, 0]) and f.u.shape == (len(t), 1) and f.t[1] - f.t[0] == 20_000_000


def test_columns_are_taken_by_their_names():
    pandas = pytest.importorskip("pandas")
    t, x, u = fly(1)
    table = pandas.DataFrame(x, columns=["theta", "omega"]).assign(torque=u, at=pandas.to_datetime(t, unit="s"))
    turned = table[["omega", "torque", "theta"]]
    for f in log.flights([t, t, t], [table, turned, dict(omega=x[:, 1], theta=x[:, 0])], [table, turned, u], ["theta", "omega"], ["torque"]):
        assert (f.x == x).all() and (f.u == u).all()
    with pytest.raises(ValueError, match="x of flight 1: the table has the columns theta, rate, must have theta, omega"):
        log.flights([t, t], [table, dict(theta=x[:, 0], rate=x[:, 1])], [u, u], ["theta", "omega"], ["torque"])
    with pytest.raises(ValueError, match="x: at has times"):
        log.flights(t, table, u)


def test_rows_of_tables_are_those_of_one_time():
    pandas = pytest.importorskip("pandas")
    t, x, u = fly(1)
    table = pandas.DataFrame(np.c_[t, x, u], columns=["t", "theta", "omega", "torque"])
    timed = table.set_index(pandas.to_datetime(table.t, unit="s"))
    for at, states, inputs in ((table.t, table[["theta", "omega"]], table.torque), (timed.index, timed[["theta", "omega"]], timed.torque), (t, timed[["theta", "omega"]], u),
                               (table.t[10:], table[["theta", "omega"]][10:], table.torque[10:]), (table.t, timed[["theta", "omega"]], dict(torque=timed.torque)),
                               (timed.index.tz_localize("UTC"), timed.tz_localize("UTC").tz_convert("Europe/Zurich")[["theta", "omega"]], u)):
        f = log.flights(at, states, inputs)[0]
        assert (f.x == x[-len(f.t):]).all() and (f.u == u[-len(f.t):]).all()
    late, turned = timed.torque.set_axis(timed.index + pandas.Timedelta("20ms")), table.sort_values("theta")
    for at, states, inputs, names in ((t, timed[["theta", "omega"]], late, "x and u"), (late.index, timed[["theta", "omega"]], u, "t and x"), (turned.t, turned[["theta", "omega"]], table.torque[::-1], "t and u"),
                                      (t, dict(theta=timed.theta, omega=late), u, "x, theta and x, omega"), (table.t[10:], table[["theta", "omega"]][5:-5], u[10:], "t and x")):
        with pytest.raises(ValueError, match=f"{names}: row 0 is that of .* in {names.split(' and ')[0]} and of .*; align them"):
            log.flights(at, states, inputs)
    with pytest.raises(ValueError, match="x and u of flight 1: row 0"):
        log.flights([t, t], [x, timed[["theta", "omega"]]], [u, late])


def test_arrays_of_xarray_have_their_names():
    xarray = pytest.importorskip("xarray")
    t, x, u = fly(1)
    a = xarray.DataArray(x[:, ::-1], dims=("time", "channel"), coords={"time": t, "channel": ["omega", "theta"]})
    assert log.names(None, a, "x") == ["omega", "theta"] and (log.flights(a.time, a, u, ["theta", "omega"], ["torque"])[0].x == x).all()
    other = xarray.Dataset({"torque": ("time", u[:, 0])}, coords={"time": t + 0.02})
    with pytest.raises(ValueError, match="t and u: row 0 is that of 0.0 in t and of 0.02 in u"):
        log.flights(a.time, a, other)


def test_times_with_a_zone():
    pandas = pytest.importorskip("pandas")
    t, x, u = fly(1)
    index = pandas.to_datetime(np.round(1e9 * t).astype(int) + 1_700_000_000_000_000_000).tz_localize("UTC").tz_convert("Europe/Zurich")
    for given in (index, list(index), list(index.to_pydatetime())):
        stamps = log.flights(given, x, u)[0].t
        assert stamps[0] == 1_700_000_000_000_000_000 and stamps[-1] == 1_700_000_011_980_000_000


def test_rates_are_found_where_samples_are_missing():
    t, x, u = fly(1)
    rng = np.random.default_rng(1)
    other = np.cumsum(rng.normal(size=len(t)))
    table = np.c_[x, other]
    holes = np.where(rng.random(table.shape) < 0.1, [[np.nan, np.inf, np.nan]], table)
    holes[0] = np.nan  # nothing may be concluded from one missing sample
    keep = np.r_[0:200, 280:600]  # a gap in time
    for f in (log.flights(t, holes, u), log.flights(t[keep], table[keep], u[keep])):
        assert [c.derivative for c in log.channels(["a", "b", "c"], ["u"], {}, {}, None, f)] == ["b", "", "", ""]


@pytest.mark.parametrize("change, message", [
    (dict(t=np.arange(3.0)), r"must be \(3, channels\)"),
    (dict(states=["theta"]), r"states: 1 names \(theta\) for 2 columns of x"),
    (dict(u=None), r"inputs: 1 names \(torque\) for 0 columns of u"),
    (dict(x=np.zeros((2, 600))), r"must be \(600, channels\): a row for each time of t; transpose it"),
    (dict(states=["theta", "theta"]), "given twice"),
    (dict(units={"phi": "rad"}), "'phi' is no channel"),
    (dict(t=np.zeros(600)), "not after the one before"),
    (dict(t=1e18 + np.arange(600)), "divide ns by 1e9"),
    (dict(t=np.full(600, np.nan)), "not finite"),
    (dict(t=np.full(600, np.datetime64("NaT"))), "t: element 0 is not a time"),
    (dict(t=(1.7e9 + np.arange(600) / 50).astype(np.float32)), "float32 resolves"),
    (dict(u=[[0.0]] * 599 + [[]]), "u: no array of numbers"),
    (dict(u=[["a"]] * 600), "u: no array of numbers"),
    (dict(states=["", "omega"], units=None), "name ''"),
    (dict(units={"theta": "rads"}), "units: 'theta': unit \"rads\" is not known; angles are in cdeg, deg, mrad, rad, turn"),
    (dict(units={"theta": "m" * 300}), "units: 'theta' has 'mm"),
    (dict(vehicle="a b"), "vehicle: is 'a b', must have 1 to 64 letters, digits, - and _"),
    (dict(seed=-1), "seed: is -1, must be at least 0"),
    (dict(periods={"theta": -1}), "periods: 'theta' has -1"),
    (dict(rates={"theta": "torque"}), "rates: 'theta' has 'torque', must be another state"),
    (dict(rates={"theta": "omega", "omega": "theta"}), "rates: 'theta' has 'omega', must be another state"),
    (dict(horizon=float("nan")), "horizon: is nan, must be positive"),
])
def test_wrong_arrays(change, message):
    t, x, u = fly(1)
    with pytest.raises(ValueError, match=message):
        dgm.fit(**{"t": t, "x": x, "u": u, **NAMES, **change})


@pytest.mark.parametrize("change, message", [(dict(units=["rad"]), "units: .* no mapping"), (dict(horizon="500ms"), "horizon: '500ms' is no number of seconds"), (dict(horizon=None), "horizon: None"),
                                             (dict(seed=1.5), "seed: 1.5 is no whole number"), (dict(filter=True), "filter: True"), (dict(units={"theta": 1}), "units: 'theta' has 1"), (dict(states={"a", "b"}), "a set has no order")])
def test_wrong_types(change, message):
    with pytest.raises(TypeError, match=message):
        dgm.fit(*fly(1), **{**NAMES, **change})


@needs_programs
def test_what_training_refuses_is_an_error(capfd):
    t, x, u = fly(1, seconds=1.0)
    with pytest.raises(ValueError, match="^dgm-train: .* or choose horizon=0.07 or shorter$"):
        dgm.fit(t, x, u, **NAMES, progress=False)
    with pytest.raises(ValueError, match='preset="fast" is neither default nor quick$'):
        dgm.fit(t, x, u, **NAMES, preset="fast")
    with pytest.raises(ValueError, match='theta .* Set unit = "deg" and period = 360 in units and periods of fit'):
        dgm.fit(np.arange(3000) / 50, np.c_[(np.arange(3000) * 3 + 180) % 360 - 180, np.random.default_rng(2).normal(size=3000)], np.random.default_rng(1).normal(size=(3000, 1)), **NAMES, horizon=0.1, progress=False)
    assert "dgm-train: dgm-train" not in capfd.readouterr().err


def test_missing_files(monkeypatch, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.dgm"):
        dgm.Model.load(tmp_path / "nowhere.dgm")
    monkeypatch.setenv("DGM_PROGRAMS", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError, match="go build -o"):
        programs.find("dgm-train")


def test_version():
    assert dgm.__version__ and pathlib.Path(dgm.__file__).exists()

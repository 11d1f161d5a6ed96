"""Exported programs against the reference predictor: the Go test of cmd/dgm-bridge writes DGM_PROGRAMS and runs this file.

DGM_PROGRAMS is a folder with a folder for each model: answers.json, and one for each target. What JAX compiles for
minutes is tried with DGM_SLOW alone.
"""
import contextlib
import importlib.util
import json
import os
import pathlib

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("msgpack")

FOLDER = os.environ.get("DGM_PROGRAMS")
MODELS = sorted(p for p in pathlib.Path(FOLDER).iterdir() if (p / "answers.json").exists()) if FOLDER else []
pytestmark = pytest.mark.skipif(not FOLDER, reason="DGM_PROGRAMS is not set: go test ./cmd/dgm-bridge sets it")
SLOW = bool(os.environ.get("DGM_SLOW"))
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda p: p.name)


def exported(model, target):
    """The module that an export wrote."""
    pytest.importorskip(target)
    spec = importlib.util.spec_from_file_location("exported", model / target / "dgm_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def questions(model):
    """Arguments of f, and the answer: arrays (T, K)."""
    for a in json.loads((model / "answers.json").read_text()):
        K = len(a["x"])
        arguments = {k: None if a[k] is None else np.array(a[k]) for k in ("x", "history", "u", "plan")}
        yield arguments, {**{k: np.reshape(a[k], (-1, K)) for k in ("mean", "std", "obs_std")}, "ood": a["ood"]}


def error(got, want):
    """The largest error of mean and std, in standard deviations."""
    mean, std = (np.asarray(v, dtype=np.float64) for v in got)
    assert mean.shape == std.shape == want["mean"].shape
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    return max(np.abs(v - want[k]).max() if k == "ood" else (np.abs(v - want[k]) / want["std"]).max() for k, v in (("mean", mean), ("std", std)))


def for_jax(models):
    return pytest.mark.parametrize("model", [p for p in models if SLOW or p.name in ("v3-exact", "pendulum")], ids=lambda p: p.name)


@for_jax(MODELS)
@pytest.mark.parametrize("x64, within", [(True, 1e-9), (False, 1e-4)], ids=["f64", "f32"])
def test_jax(model, x64, within):
    f = exported(model, "jax").f
    import jax

    with jax.enable_x64(x64):
        worst = max(error(jax.jit(f)(**arguments), want) for arguments, want in questions(model))
    print(f"\n{model.name}: jax {'f64' if x64 else 'f32'} {worst:.1e}")
    assert worst <= within


@each_model
def test_casadi(model):
    f = exported(model, "casadi").f
    worst = max(error(f(**arguments), want) for arguments, want in questions(model))
    print(f"\n{model.name}: casadi {worst:.1e}")
    assert worst <= 1e-9


def not_finite(model):
    """Arguments with a number that is none, and the condition they are of."""
    for value in (np.nan, np.inf):
        for name, v in next(questions(model))[0].items():
            if v is not None and v.size:
                arguments = {k: None if a is None else a.copy() for k, a in next(questions(model))[0].items()}
                if name == "u" and arguments["plan"] is not None:
                    continue  # it is not read
                arguments[name].flat[-1] = value
                yield arguments


def refused(mean, std, obs_std, ood):
    """Whether an answer cannot be taken for one."""
    finite = [np.isfinite(np.asarray(v, dtype=np.float64)).all() for v in (mean, std, obs_std)]
    return not any(finite[:2]) and float(np.ravel(ood)[0]) == np.inf


@for_jax(MODELS)
def test_not_finite_in_jax(model):
    f = exported(model, "jax").f
    import jax

    for arguments in not_finite(model):
        assert refused(**jax.jit(f.outputs)(**arguments)), arguments


@each_model
def test_not_finite_in_casadi(model):
    f = exported(model, "casadi").f
    for arguments in not_finite(model):
        function = f.function(f.document.condition(arguments["history"], arguments["plan"]))
        given = [arguments[k] if arguments[k] is not None else f.document.input_mean for k in function.name_in()]
        assert refused(*function(*given)), arguments


DERIVED = [p for p in MODELS if p.name in ("pendulum", "chain", "direct", "v3-exact", "v3-body")]  # every operation between them


def points(model):
    """A point of a model's arguments with a direction, and the origin, where functions have kinks."""
    arguments = {k: v for k, v in next(questions(model))[0].items() if v is not None}
    random = np.random.default_rng(1)
    direction = {k: random.normal(size=v.shape) for k, v in arguments.items()}
    return arguments, direction, {k: np.zeros_like(v) for k, v in arguments.items()}


def moved(arguments, direction, by):
    return {k: v + by * direction[k] for k, v in arguments.items()}


@for_jax(DERIVED)
def test_derivatives_of_jax(model):
    f = exported(model, "jax").f
    import jax

    at, direction, origin = points(model)
    with jax.enable_x64(True):
        value = jax.jit(lambda a: f(**a))
        h = 1e-6
        difference = [(np.asarray(b) - np.asarray(a)) / (2 * h) for a, b in zip(value(moved(at, direction, -h)), value(moved(at, direction, h)))]
        tangent = jax.jit(lambda a, d: jax.jvp(lambda a: f(**a), (a,), (d,))[1])(at, direction)
        for t, d in zip(tangent, difference):
            assert np.allclose(t, d, rtol=1e-5, atol=1e-6)
        gradient = jax.jit(jax.grad(lambda a: sum(v.sum() for v in f(**a))))
        adjoint = sum((g * direction[k]).sum() for k, g in gradient(at).items())
        assert np.isclose(adjoint, sum(t.sum() for t in tangent), rtol=1e-10)
        if all(np.isfinite(v).all() for v in value(origin)):
            assert all(np.isfinite(g).all() for g in gradient(origin).values())


@pytest.mark.parametrize("model", DERIVED, ids=lambda p: p.name)
def test_derivatives_of_casadi(model):
    f = exported(model, "casadi").f
    import casadi as ca

    at, direction, origin = points(model)
    symbols = {k: ca.MX.sym(k, *v.shape) for k, v in at.items()}
    directions = {k: ca.MX.sym("d" + k, *v.shape) for k, v in at.items()}
    both = ca.veccat(*f(**symbols))
    all_, along = ca.veccat(*symbols.values()), ca.veccat(*directions.values())
    tangent = ca.Function("tangent", [*symbols.values(), *directions.values()], [ca.jtimes(both, all_, along)])
    gradient = ca.Function("gradient", [*symbols.values()], [ca.gradient(ca.sum1(both), all_)])
    value = ca.Function("value", [*symbols.values()], [both])
    h = 1e-6
    difference = (value(*moved(at, direction, h).values()) - value(*moved(at, direction, -h).values())) / (2 * h)
    t = np.array(tangent(*at.values(), *direction.values()))
    assert np.allclose(t, np.array(difference), rtol=1e-5, atol=1e-6)
    column = np.concatenate([np.ravel(v, order="F") for v in direction.values()])
    assert np.isclose(float(ca.dot(gradient(*at.values()), column)), t.sum(), rtol=1e-10)
    if np.isfinite(np.array(value(*origin.values()))).all():
        assert np.isfinite(np.array(gradient(*origin.values()))).all()


@each_model
def test_onnx(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    worst = 0.0
    for arguments, want in questions(model):
        given = {k: np.float32(v)[None] for k, v in arguments.items() if v is not None}
        parts = ["plan" if "plan" in given or not has_input(model) else "hold"]
        if "history" not in given and (model / "onnx" / f"dgm_model_{parts[0]}-without-history.onnx").exists():
            parts.append("without-history")
        session = onnxruntime.InferenceSession(model / "onnx" / f"dgm_model_{'-'.join(parts)}.onnx", providers=["CPUExecutionProvider"])
        if parts[0] == "hold" and "u" not in given:
            given["u"] = np.float32([session.get_modelmeta().custom_metadata_map["input_mean"].split()])
        mean, std, obs_std, ood = session.run(["mean", "std", "obs_std", "ood"], given)
        assert np.allclose(obs_std[0], want["obs_std"], rtol=1e-4) and np.allclose(ood, want["ood"], rtol=1e-3)
        worst = max(worst, error((mean[0], std[0]), want))
        # A batch of starts, and of one start with others.
        many = {k: np.repeat(v, 3, axis=0) for k, v in given.items()}
        wrong = {k: v.copy() for k, v in given.items()}
        wrong["x"][0, -1] = np.nan
        assert refused(*session.run(["mean", "std", "obs_std", "ood"], wrong))
        batches = session.run(["mean"], many)[0], session.run(["mean"], {**many, "x": given["x"]})[0] if len(given) > 1 else mean
        assert all(np.abs((m - mean) / std).max() < 1e-4 for m in batches)
    print(f"\n{model.name}: onnx {worst:.1e}")
    assert worst <= 1e-4


def has_input(model):
    return (model / "onnx" / "dgm_model_hold.onnx").exists()

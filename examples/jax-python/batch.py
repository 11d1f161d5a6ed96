"""A thousand plans in one call of JAX, beside the library's own batch: python3 batch.py flight.dgm (needs jax, msgpack and the
package in python/). On one core:

    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1" taskset -c 0 python3 batch.py flight.dgm

The function is pure: jit compiles it, vmap maps it over plans, grad differentiates a cost of its means and standard
deviations. With the name of an exported ONNX model (dgm-bridge export onnx --plan-rows 20) it is measured too.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import dgm

ROWS = 20


def plans_of(f, n, seed=1):
    """A state (K) and n plans (n, N, P) near zero."""
    random = np.random.default_rng(seed)
    x = 0.1 * random.normal(size=len(f.states))
    return np.float32(x), np.float32(0.1 * random.normal(size=(n, f.plan_rows, len(f.inputs))))


def batch(f):
    """Means and standard deviations (n, T, K) of plans (n, N, P) from one state."""
    return jax.jit(jax.vmap(lambda x, plan: f(x, plan=plan), in_axes=(None, 0)))


def means(f):
    """Means alone: what is not used is not computed."""
    return jax.jit(jax.vmap(lambda x, plan: f(x, plan=plan)[0], in_axes=(None, 0)))


def gradients(f):
    """The gradients (n, N, P) of a cost of each plan: squares of the means, and of the standard deviations."""
    def cost(plan, x):
        mean, std = f(x, plan=plan)
        return jnp.square(mean).mean() + jnp.square(std).mean()

    return jax.jit(jax.vmap(jax.grad(cost), in_axes=(0, None)))


def milliseconds(call, times=15):
    """The middle of the processor times of a call, after the first; the first in seconds."""
    before = time.perf_counter()
    call()
    first, all_ = time.perf_counter() - before, []
    for _ in range(times):
        before = time.process_time()
        call()
        all_.append(1e3 * (time.process_time() - before))
    return np.median(all_), first


def run(path, n=1000, onnx=None):
    """Predicts plans by the library and by JAX, prints both times, and returns the largest differences of means and of standard
    deviations, in standard deviations."""
    m = dgm.Model.load(path)
    f = dgm.jax(m, plan_rows=ROWS)
    x, plans = plans_of(f, n)
    work = {
        "library, means": lambda: m.batch(x, plans, std=False, workers=1),
        "library": lambda: m.batch(x, plans, workers=1),
    }
    one, many, slope = means(f), batch(f), gradients(f)
    work["JAX, means"] = lambda: jax.block_until_ready(one(x, plans))
    work["JAX"] = lambda: jax.block_until_ready(many(x, plans))
    work["JAX, gradient of a cost"] = lambda: jax.block_until_ready(slope(plans, x))
    if onnx:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
        given = {"x": x[None], "plan": plans}
        work["ONNX Runtime, means"] = lambda: session.run(["mean"], given)
        work["ONNX Runtime"] = lambda: session.run(["mean", "std"], given)
    for name, call in work.items():
        took, first = milliseconds(call)
        print(f"{name}: {took:.1f} ms for {n} plans ({len(f.times)} times, {len(f.states)} states); the first call {first:.1f} s")
    want = m.batch(x, plans)
    mean, std = many(x, plans)
    assert np.isfinite(slope(plans, x)).all()
    differences = [float((np.abs(a - b) / want.std).max()) for a, b in ((mean, want.mean), (std, want.std))]
    print("the largest differences: {:.1e} standard deviations of means, {:.1e} of standard deviations".format(*differences))
    return differences


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: batch.py MODEL [ONNX]")
    run(sys.argv[1], onnx=sys.argv[2] if len(sys.argv) == 3 else None)

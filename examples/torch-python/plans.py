"""A thousand plans in PyTorch: python3 plans.py flight.dgm (needs torch, msgpack and the package in python/).

dgm.program reads the operations of a model; this page evaluates them in another system: one method for each. torch.compile
makes of it what runs here. Roll-outs are unrolled.
"""
import sys
import time

import numpy as np
import torch

import dgm
from dgm import program

ROWS = 20


class Operations:
    """One method for each operation: it takes the program, the operation and the values so far (rows × columns)."""

    def constant(self, v):
        return torch.tensor(np.asarray(v, np.float32))

    def affine(self, p, o, v):
        y = torch.zeros(p.shapes[o.out][0], 1) if o.c is None else self.constant(o.c)
        for x, m in o.parts:
            y = y + self.constant(m) @ v[x]
        return y.expand(p.shapes[o.out])

    def local(self, p, o, v):
        return torch.einsum("jrk,kj->rj", self.constant(o.m), v[o.x].expand(-1, p.shapes[o.out][1]))

    def products(self, p, o, v):
        terms = v[o.a][o.i.tolist()] * v[o.b][o.k.tolist()]
        sums = np.zeros((p.shapes[o.out][0], len(o.row)))
        sums[o.row, np.arange(len(o.row))] = o.s
        one = len(o.row) == len(sums) and (sums == np.eye(len(sums))).all()
        return terms if one else self.constant(sums) @ terms

    def weigh(self, p, o, v):
        y = self.constant(o.w) * v[o.x]
        return (y if o.c is None else y + self.constant(o.c)).expand(p.shapes[o.out])

    def columns(self, p, o, v):
        return v[o.x] @ self.constant(o.matrix(p.shapes[o.x][1], p.shapes[o.out][1]))

    def gather(self, p, o, v):
        return torch.cat([v[r][a:b].expand(-1, p.shapes[o.out][1]) for r, a, b in o.runs])

    def function(self, p, o, v):
        return getattr(torch, o.f)(v[o.x])

    def clamp(self, p, o, v):
        return torch.minimum(torch.maximum(v[o.x], self.constant(o.low)), self.constant(o.high))

    def sincos(self, p, o, v):
        return torch.cat([torch.cos(v[o.x]), torch.sin(v[o.x])])

    def largest(self, p, o, v):
        return v[o.x].reshape(-1, *p.shapes[o.out]).amax(0)

    def distances(self, p, o, v):
        return torch.square(v[o.x] - self.constant(o.points)[:, :, None]).sum(1)

    def repeat(self, p, o, v):
        if not o.every:
            raise NotImplementedError("this page unrolls: no repetition of which the last state counts")
        state, after = [v[c.initial] for c in o.carried], []
        fixed = {of: v[r] for r, of in o.fixed}
        for i in range(o.times):
            each = {of: v[r][:, i:i + 1] for r, of in o.each}
            values = o.body.evaluate(self, {**fixed, **each, **{c.into: s for c, s in zip(o.carried, state)}})
            state = [values[c.next] for c in o.carried]
            after.append(state)
        return [torch.cat(all_, 1) for all_ in zip(*after)]


def function(d):
    """f(x, plan) → mean, std (T, K), of a model without history."""
    p, operations = d.programs[d.condition(None, plan=True)], Operations()

    def f(x, plan):
        values = p.evaluate(operations, {r: {"x": x[:, None], "plan": plan.T}[name] for name, r in p.inputs.items()})
        start = x if d.origin is None else torch.tensor(np.float32(d.origin))
        return values[p.outputs["displacement"]].T + start, values[p.outputs["std"]].T

    return f


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


def run(path, n=1000, compiled=True):
    """Predicts plans, prints the times, and returns the largest difference of means from the library's in standard deviations."""
    torch.set_num_threads(1)
    m, random = dgm.Model.load(path), np.random.default_rng(1)
    f = function(program.read(m.program(ROWS)))
    x = np.float32(0.1 * random.normal(size=len(m.states)))
    plans = np.float32(0.1 * random.normal(size=(n, ROWS, len(m.inputs))))
    at, given = torch.tensor(x), torch.tensor(plans)
    both = torch.vmap(f, in_dims=(None, 0))
    means = torch.vmap(lambda x, plan: f(x, plan)[0], in_dims=(None, 0))
    with torch.no_grad():
        work = {"torch, means": means, "torch": both}
        if compiled:
            work.update({"torch.compile, means": torch.compile(means), "torch.compile": torch.compile(both)})
        for name, g in work.items():
            took, first = milliseconds(lambda: g(at, given))
            print(f"{name}: {took:.1f} ms for {n} plans ({len(m.times)} times, {len(m.states)} states); the first call {first:.1f} s", flush=True)
        mean = both(at, given)[0].numpy()
    want = m.batch(x, plans)
    difference = float((np.abs(mean - want.mean) / want.std).max())
    print(f"the largest difference: {difference:.1e} standard deviations")
    return difference


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: plans.py MODEL")
    run(sys.argv[1])

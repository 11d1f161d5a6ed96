"""What a planner asks: python3 whatif.py VEHICLE [nats://127.0.0.1:4222] (needs nats-py and msgpack).

Where is the robot if its input goes on, and where if it ends halfway? The planner learns the model first, and
the question brings the states before it, which models may read.
"""
import asyncio, collections, struct, sys
import msgpack, nats


def vector(b):
    return list(struct.unpack(f"<{len(b) // 8}d", b)) if isinstance(b, bytes) else b  # little-endian float64


async def ask(nc, vehicle, query):
    m = await nc.request("dgm.query." + vehicle, msgpack.packb({"v": 1, **query}), timeout=1)
    if not m.data:
        sys.exit("refused: " + m.headers["Nats-Service-Error"])
    return msgpack.unpackb(m.data)


def question(past, horizon):
    now = past[-1]
    on, off = now["u"], [0.0] * len(now["u"])  # of a vehicle with inputs
    return {
        "states": now["x"], "plans": on + on + on + off, "rows": 2, "plan_dt": horizon / 2,  # two plans of two rows
        "history_t": [(s["t"] - now["t"]) * 1e-9 for s in past],  # s before the state, ascending
        "history_x": [x for s in past for x in s["x"]], "history_u": [u for s in past for u in s["u"]],
    }


async def main():
    vehicle, url = (sys.argv[1:] + ["nats://127.0.0.1:4222"])[:2]
    nc = await nats.connect(url)
    model = await ask(nc, vehicle, {"want": "model"})
    print("states", model["channels"], "inputs", model["input_channels"], "horizon", model["model_horizon"], "s")
    sub = await nc.subscribe("dgm.state." + vehicle)
    past, n = collections.deque(maxlen=100), 0
    async for m in sub.messages:
        s = msgpack.unpackb(m.data)
        past.append({"t": s["t"], "x": vector(s["x"]), "u": vector(s["u"])})
        n += 1
        if n % 100:
            continue
        a = await ask(nc, vehicle, question(past, model["model_horizon"]))
        mean, std, K = vector(a["mean"]), vector(a["std"]), len(a["channels"])
        for i, what in enumerate(["input goes on", "input ends halfway"]):
            end = (i + 1) * len(mean) // 2 - K  # the last row
            row = ", ".join(f"{name} {mean[end + k]:.3f} ± {std[end + k]:.3f}" for k, name in enumerate(a["channels"]))
            print(f"{what}, in {vector(a['horizon'])[-1]:g} s: {row}", flush=True)


asyncio.run(main())

"""What a planner asks: python3 whatif.py VEHICLE [nats://127.0.0.1:4222] (needs nats-py and msgpack).

Where is the robot if its input goes on, and where if it is zero? The question brings the states before it,
which models may read.
"""
import asyncio, collections, struct, sys
import msgpack, nats


def vector(b):
    return list(struct.unpack(f"<{len(b) // 8}d", b)) if isinstance(b, bytes) else b  # little-endian float64


def question(past):
    now = past[-1]
    return msgpack.packb({
        "v": 1, "states": now["x"], "u": now["u"] + [0.0] * len(now["u"]),  # one state, two inputs: two questions
        "history_t": [(s["t"] - now["t"]) * 1e-9 for s in past],  # s before the state, ascending
        "history_x": [x for s in past for x in s["x"]], "history_u": [u for s in past for u in s["u"]],
    })


async def main():
    vehicle, url = (sys.argv[1:] + ["nats://127.0.0.1:4222"])[:2]
    nc = await nats.connect(url)
    sub = await nc.subscribe("dgm.state." + vehicle)
    past, n = collections.deque(maxlen=100), 0
    async for m in sub.messages:
        s = msgpack.unpackb(m.data)
        past.append({"t": s["t"], "x": vector(s["x"]), "u": vector(s["u"])})
        n += 1
        if n % 100:
            continue
        m = await nc.request("dgm.query." + vehicle, question(past), timeout=1)
        if not m.data:
            sys.exit("refused: " + m.headers["Nats-Service-Error"])
        a = msgpack.unpackb(m.data)
        mean, std, K = vector(a["mean"]), vector(a["std"]), len(a["channels"])
        for i, what in enumerate(["input held", "no input"]):
            end = (i + 1) * len(mean) // 2 - K  # the last row
            row = ", ".join(f"{name} {mean[end + k]:.3f} ± {std[end + k]:.3f}" for k, name in enumerate(a["channels"]))
            print(f"{what}, in {vector(a['horizon'])[-1]:g} s: {row}", flush=True)


asyncio.run(main())

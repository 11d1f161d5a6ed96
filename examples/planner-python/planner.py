"""What a planner does with predictions: python3 planner.py [nats://127.0.0.1:4222] (needs nats-py and msgpack)."""
import asyncio, struct, sys
import msgpack, nats


def vector(b):
    return struct.unpack(f"<{len(b) // 8}d", b)  # little-endian float64


async def main():
    url = (sys.argv[1:] + ["nats://127.0.0.1:4222"])[0]
    nc = await nats.connect(url)
    sub = await nc.subscribe("dgm.predict.*")
    await nc.flush()
    print("listening at", url, flush=True)
    async for m in sub.messages:
        p = msgpack.unpackb(m.data)
        t, mean, std = vector(p["horizon"]), vector(p["mean"]), vector(p["std"])
        row = (len(t) - 1) * len(p["channels"])  # the last point; rows are times, columns are channels
        for k, (name, unit) in enumerate(zip(p["channels"], p["units"])):
            line = f"{p['vehicle']} {name} in {t[-1]:g} s: {mean[row + k]:.3f} ± {std[row + k]:.3f} {unit}"
            print(line + f", warnings {p['flags'] & 0xFFFF:#x}", flush=True)


asyncio.run(main())

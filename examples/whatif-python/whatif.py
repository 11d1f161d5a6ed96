"""What a planner asks: python3 whatif.py VEHICLE [nats://127.0.0.1:4222] (needs pip install './python[queries]').

Where is the robot if its input goes on, and where if it ends halfway? The planner learns the model first, and
the question brings the states before it, which models may read. VEHICLE is the name in the subjects
dgm.state.<vehicle>: dgm-estimator --vehicle, or else the model's; that of dgm-demo is its --system.
dgm-estimator status --nats URL lists all.
"""
import asyncio, collections, sys
import msgpack, nats.errors, numpy as np
from dgm import QueryClient, Refused
from dgm.queries import vector


async def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python3 whatif.py VEHICLE [URL]; dgm-estimator status lists the vehicles")
    vehicle, url = (sys.argv[1:] + ["nats://127.0.0.1:4222"])[:2]
    nc = await nats.connect(url)
    client = QueryClient(nc, vehicle)
    model = await client.model()
    print("states", model["channels"], "inputs", model["input_channels"], "horizon", model["model_horizon"], "s")
    sub = await nc.subscribe("dgm.state." + vehicle)
    past, n = collections.deque(maxlen=100), 0
    async for m in sub.messages:
        s = msgpack.unpackb(m.data)
        past.append((s["t"], vector(s["x"]), vector(s["u"])))
        n += 1
        if n % 100:
            continue
        t, x, u = (np.array(column) for column in zip(*past))
        on, off = u[-1], np.zeros_like(u[-1])  # of a vehicle with inputs
        plans = [[on, on], [on, off]]  # two plans of two rows
        a = await client.predict(x[-1], plans=plans, plan_dt=model["model_horizon"] / 2, history=((t - t[-1]) * 1e-9, x, u))
        for i, what in enumerate(["input goes on", "input ends halfway"]):
            row = ", ".join(f"{name} {a.mean[i, -1, k]:.3f} ± {a.std[i, -1, k]:.3f}" for k, name in enumerate(a.channels))
            print(f"{what}, in {a.times[-1]:g} s: {row}", flush=True)


try:
    asyncio.run(main())
except Refused as e:
    sys.exit(f"refused: {e}")
except nats.errors.NoRespondersError:
    sys.exit(f"no estimator answers for the vehicle {sys.argv[1]!r}; dgm-estimator status lists those that run")

"""A client by the websockets library: subscribes to all channels of a server and writes what it gets of the first
messages as JSON. Usage: python3 client.py ws://127.0.0.1:8765 COUNT"""
import asyncio, json, struct, sys
import websockets


async def main():
    async with websockets.connect(sys.argv[1], subprotocols=["foxglove.websocket.v1"]) as ws:
        info = json.loads(await ws.recv())
        channels = json.loads(await ws.recv())["channels"]
        await ws.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 100 + c["id"], "channelId": c["id"]} for c in channels]}))
        await (await ws.ping())
        print("subscribed", flush=True)
        messages = []
        while len(messages) < int(sys.argv[2]):
            m = await ws.recv()
            if isinstance(m, bytes):
                op, sub, t = struct.unpack_from("<BIQ", m)
                messages.append({"op": op, "subscription": sub, "t": t, "data": json.loads(m[13:])})
            else:
                channels += json.loads(m)["channels"]
        print(json.dumps({"protocol": ws.subprotocol, "info": info, "channels": channels, "messages": messages}), flush=True)


asyncio.run(main())

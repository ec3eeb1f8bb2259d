"""Asks a server over REST, closed loop (each connection asks again when it is answered) or open loop
(requests come at random moments of a rate, whoever waits):

    load.py PORT MODEL --connections 8 --seconds 5 [--rate 100]

Prints one line of JSON: requests, failures, seconds and latencies in milliseconds. In the open loop
a latency counts from the moment at which the request was due.
"""

import argparse
import asyncio
import json
import random
import time

import numpy as np

WORDS = ("time year people way day man thing woman life child world school state family student "
         "group country problem hand part place case week company system program question work "
         "government number night point home water room mother area money story fact month lot "
         "right study book eye job word business issue side kind head house service friend").split()


def texts(random_source):
    """A text of 5 to 200 words in JSON; the embedding is wanted as bytes."""
    words = " ".join(random_source.choices(WORDS, k=random_source.randint(5, 200)))
    body = json.dumps({"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES",
                                   "data": [words]}],
                       "parameters": {"binary_data_output": True}}).encode()
    return body, ""


def pictures(random_source):
    """A picture as bytes."""
    x = np.random.default_rng(random_source.randrange(2**32)).standard_normal(
        (1, 3, 224, 224), np.float32)
    head = json.dumps({"inputs": [{"name": "x", "shape": list(x.shape), "datatype": "FP32",
                                   "parameters": {"binary_data_size": x.nbytes}}],
                       "parameters": {"binary_data_output": True}}).encode()
    return head + x.tobytes(), f"Inference-Header-Content-Length: {len(head)}\r\n"


MAKERS = {"minilm": (texts, 512), "resnet50": (pictures, 16)}


def requests_of(model):
    make, count = MAKERS[model]
    source = random.Random(5)
    made = []
    for _ in range(count):
        body, header = make(source)
        made.append(f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: a\r\n{header}"
                    f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return made


class Load:
    def __init__(self, port, requests):
        self._port, self._requests = port, requests
        self._next = 0
        self.latencies, self.failures = [], 0

    async def _ask(self, reader, writer, due):
        request = self._requests[self._next % len(self._requests)]
        self._next += 1
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"\r\ncontent-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        self.latencies.append(time.perf_counter() - due)
        self.failures += head[9:12] != b"200"

    async def closed(self, connections, seconds):
        end = time.perf_counter() + seconds

        async def one():
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            while (now := time.perf_counter()) < end:
                await self._ask(reader, writer, now)
            writer.close()

        await asyncio.gather(*[one() for _ in range(connections)])

    async def open(self, connections, seconds, rate):
        due, source = asyncio.Queue(), random.Random(9)

        async def one():
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            while (moment := await due.get()) is not None:
                await self._ask(reader, writer, moment)
            writer.close()

        workers = [asyncio.ensure_future(one()) for _ in range(connections)]
        moment = time.perf_counter()
        end = moment + seconds
        while (moment := moment + source.expovariate(rate)) < end:
            await asyncio.sleep(max(moment - time.perf_counter(), 0))
            due.put_nowait(moment)
        for _ in workers:
            due.put_nowait(None)
        await asyncio.gather(*workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("port", type=int)
    parser.add_argument("model", choices=MAKERS)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=float)
    given = parser.parse_args()
    load = Load(given.port, requests_of(given.model))
    begun = time.perf_counter()
    if given.rate:
        asyncio.run(load.open(given.connections, given.seconds, given.rate))
    else:
        asyncio.run(load.closed(given.connections, given.seconds))
    spent = time.perf_counter() - begun
    print(json.dumps({"requests": len(load.latencies), "failures": load.failures,
                      "seconds": spent, "latencies": [round(1e3 * one, 3)
                                                      for one in load.latencies]}))


if __name__ == "__main__":
    main()

"""Ten minutes of mixed models, reloads, bad requests and bad clients: soak.py [--minutes 10]

    build/serve/bin/python bench/serving/soak.py

(with PYTHONPATH=build/release/python) starts fxjit-serve on the loopback address with models of
tests/import/models and asks it from a bounded number of threads. It fails where the server ends,
an answer is not PyTorch's, a bad request gets another code than the protocol's, or the server's
memory grows after the first quarter. A line a minute and a table at the end.
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import sys
import tempfile
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

import tritonclient.grpc as over_grpc  # noqa: E402
import tritonclient.http as over_http  # noqa: E402
from cases import case_of  # noqa: E402
from hostile import memory  # noqa: E402
from serving_server import CHANGES, inputs_of, make_repository, serving  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

NAMES = ("perceptron", "attention", "bert", "resnet", "images")
MOST_GROWTH = 32 << 20


class Tally:
    """What happened, by name; the first faults in words. changes: how often each model was
    unloaded or loaded after that: an odd number where it is gone."""

    def __init__(self):
        self.counts, self.faults = collections.Counter(), []
        self.changes = collections.Counter()
        self._lock = threading.Lock()

    def add(self, name):
        with self._lock:
            self.counts[name] += 1

    def fault(self, text):
        with self._lock:
            self.counts["FAULT"] += 1
            self.faults.append(text)


def near(got, wanted):
    largest = max(np.abs(wanted).max(initial=0), 1e-6)
    return got.shape == wanted.shape and np.abs(got - wanted).max(initial=0) <= 1e-4 * largest


def names_of(server, name):
    _, about = server.json("GET", f"/v2/models/{name}")
    return [one["name"] for one in about["outputs"]]


def ask_well(server, tally, stop, protocol, port, seed):
    """Right requests; a model that is just being reloaded may be gone for a moment."""
    choose = random.Random(seed)
    cases = {name: case_of(name) for name in NAMES}
    outputs = {name: names_of(server, name) for name in NAMES}
    with protocol.InferenceServerClient(f"127.0.0.1:{port}") as client:
        while not stop.is_set():
            name = choose.choice(NAMES)
            inputs, answers = cases[name]
            before = tally.changes[name]
            try:
                result = client.infer(name, inputs_of(protocol, inputs))
            except InferenceServerException as error:
                gone = before % 2 or tally.changes[name] != before
                if gone and any(code in error.status() for code in ("503", "UNAVAILABLE")):
                    tally.add("asked while unloaded")
                else:
                    tally.fault(f"{name}: {error}")
                continue
            right = all(near(result.as_numpy(output), answer)
                        for output, answer in zip(outputs[name], answers))
            tally.add("right answers") if right else tally.fault(f"{name}: a wrong answer")


def reload(server, tally, stop, folder):
    """Touches files and loads them anew, unloads and loads, adds versions and takes them away."""
    choose = random.Random(7)
    while not stop.wait(0.5):
        name = choose.choice(NAMES)
        # The first is what bad requests ask for: it is always there.
        kind = choose.choice(("touch", "version", "unload")[:2 + (name != NAMES[0])])
        if kind == "touch":
            os.utime(folder / name / "1" / f"{name}.pt2")
        elif kind == "version":
            second = folder / name / "2"
            if second.exists():
                shutil.rmtree(second)
            else:
                shutil.copytree(folder / name / "1", second)
        else:
            tally.changes[name] += 1
            server.change(name, "unload")
        status, answer = server.change(name)
        tally.changes[name] += tally.changes[name] % 2
        tally.add(f"reloads: {kind}") if status == 200 else tally.fault(f"load: {answer}")


def bad_bodies():
    """Name, body, headers and the code that the protocol has for it."""
    def body(**changes):
        return json.dumps({"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32",
                                       "data": [0.0] * 8, **changes}]}).encode()

    whole = body()
    binary = json.dumps({"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32",
                                     "parameters": {"binary_data_size": 32}}]}).encode()
    length = {"Inference-Header-Content-Length": str(len(binary))}
    return [
        ("cut off JSON", whole[:len(whole) // 2], {}, 400),
        ("cut off binary", binary + b"\0" * 9, length, 400),
        ("too much binary", binary + b"\0" * 40, length, 400),
        ("wrong dtype", body(datatype="INT32", data=[0] * 8), {}, 400),
        ("unknown dtype", body(datatype="FLOAT"), {}, 400),
        ("wrong shape", body(shape=[1, 9], data=[0.0] * 9), {}, 400),
        ("wrong rank", body(shape=[8]), {}, 400),
        ("wrong name", body(name="y"), {}, 400),
        ("sizes that overflow", body(shape=[2**61, 2**61]), {}, 400),
        ("a size beyond 64 bits", body(shape=[2**64 + 1, 8]), {}, 400),
        ("a negative size", body(shape=[-1, 8]), {}, 400),
        ("deep nesting", b"[" * 100000, {}, 400),
        ("no UTF-8", b"\xff" * 100, {}, 400),
        ("packed noise", os.urandom(500), {"Content-Encoding": "gzip"}, 400),
        ("a length that lies", binary, {"Inference-Header-Content-Length": "999999"}, 400),
        ("no body", b"", {}, 400)]


def ask_badly(server, tally, stop):
    bodies = bad_bodies()
    while not stop.wait(0.01):
        name, body, headers, wanted = random.choice(bodies)
        status, _ = server.json("POST", "/v2/models/perceptron/infer", body, headers)
        tally.add(f"bad: {name}") if status == wanted else tally.fault(f"{name}: {status}")
        status, _ = server.json("POST", f"/v2/models/{random.randbytes(8).hex()}/infer", b"{}")
        tally.add("bad: unknown model") if status == 404 else tally.fault(f"unknown: {status}")


def send_too_much(server, tally, stop):
    """Bodies of 100 MB: the server answers 413 and may close before all is sent."""
    while not stop.wait(5):
        connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=30)
        try:
            connection.request("POST", "/v2/models/perceptron/infer", b" " * 100_000_000)
            status = connection.getresponse().status
        except (ConnectionError, BrokenPipeError):
            status = 413
        finally:
            connection.close()
        tally.add("bad: 100 MB") if status == 413 else tally.fault(f"100 MB: {status}")
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            x = over_grpc.InferInput("x", [12_500_000, 2], "FP32")
            x.set_data_from_numpy(np.zeros((12_500_000, 2), np.float32))
            try:
                client.infer("perceptron", [x])
                tally.fault("100 MB over gRPC: taken")
            except InferenceServerException as error:
                known = "RESOURCE_EXHAUSTED" in error.status()
                tally.add("bad: 100 MB over gRPC") if known else tally.fault(str(error))


def dawdle(server, tally, stop):
    """Clients that send a byte at a time, close one half, or go away in the middle."""
    body = bad_bodies()[3][1]
    head = ("POST /v2/models/perceptron/infer HTTP/1.1\r\nHost: a\r\nContent-Length: "
            f"{len(body)}\r\n\r\n").encode()
    while not stop.wait(0.2):
        kind = random.choice(("slow", "half closed", "gone", "idle"))
        with socket.create_connection(("127.0.0.1", server.http), timeout=30) as one:
            if kind == "slow":
                for byte in head + body[:40]:
                    one.sendall(bytes([byte]))
                    if stop.wait(0.002):
                        break
            elif kind == "half closed":
                one.sendall(head + body)
                one.shutdown(socket.SHUT_WR)
                one.recv(4096)
            elif kind == "gone":
                one.sendall(head + body[:20])
            else:
                stop.wait(0.2)
        tally.add(f"clients: {kind}")


def watch(server, tally, seconds):
    """The largest memory of the first quarter after the start, and of the last."""
    begun, told = time.monotonic(), 0
    first = last = 0
    while (spent := time.monotonic() - begun) < seconds:
        if server.process.poll() is not None:
            tally.fault(f"the server ended: {server.process.returncode}")
            break
        size = memory(server.process.pid, "VmRSS")
        if seconds / 8 < spent < seconds / 2:
            first = max(first, size)
        elif spent > seconds * 3 / 4:
            last = max(last, size)
        if spent >= told:
            told += 60
            print(f"{spent:5.0f} s  {size >> 20} MB  {sum(tally.counts.values())} requests  "
                  f"{tally.counts['FAULT']} faults", flush=True)
        time.sleep(1)
    return first, last


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    minutes = parser.parse_args().minutes
    tally, stop = Tally(), threading.Event()
    with tempfile.TemporaryDirectory() as place:
        folder = make_repository(pathlib.Path(place), [(name, 1) for name in NAMES])
        with serving(folder, *CHANGES) as server:
            work = [(ask_well, over_http, server.http, 1), (ask_well, over_http, server.http, 2),
                    (ask_well, over_grpc, server.grpc, 3), (ask_badly,), (send_too_much,),
                    (dawdle,), (dawdle,), (reload, folder)]
            threads = [threading.Thread(target=function, args=(server, tally, stop, *more))
                       for function, *more in work]
            for thread in threads:
                thread.start()
            first, last = watch(server, tally, 60 * minutes)
            stop.set()
            for thread in threads:
                thread.join()
            if server.json("GET", "/v2/health/ready")[0] != 200:
                tally.fault("not ready at the end")
            for line in list(server.lines):
                if "traceback" in line or line.keys() == {"event"}:
                    tally.fault(f"the log has {line}")
    if last > first + MOST_GROWTH:
        tally.fault(f"memory grew from {first >> 20} to {last >> 20} MB")
    for name, count in sorted(tally.counts.items()):
        print(f"{count:9}  {name}")
    print(f"memory: {first >> 20} MB before the middle, {last >> 20} MB in the last quarter")
    print("\n".join(tally.faults[:20]))
    return bool(tally.faults)


if __name__ == "__main__":
    sys.exit(main())

"""Serves MODEL by KServe's own server and asks it once: ask_kserve_server.py MODEL, with the input
as JSON on standard input. Prints the output."""

import http.client
import json
import os
import signal
import socket
import sys
import threading
import time

path = sys.argv[1]
del sys.argv[1:]  # KServe would read it.
import kserve  # noqa: E402
from fxjit.serving.kserve_model import FxjitModel  # noqa: E402


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, body):
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("POST", "/v2/models/perceptron/infer", body,
                               {"content-type": "application/json"})
            return json.load(connection.getresponse())
        except ConnectionError:
            time.sleep(0.05)
    raise TimeoutError


def work(port, x):
    try:
        body = {"inputs": [{"name": "x", "shape": [len(x), len(x[0])], "datatype": "FP32",
                            "data": [number for row in x for number in row]}]}
        (output,) = ask(port, json.dumps(body))["outputs"]
        rows, columns = output["shape"]
        print(json.dumps([output["data"][row * columns:(row + 1) * columns]
                          for row in range(rows)]))
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


model = FxjitModel("perceptron", path)
model.load()
port = free_port()
threading.Thread(target=work, args=(port, json.load(sys.stdin)), daemon=True).start()
kserve.ModelServer(http_port=port, enable_grpc=False).start([model])

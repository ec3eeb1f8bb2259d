"""fxjit-serve in a process of its own, on free ports of the loopback address."""

import collections
import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from cases import path_of


def make_repository(folder, models):
    """Writes name/version/name.pt2 for each (name, version)."""
    for name, version in models:
        place = folder / name / str(version)
        place.mkdir(parents=True)
        shutil.copy(path_of(name), place)
    return folder


def inputs_of(library, arrays, **options):
    """Of a tritonclient library."""
    made = []
    for name, array in arrays.items():
        types = {"float32": "FP32", "int64": "INT64", "bool": "BOOL", "object": "BYTES"}
        one = library.InferInput(name, array.shape, types[str(array.dtype)])
        one.set_data_from_numpy(array, **options)
        made.append(one)
    return made


class Running:
    """Ports, and the lines of the log so far."""

    def __init__(self, process):
        self.process, self.lines = process, collections.deque(maxlen=10000)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        about = self.wait_for("listening")
        self.http, self.grpc = about.get("http"), about.get("grpc")
        self.admin = about.get("admin")

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(json.loads(line) if line.startswith("{") else {"event": line})

    def wait_for(self, event, seconds=60, **fields):
        """The first line of the log with this event and these fields."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for line in list(self.lines):
                if line["event"] == event and fields.items() <= line.items():
                    return line
            if self.process.poll() is not None and not self._reader.is_alive():
                break
            time.sleep(0.02)
        raise AssertionError(f"no {event} in {self.lines}")

    def ask(self, method, path, body=None, headers=None, port=None):
        """Status, headers and body of one request over REST."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.http, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, headers=None, port=None):
        text = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        status, _, reply = self.ask(method, path, text, headers, port)
        return status, json.loads(reply)

    def change(self, name, what="load"):
        """Status and answer of loading or unloading a model on the admin port."""
        return self.json("POST", f"/v2/repository/models/{name}/{what}", port=self.admin)

    def metrics(self):
        """Values of /metrics by name and labels, as they are written."""
        _, _, text = self.ask("GET", "/metrics", port=self.admin)
        lines = [line.rsplit(" ", 1) for line in text.decode().splitlines() if line[:1] != "#"]
        return {name: float(value) for name, value in lines}


# Models may be loaded and unloaded, on a port of its own.
CHANGES = ("--repository-changes", "--admin", "0")


def start(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-B", "-m", "fxjit.serving", "--http", "0", "--grpc", "0",
         *map(str, arguments)], stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment})


@contextlib.contextmanager
def serving(*arguments, loaded=True, **environment):
    process = start(*arguments, **environment)
    try:
        running = Running(process)
        if loaded:
            running.wait_for("loaded")
        yield running
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()

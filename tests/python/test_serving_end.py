"""How fxjit-serve ends while it works: the grace, a second signal, a signal while it loads."""

import importlib.util
import queue
import signal
import time

import numpy as np
import pytest
from hostile import UnfinishedMessage, connected, ended, head_of
from serving_server import make_repository, serving
from test_serving_life import BODY, make_slow

for needed in ("kserve", "tritonclient"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import tritonclient.grpc as over_grpc  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "models", [("perceptron", 1)])


def test_the_grace_bounds_a_running_call(folder):
    """The call sleeps for an hour."""
    make_slow(folder, 3600, 0)
    x = over_grpc.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    with serving(folder, "--front-code", "--grace-seconds", "0.5") as server, \
            over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client, \
            connected(server.http) as one:
        failures = []
        for _ in range(3):
            client.async_infer("perceptron", [x], lambda result, error: failures.append(error))
        one.sendall(head_of(Content_Length=len(BODY)) + BODY)
        message = UnfinishedMessage(server.grpc, 1000)
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        reply = ended(one)
        assert reply.startswith(b"HTTP/1.1 503") and b"the server stops" in reply
        assert server.process.wait(30) == 0
        message.close()
        end = time.monotonic() + 30
        while len(failures) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        assert [one.status() for one in failures] == ["StatusCode.UNAVAILABLE"] * 3


def test_a_stream_whose_call_runs_is_told_of_the_end(folder):
    make_slow(folder, 3600, 0)
    x = over_grpc.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    came = queue.Queue()
    with serving(folder, "--front-code", "--grace-seconds", "0.5") as server, \
            over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        client.start_stream(lambda result, error: came.put(str(error)))
        client.async_stream_infer("perceptron", [x])
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        assert "the server stops" in came.get(timeout=30)
        assert server.process.wait(30) == 0


def test_a_second_signal_ends_at_once(folder):
    make_slow(folder, 3600, 0)
    with serving(folder, "--front-code", "--grace-seconds", "3600") as server, \
            connected(server.http) as one:
        one.sendall(head_of(Content_Length=len(BODY)) + BODY)
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 128 + signal.SIGTERM


def test_a_signal_while_loading_ends_it(folder):
    make_slow(folder, 0, 0)
    front = folder / "perceptron" / "front.py"
    front.write_text(front.read_text() + "\ntime.sleep(3600)\n")
    with serving(folder, "--front-code", loaded=False) as server:
        assert server.json("GET", "/v2/health/ready")[0] == 400
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0

"""What hostile clients may take of fxjit-serve: memory, and lines of its log."""

import collections
import contextlib
import gzip
import importlib.util
import json
import queue
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hostile import UnfinishedMessage, connected, ended, head_of, memory, unfinished_chunks
from serving_server import make_repository, serving, start
from test_serving_life import BODY

for needed in ("kserve", "tritonclient"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import tritonclient.grpc as over_grpc  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

MB = 1 << 20
CAP = 128  # MB of what requests hold, in these tests.
BEYOND = 200  # MB that the process may have beside that.
INFER = "/v2/models/perceptron/infer"


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "models", [("perceptron", 1)])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One for many tests: what they take does not add up either."""
    folder = make_repository(tmp_path_factory.mktemp("models"), [("perceptron", 1)])
    with serving(folder, "--max-held-mb", CAP, "--max-body-mb", "64") as running:
        yield running


def answers(server):
    return server.json("POST", INFER, BODY)[0] == 200


def body_of(data, shape=(1, 8), datatype="FP32"):
    return (f'{{"inputs": [{{"name": "x", "shape": {list(shape)}, "datatype": "{datatype}", '
            f'"data": {data}}}]}}').encode()


def test_texts_among_numbers_take_a_small_multiple_of_their_bytes(server):
    """160 KB of JSON, of which NumPy would make 8 GB."""
    assert answers(server)
    before = memory(server.process.pid)
    texts = json.dumps(["x" * 100_000] + [""] * 20_000)
    status, answer = server.json("POST", INFER, body_of(texts, [20_001]))
    assert status == 400 and "numbers of FP32" in answer["error"]
    assert memory(server.process.pid) < before + 16 * MB


def test_byte_contents_among_numbers_are_refused_over_grpc(server):
    x = over_grpc.InferInput("x", [20_001], "FP32")
    x._input.contents.bytes_contents.extend([b"x" * 100_000] + [b""] * 20_000)
    before = memory(server.process.pid)
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        with pytest.raises(InferenceServerException, match="fp32_contents, not bytes_contents"):
            client.infer("perceptron", [x])
    assert memory(server.process.pid) < before + 16 * MB


@pytest.mark.parametrize("piece", [b"[],", b'"",', b"0,"])
def test_a_bomb_stays_below_the_cap(server, piece):
    """60 KB that unpack to 60 MB, in the elements of a tensor and beside them."""
    many = piece * (60 * MB // len(piece))
    for body in (body_of(f"[{many.decode()}0]"), b'{"inputs": [' + many + b"0]}"):
        status, _ = server.json("POST", INFER, gzip.compress(body, 6), {"Content-Encoding": "gzip"})
        assert status in (400, 413, 503)
    assert memory(server.process.pid) < (CAP + BEYOND) * MB
    assert answers(server)


def test_nothing_is_reserved_for_a_model_that_is_not_there(server):
    with connected(server.http) as one:
        one.sendall(head_of("none", Content_Length=60 * MB))
        assert one.recv(4096).startswith(b"HTTP/1.1 404")


def test_declared_bytes_are_reserved_as_they_come(server):
    """Eight clients with 60 MB declared and one byte sent lock nobody out of 128 MB."""
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            one = stack.enter_context(connected(server.http))
            one.sendall(head_of(Content_Length=60 * MB) + b"{")
        assert answers(server)


def test_a_cap_below_one_body_is_refused_at_the_start(folder):
    process = start(folder, "--max-body-mb", "64", "--max-held-mb", "63")
    _, text = process.communicate(timeout=60)
    assert process.returncode == 1 and "at least --max-body-mb" in text


def test_unfinished_chunked_bodies_stay_below_the_cap(server):
    """20 of 60 MB, of which each is complete but for its end."""
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(unfinished_chunks(server.http, 60 * MB))
        assert memory(server.process.pid) < (CAP + BEYOND) * MB
    assert answers(server)


def test_messages_that_never_end_stay_below_the_cap(server):
    """10 of 60 MB, all but their last byte; an honest client is answered beside them."""
    sent = [UnfinishedMessage(server.grpc, 60 * MB) for _ in range(10)]
    try:
        for one in sent:
            one.send(seconds=2)
        assert memory(server.process.pid) < (CAP + BEYOND) * MB
        x = over_grpc.InferInput("x", [1, 8], "FP32")
        x.set_data_from_numpy(np.zeros((1, 8), np.float32))
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            client.infer("perceptron", [x])
    finally:
        for one in sent:
            one.close()


@pytest.mark.parametrize("method", [
    "/inference.GRPCInferenceService/ModelStreamInfer", "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"])
def test_no_method_holds_messages_that_never_end(server, method):
    """10 of 60 MB, of which each is complete but for its last byte; bodies of REST beside them."""
    before = memory(server.process.pid, "VmRSS")
    sent = [UnfinishedMessage(server.grpc, 60 * MB, method) for _ in range(10)]
    try:
        with ThreadPoolExecutor(len(sent)) as threads:
            list(threads.map(UnfinishedMessage.send, sent))
        now = memory(server.process.pid, "VmRSS")
        assert now < max(before, CAP * MB) + BEYOND * MB
        assert answers(server)
    finally:
        for one in sent:
            one.close()


def test_streams_of_requests_have_a_bound_that_their_end_gives_back(server):
    """One, where a quarter of the account has no room for two of the largest messages."""
    x = over_grpc.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    for _ in range(2):
        came = queue.Queue()
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client, \
                over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as other:
            client.start_stream(lambda result, error: came.put((result, error)))
            client.async_stream_infer("perceptron", [x])
            assert came.get(timeout=30)[1] is None
            assert server.metrics()["fxjit_held_bytes"] == CAP * MB // 4
            other.start_stream(lambda result, error: came.put((result, error)))
            assert "at most 1 streams may be open" in str(came.get(timeout=30)[1])
            client.infer("perceptron", [x])
        end = time.monotonic() + 30
        while server.metrics()["fxjit_held_bytes"] and time.monotonic() < end:
            time.sleep(0.05)
        assert server.metrics()["fxjit_held_bytes"] == 0


def test_refused_bodies_do_not_stay(server):
    """40 of 20 MB in a row, and 40 that are too large."""
    for size, wanted in ((20, 400), (60, 413)):
        body = body_of("[" + "1," * (size * MB // 2 - 100) + "x]")
        for _ in range(40):
            assert server.json("POST", INFER, body)[0] == wanted
    assert memory(server.process.pid) < (CAP + BEYOND) * MB


def test_headers_have_a_bound(server):
    with connected(server.http) as one:
        with contextlib.suppress(ConnectionError):
            for _ in range(64):
                one.sendall(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000)
        assert ended(one)[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400", b"")
    assert memory(server.process.pid) < (CAP + BEYOND) * MB


def test_lines_of_the_log_are_short_and_refusals_few(server):
    x = over_grpc.InferInput("x", [1, 7], "FP32")
    x.set_data_from_numpy(np.zeros((1, 7), np.float32))
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        with pytest.raises(InferenceServerException):
            client.infer("perceptron", [x], request_id="\n" * 200_000)
    for _ in range(200):
        server.json("POST", INFER, b"{")
    server.wait_for("refused", reason="bad_request")
    lines = list(server.lines)
    assert max(len(json.dumps(line)) for line in lines) <= 1024
    # Ten of one reason in a second of the log's own clock; a second of the lines' times meets two.
    refusals = collections.Counter((line["reason"], line["time"][:19]) for line in lines
                                   if line["event"] == "refused")
    assert max(refusals.values()) <= 20


def test_a_message_beyond_the_bound_is_refused(server):
    """Also one that is so large only when it is unpacked."""
    x = over_grpc.InferInput("x", [65 * MB // 4, 1], "FP32")
    x.set_data_from_numpy(np.zeros((65 * MB // 4, 1), np.float32))
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        for packing in (None, "gzip"):
            with pytest.raises(InferenceServerException) as caught:
                client.infer("perceptron", [x], compression_algorithm=packing)
            assert "RESOURCE_EXHAUSTED" in caught.value.status()
    assert memory(server.process.pid) < (CAP + BEYOND) * MB

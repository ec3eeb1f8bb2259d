"""What fxjit-serve refuses, by which codes, and what it says of it."""

import gzip
import importlib.util
import json
import socket

import numpy as np
import pytest
from cases import case_of, close
from serving_server import inputs_of, make_repository, serving

for needed in ("kserve", "tritonclient"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import tritonclient.grpc as over_grpc  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = make_repository(tmp_path_factory.mktemp("models"), [("perceptron", 1)])
    with serving(folder) as running:
        yield running


def x_of(**changes):
    return {"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32", "data": [0.0] * 8,
                        **changes}]}


@pytest.mark.parametrize("body, part", [
    (b"{", "JSON"),
    (b"[]", "object"),
    ({"inputs": 3}, "inputs"),
    ({"inputs": [3]}, "name"),
    (x_of(name="y"), "expected the inputs x, got y"),
    ({"inputs": []}, "got none"),
    ({"inputs": x_of()["inputs"] * 2}, "twice"),
    (x_of(datatype="FP64"), "expected FP32, got FP64"),
    (x_of(datatype="float"), "datatype"),
    (x_of(datatype=None), "datatype"),
    (x_of(datatype="FP32", data=["a"] * 8), "numbers of FP32, but element 0 is \"a\""),
    (x_of(data=[0.0] * 7 + [True]), "element 7 is true"),
    (x_of(datatype="BOOL", data=[True] * 7 + [1]), "element 7 is 1"),
    (x_of(datatype="INT64", data=[1] * 7 + [1.0]), "element 7 is 1.0"),
    (x_of(datatype="INT8", data=[128] * 8), "element 0 is 128"),
    (x_of(data=[0.0] * 7 + [1e39]), "element 7 is 1e+39"),
    (x_of(datatype="FP16", data=[0.0] * 7 + [65520]), "element 7 is 65520"),
    (x_of(data=[[[[[[[[[0.0]]]]]]]]]), "8 deep"),
    (x_of(data=3), "expected a list"),
    (x_of(data={"a": [0.0] * 8}), "expected a list"),
    (b'{"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32", "data": [1, 2,]}]}',
     "JSON"),
    (x_of(shape=[0, 2**62, 2**62], data=[]), "too many"),
    (x_of(data=[0.0] * 7), "8 elements"),
    (x_of(data=None), "data"),
    (x_of(data=[[0.0], [0.0, 1.0]]), "data"),
    (x_of(shape=[8]), "shape"),
    (x_of(shape=[1, -8]), "sizes"),
    (x_of(shape=[2**62, 2**62]), "too many"),
    (x_of(shape=[2**70, 8]), "sizes"),
    (x_of(shape=[True, 8]), "sizes"),
    (x_of(shape=[1.0, 8]), "sizes"),
    (x_of(shape="1, 8"), "shape"),
    (x_of(shape=[1] * 9), "at most 8"),
    (x_of(shape=[65, 8], data=[0.0] * 520), "64"),
    (x_of(parameters={"binary_data_size": 4}), "0 bytes that are left"),
    (x_of(parameters={"binary_data_size": -4}), "binary_data_size"),
    (x_of(parameters=[]), "parameters"),
    (x_of(parameters={"shared_memory_region": "r"}), "shared_memory_region"),
    ({**x_of(), "parameters": {"sequence_id": 3}}, "sequence_id"),
    ({**x_of(), "parameters": {"timeout": "soon"}}, "timeout"),
    ({**x_of(), "parameters": {"timeout": "9" * 400}}, "timeout"),
    ({**x_of(), "parameters": {"timeout": "9" * 5000}}, "timeout"),
    ({**x_of(), "parameters": {"priority": "first"}}, "priority"),
    ({**x_of(), "parameters": {"priority": True}}, "priority"),
    ({**x_of(), "parameters": {"binary_data_output": 1}}, "true or false"),
    ({**x_of(), "outputs": [{"name": "output", "parameters": {"binary_data": "no"}}]},
     "true or false"),
    ({**x_of(), "outputs": [{"name": "z"}]}, "output z"),
    ({**x_of(), "outputs": {"name": "z"}}, "lists"),
    ({**x_of(), "id": 3}, "id"),
])
def test_bad_bodies_are_refused(server, body, part):
    status, answer = server.json("POST", "/v2/models/perceptron/infer", body)
    assert status == 400
    assert part in answer["error"]


@pytest.mark.parametrize("size, tail, part", [
    ("8x", b"", "number"), ("99999", b"", "number"), ("9" * 400, b"", "number"),
    ("9" * 5000, b"", "number"), (None, b"\0" * 31, "got 31"),
    (None, b"\0" * 33, "behind")], ids=["text", "beyond", "400 digits", "5000 digits", "short", "long"])
def test_bad_binary_bodies_are_refused(server, size, tail, part):
    text = json.dumps({"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32",
                                   "parameters": {"binary_data_size": min(len(tail), 32)}}]})
    status, answer = server.json(
        "POST", "/v2/models/perceptron/infer", text.encode() + tail,
        {"Inference-Header-Content-Length": size or str(len(text))})
    assert status == 400
    assert part in answer["error"]


def test_what_is_packed_is_bounded(server):
    bomb = gzip.compress(b" " * (80 << 20))
    status, answer = server.json("POST", "/v2/models/perceptron/infer", bomb,
                                 {"Content-Encoding": "gzip"})
    assert (status, "unpacked" in answer["error"]) == (413, True)
    status, answer = server.json("POST", "/v2/models/perceptron/infer", bomb[:1000],
                                 {"Content-Encoding": "gzip"})
    assert (status, "cut off" in answer["error"]) == (400, True)


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/v2/nothing", 404), ("GET", "/v2/models/none", 404),
    ("GET", "/v2/models/perceptron/versions/9", 404), ("DELETE", "/v2/models/perceptron", 405),
    ("POST", "/v2/models/perceptron/versions//infer", 404),
    ("GET", "/v2/models/perceptron/infer", 405), ("POST", "/v2/health/live", 405),
    ("GET", "/v2/repository/index", 405),
    ("POST", "/v2/models/..%2F..%2Fetc/infer", 404), ("GET", "/v2/models/none/ready", 404),
    ("POST", "/v2/repository/models/none/load", 403),
    ("POST", "/v2/repository/models/none/unload", 403)])
def test_unknown_paths(server, method, path, status):
    got, answer = server.json(method, path, b"{}" if method == "POST" else None)
    assert (got, "error" in answer) == (status, True)


def test_a_forgotten_length_is_guessed(server):
    body = json.dumps(x_of(parameters={"binary_data_size": 32})).encode() + b"\0\xff" * 16
    status, answer = server.json("POST", "/v2/models/perceptron/infer", body)
    assert status == 400
    assert "looks like binary data without inference-header-content-length" in answer["error"]


def test_names_that_are_given_back_are_short(server):
    status, answer = server.json("POST", "/v2/models/perceptron/infer", x_of(name="y" * 10_000))
    assert status == 400 and len(answer["error"]) < 300


def test_encodings_in_any_case_and_with_weights(server):
    body = json.dumps(x_of()).encode()
    path = "/v2/models/perceptron/infer"
    for encoding in ("GZIP", " gzip", "Identity"):
        sent = body if encoding == "Identity" else gzip.compress(body)
        assert server.json("POST", path, sent, {"Content-Encoding": encoding})[0] == 200
    assert server.json("POST", path, gzip.compress(body) + b"more",
                       {"Content-Encoding": "gzip"})[0] == 400
    for accepted, encoding in (("gzip;q=0", None), ("gzip; q=0, deflate", "deflate"),
                               ("gzip;q=0.1, deflate;q=0.5", "deflate"), ("GZip", "gzip"),
                               ("br", None), ("gzip;q=x", None)):
        status, headers, _ = server.ask("POST", path, body, {"Accept-Encoding": accepted})
        assert (status, headers.get("content-encoding")) == (200, encoding)


def test_head_and_wrong_methods(server):
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/perceptron/ready"):
        status, headers, body = server.ask("HEAD", path)
        assert (status, body) == (200, b"") and int(headers["content-length"]) > 0
    status, headers, _ = server.ask("DELETE", "/v2/models/perceptron/infer")
    assert (status, headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("request_text, status", [
    (b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
     b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n",
     400),
    (b"no HTTP at all\r\n\r\n", 400),
    (b"POST /v2/models/perceptron/infer HTTP/1.1\r\nHost: a\r\nContent-Length: "
     + b"9" * 400 + b"\r\n\r\n", 400)], ids=["websocket", "no HTTP", "length"])
def test_what_is_no_request_is_refused_in_json(server, request_text, status):
    with socket.create_connection(("127.0.0.1", server.http), timeout=30) as one:
        one.sendall(request_text)
        reply = b""
        while part := one.recv(4096):
            reply += part
    head, body = reply.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 %d" % status) and "error" in json.loads(body)


def test_contents_of_grpc_are_typed(server):
    def asked(datatype, member, items):
        x = over_grpc.InferInput("x", [1, 8], datatype)
        getattr(x._input.contents, member).extend(items)
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            return client.infer("perceptron", [x])

    inputs, answers = case_of("perceptron")
    result = asked("FP32", "fp32_contents", inputs["x"][:1].ravel().tolist())
    got = np.array(result.get_response().outputs[0].contents.fp32_contents, np.float32)
    close(got.reshape(1, 4), answers[0][:1])
    for datatype, member, items, part in [
            ("FP32", "fp64_contents", [0.0] * 8, "not fp64_contents"),
            ("FP32", "fp32_contents", [0.0] * 7, "expected 8 elements .* got 7"),
            ("INT8", "int_contents", [300] * 8, "element 0 is 300"),
            ("FP16", "fp32_contents", [0.0] * 8, "raw_input_contents")]:
        with pytest.raises(InferenceServerException, match=part):
            asked(datatype, member, items)


def test_errors_over_grpc(server):
    x = np.zeros((1, 8), np.float32)
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        for name, array, code in [
                ("none", x, "NOT_FOUND"), ("perceptron", x[:, :7], "INVALID_ARGUMENT"),
                ("perceptron", x.astype(np.int64), "INVALID_ARGUMENT")]:
            with pytest.raises(InferenceServerException) as caught:
                client.infer(name, inputs_of(over_grpc, {"x": array}))
            assert code in caught.value.status()
        with pytest.raises(InferenceServerException) as caught:
            client.get_system_shared_memory_status()
        assert "UNIMPLEMENTED" in caught.value.status()

"""fxjit-serve, asked by clients that others wrote: tritonclient, KServe's, and plain HTTP."""

import asyncio
import importlib.util
import json
import pathlib
import queue
import subprocess
import sys
import time

import numpy as np
import pytest
from cases import case_of, close, path_of
from serving_server import inputs_of, make_repository, serving

for needed in ("kserve", "tritonclient"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import tritonclient.grpc as over_grpc  # noqa: E402
import tritonclient.grpc.aio as over_grpc_aio  # noqa: E402
import tritonclient.http as over_http  # noqa: E402
import tritonclient.http.aio as over_http_aio  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = make_repository(tmp_path_factory.mktemp("models"),
                             [("perceptron", 1), ("perceptron", 2), ("attention", 1), ("bert", 1)])
    with serving(folder, "--log", "debug") as running:
        yield running


PROTOCOLS = {"http": (over_http, "http"), "grpc": (over_grpc, "grpc")}


@pytest.fixture(params=PROTOCOLS)
def client(request, server):
    library, port = PROTOCOLS[request.param]
    made = library.InferenceServerClient(f"127.0.0.1:{getattr(server, port)}")
    made.library, made.protocol = library, request.param
    yield made
    made.close()


@pytest.mark.parametrize("name", ["perceptron", "attention", "bert"])
def test_gives_what_torch_gives(client, name):
    inputs, answers = case_of(name)
    result = client.infer(name, inputs_of(client.library, inputs))
    outputs = result.get_response()
    outputs = outputs["outputs"] if client.protocol == "http" else outputs.outputs
    names = [one["name"] if client.protocol == "http" else one.name for one in outputs]
    for output, answer in zip(names, answers, strict=True):
        close(result.as_numpy(output), answer)


def test_says_what_it_serves(client):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("perceptron") and client.is_model_ready("perceptron", "2")
    as_json = {} if client.protocol == "http" else {"as_json": True}
    assert client.get_server_metadata(**as_json)["name"] == "fxjit"
    metadata = client.get_model_metadata("bert", **as_json)
    assert [one["name"] for one in metadata["inputs"]] == ["input_ids", "attention_mask"]
    assert [list(map(int, one["shape"])) for one in metadata["outputs"]] == [
        [-1, -1, 32], [-1, 32]]
    assert {one["datatype"] for one in metadata["inputs"]} == {"INT64"}
    assert client.get_model_metadata("perceptron", **as_json)["versions"] == ["1", "2"]


def test_says_how_it_is_served(client):
    as_json = {} if client.protocol == "http" else {"as_json": True}
    config = client.get_model_config("perceptron", **as_json)
    config = config.get("config", config)
    assert (config["name"], config["backend"]) == ("perceptron", "fxjit")
    assert config["max_batch_size"] == 32
    (x,), (output,) = config["input"], config["output"]
    assert (x["name"], x["data_type"], list(map(int, x["dims"]))) == ("x", "TYPE_FP32", [8])
    assert (output["data_type"], list(map(int, output["dims"]))) == ("TYPE_FP32", [4])
    assert config["instance_group"][0]["kind"] == "KIND_CPU"
    assert int(config["dynamic_batching"]["max_queue_delay_microseconds"]) == 2000
    with pytest.raises(InferenceServerException, match="none"):
        client.get_model_config("none")


def test_tells_statistics(client):
    as_json = {} if client.protocol == "http" else {"as_json": True}

    def told(*which):
        return client.get_inference_statistics(*which, **as_json).get("model_stats", [])

    def counts(name):
        (one,) = told(name)
        stats = one["inference_stats"]
        return [int(number) for number in (
            one.get("inference_count", 0), one.get("execution_count", 0),
            *(stats[kind].get("count", 0) for kind in ("success", "fail", "queue",
                                                       "compute_infer")))]

    inputs, _ = case_of("bert")
    rows = len(inputs["input_ids"])
    before = counts("bert")
    client.infer("bert", inputs_of(client.library, inputs))
    with pytest.raises(InferenceServerException):
        client.infer("bert", inputs_of(client.library, {"x": np.zeros((1, 8), np.float32)}))
    after = counts("bert")
    assert [new - old for new, old in zip(after, before)] == [rows, 1, 1, 1, 1, 1]
    (one,) = told("bert", "1")
    assert str(one["inference_stats"]["compute_infer"]["ns"]).isdigit()
    assert abs(int(one["last_inference"]) / 1000 - time.time()) < 600
    assert rows in [int(batch["batch_size"]) for batch in one["batch_stats"]]
    assert [(one["name"], one["version"]) for one in told()] == [
        ("attention", "1"), ("bert", "1"), ("perceptron", "1"), ("perceptron", "2")]
    assert [one["version"] for one in told("perceptron")] == ["1", "2"]
    with pytest.raises(InferenceServerException, match="version 9"):
        told("perceptron", "9")


def test_streams_answer_in_order_and_go_on_after_an_error(server):
    inputs, answers = case_of("perceptron")
    came = queue.Queue()
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        client.start_stream(lambda result, error: came.put((result, error)))
        for number in range(200):
            x = inputs["x"] if number % 7 else inputs["x"][:, :5]
            client.async_stream_infer("perceptron", inputs_of(over_grpc, {"x": x}),
                                      request_id=str(number))
        for number in range(200):
            result, error = came.get(timeout=30)
            if number % 7:
                assert error is None and result.get_response().id == str(number)
                close(result.as_numpy("output"), answers[0])
            else:
                assert "expected the shape" in str(error)
        client.stop_stream()
    assert came.empty()


def test_asyncio_streams(server):
    inputs, answers = case_of("perceptron")

    async def requests():
        for number in range(20):
            yield {"model_name": "perceptron", "request_id": str(number),
                   "inputs": inputs_of(over_grpc_aio, inputs)}

    async def ask():
        async with over_grpc_aio.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            return [pair async for pair in client.stream_infer(requests())]

    came = asyncio.run(ask())
    assert [result.get_response().id for result, _ in came] == [str(n) for n in range(20)]
    for result, error in came:
        assert error is None and result.get_response().parameters["triton_final_response"].bool_param
        close(result.as_numpy("output"), answers[0])


def test_options_of_requests(server):
    """Outputs by name, ids, versions, priorities and times, as Triton's clients state them."""
    inputs, answers = case_of("bert")
    for library, port in PROTOCOLS.values():
        with library.InferenceServerClient(f"127.0.0.1:{getattr(server, port)}") as client:
            result = client.infer(
                "bert", inputs_of(library, inputs), model_version="1", request_id="a7",
                outputs=[library.InferRequestedOutput("last_hidden_state")], priority=1,
                timeout=10_000_000, headers={"x-request-id": "of-a-header"},
                parameters={"tenant": "one"})
            close(result.as_numpy("last_hidden_state"), answers[0])
            response = result.get_response()
            outputs = response["outputs"] if port == "http" else response.outputs
            assert len(outputs) == 1
            assert (response["id"] if port == "http" else response.id) == "a7"
            with pytest.raises(InferenceServerException, match="sequence_id"):
                client.infer("bert", inputs_of(library, inputs), sequence_id=3,
                             sequence_start=True)
    server.wait_for("answered", request="of-a-header", model="bert")
    options = over_grpc.KeepAliveOptions(keepalive_time_ms=1000)
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}",
                                         keepalive_options=options) as client:
        for encoding in ("gzip", "deflate"):
            result = client.infer("bert", inputs_of(over_grpc, inputs), client_timeout=30,
                                  compression_algorithm=encoding)
            close(result.as_numpy("last_hidden_state"), answers[0])


def test_json_and_binary_mix(server):
    inputs, answers = case_of("perceptron")
    with over_http.InferenceServerClient(f"127.0.0.1:{server.http}") as client:
        for binary_in in (True, False):
            for binary_out in (True, False):
                result = client.infer(
                    "perceptron", inputs_of(over_http, inputs, binary_data=binary_in),
                    outputs=[over_http.InferRequestedOutput("output", binary_data=binary_out)])
                close(result.as_numpy("output"), answers[0])


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_bodies_may_be_compressed(server, encoding):
    inputs, answers = case_of("bert")
    with over_http.InferenceServerClient(f"127.0.0.1:{server.http}") as client:
        result = client.infer("bert", inputs_of(over_http, inputs),
                              request_compression_algorithm=encoding,
                              response_compression_algorithm=encoding)
        close(result.as_numpy("last_hidden_state"), answers[0])


def test_many_at_once_over_http(server):
    inputs, answers = case_of("perceptron")
    with over_http.InferenceServerClient(f"127.0.0.1:{server.http}", concurrency=8) as client:
        asked = [client.async_infer("perceptron", inputs_of(over_http, inputs))
                 for _ in range(64)]
        for one in asked:
            close(one.get_result().as_numpy("output"), answers[0])


def test_many_at_once_over_grpc(server):
    inputs, answers = case_of("perceptron")
    came = []
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        for _ in range(64):
            client.async_infer("perceptron", inputs_of(over_grpc, inputs),
                               callback=lambda result, error: came.append((result, error)))
        end = time.monotonic() + 30
        while len(came) < 64 and time.monotonic() < end:
            time.sleep(0.01)
    assert len(came) == 64
    for result, error in came:
        assert error is None
        close(result.as_numpy("output"), answers[0])


@pytest.mark.parametrize("library, port", [(over_http_aio, "http"), (over_grpc_aio, "grpc")],
                         ids=["http", "grpc"])
def test_asyncio_clients(server, library, port):
    inputs, answers = case_of("perceptron")

    async def ask():
        async with library.InferenceServerClient(
                f"127.0.0.1:{getattr(server, port)}") as client:
            return await asyncio.gather(*[
                client.infer("perceptron", inputs_of(library, inputs)) for _ in range(32)])

    for result in asyncio.run(ask()):
        close(result.as_numpy("output"), answers[0])


def test_kserve_clients():
    """In a process of their own: KServe's and Triton's messages have the same names."""
    inputs, answers = case_of("perceptron")
    with serving(path_of("perceptron")) as server:
        done = subprocess.run(
            [sys.executable, "-B", str(HERE / "ask_by_kserve.py"), str(server.http),
             str(server.grpc)], input=json.dumps(inputs["x"].tolist()), capture_output=True,
            text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        close(np.array(json.loads(line), np.float32), answers[0])
    assert len(done.stdout.splitlines()) == 3


def test_kserves_own_server_takes_the_model():
    inputs, answers = case_of("perceptron")
    done = subprocess.run(
        [sys.executable, "-B", str(HERE / "ask_kserve_server.py"), str(path_of("perceptron"))],
        input=json.dumps(inputs["x"].tolist()), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = done.stdout.splitlines()[-1]  # KServe's log goes there as well.
    close(np.array(json.loads(answer), np.float32), answers[0])


def test_curl(server):
    body = json.dumps({"id": "a", "inputs": [{
        "name": "x", "shape": [1, 8], "datatype": "FP32", "data": [[0.5] * 8]}]})
    done = subprocess.run(
        ["curl", "-s", "--compressed", "-H", "x-request-id: seven", "-d", body,
         f"http://127.0.0.1:{server.http}/v2/models/perceptron/versions/1/infer"],
        capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert (answer["model_name"], answer["model_version"], answer["id"]) == ("perceptron", "1", "a")
    assert sum(answer["outputs"][0]["data"]) == pytest.approx(1, abs=1e-5)
    assert server.wait_for("answered", request="seven")["model"] == "perceptron"


def test_counts_and_times(server):
    def key(name, **labels):
        labels = {"model": "attention", "version": "1", **labels}
        return f"{name}{{{','.join(f'{k}={chr(34)}{v}{chr(34)}' for k, v in sorted(labels.items()))}}}"

    before = server.metrics()
    inputs, _ = case_of("attention")
    with over_http.InferenceServerClient(f"127.0.0.1:{server.http}") as client:
        client.infer("attention", inputs_of(over_http, inputs))
    server.json("POST", "/v2/models/attention/infer", {"inputs": []})
    after = server.metrics()
    grown = {name: after[name] - before.get(name, 0) for name in after}
    assert grown[key("fxjit_requests_total")] == 2
    assert grown[key("fxjit_failures_total", reason="bad_request")] == 1
    for stage in ("read", "queue", "compute", "write"):
        assert grown[key("fxjit_stage_seconds_count", stage=stage)] == 1
    assert grown[key("fxjit_request_seconds_count")] == 1
    assert grown[key("fxjit_batch_rows_count")] == 1
    assert grown[key("fxjit_shapes_total", program="hit")] == 1
    assert after[key("fxjit_programs")] >= 1 and after[key("fxjit_program_bytes")] > 0
    assert after[key("fxjit_queue")] == 0
    assert after["process_resident_memory_bytes"] > 0

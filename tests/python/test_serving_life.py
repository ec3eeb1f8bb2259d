"""The life of fxjit-serve: loading, reloading, refusing, ending; and the example with texts."""

import http.client
import importlib.util
import json
import os
import pathlib
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from cases import case_of, close, path_of
from serving_server import make_repository, serving, start

for needed in ("kserve", "tritonclient"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import tritonclient.grpc as over_grpc  # noqa: E402
import tritonclient.http as over_http  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

ROOT = pathlib.Path(__file__).parent.parent.parent
BODY = json.dumps({"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32",
                               "data": [0.5] * 8}]}).encode()
# Half a second before or behind each call, by which tests see what happens meanwhile.
SLOW = """
import time
from fxjit.serving import Tensor

class Front:
    inputs = [Tensor("x", "FP32", ("rows", 8))]
    outputs = [Tensor("output", "FP32", ("rows", 4))]

    def __init__(self, folder):
        pass

    def before(self, inputs):
        time.sleep(BEFORE)
        return inputs

    def after(self, outputs):
        time.sleep(AFTER)
        return outputs
"""


def make_slow(folder, before, after):
    (folder / "perceptron" / "front.py").write_text(f"BEFORE, AFTER = {before}, {after}\n{SLOW}")
    (folder / "perceptron" / "model.json").write_text('{"front": "front.py"}')


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "models", [("perceptron", 1)])


def test_models_come_and_go_by_both_protocols(folder, tmp_path):
    (tmp_path / "tokens").write_text("a-token\n")
    token = {"authorization": "Bearer a-token"}
    with serving(folder, "--repository-changes", "--token-file", tmp_path / "tokens",
                 "--admin", "0") as server:
        shutil.copytree(folder / "perceptron", folder / "second")
        with over_http.InferenceServerClient(f"127.0.0.1:{server.http}") as rest, \
                over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as rpc:
            index = rest.get_model_repository_index(headers=token)
            assert {one["name"]: one["state"] for one in index} == {
                "perceptron": "READY", "second": "UNAVAILABLE"}
            rest.load_model("second", headers=token)
            assert rpc.is_model_ready("second", headers=token)
            rpc.unload_model("second", headers=token)
            assert not rest.is_model_ready("second", headers=token) and rest.is_server_ready()
            index = rpc.get_model_repository_index(headers=token)
            assert {one.name: (one.state, one.reason) for one in index.models} == {
                "perceptron": ("READY", ""), "second": ("UNAVAILABLE", "unloaded")}
            rpc.load_model("second", headers=token)
            shutil.copytree(folder / "second" / "1", folder / "second" / "2")
            rest.load_model("second", headers=token)
            assert rest.get_model_metadata("second", headers=token)["versions"] == ["1", "2"]
            with pytest.raises(InferenceServerException, match="no model third"):
                rest.load_model("third", headers=token)
        _, _, text = server.ask("GET", "/metrics", None, token, server.admin)
        line = next(line for line in text.decode().splitlines()
                    if line.startswith('fxjit_programs{model="second",version="2"}'))
        assert float(line.split()[-1]) > 0


def test_it_is_alive_before_it_is_ready_and_answers_when_it_is(folder):
    (folder / "bad" / "1").mkdir(parents=True)
    (folder / "bad" / "1" / "model.pt2").write_text("no archive")
    with serving(folder) as server:
        assert server.json("GET", "/v2/health/live") == (200, {"live": True})
        assert server.json("GET", "/v2/health/ready") == (400, {"ready": False})
        assert server.json("POST", "/v2/models/perceptron/infer", BODY)[0] == 200
        status, answer = server.json("POST", "/v2/models/bad/infer", BODY)
        assert status == 503 and "archive" in answer["error"]


def test_what_was_begun_is_answered_after_sigterm(folder):
    make_slow(folder, 0, 0.5)
    with serving(folder, "--front-code", "--drain-seconds", "0.2") as server:
        answers = []

        def ask():
            answers.append(server.json("POST", "/v2/models/perceptron/infer", BODY)[0])

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping")
        assert server.json("GET", "/v2/health/ready")[0] == 400
        for thread in threads:
            thread.join()
        assert answers == [200] * 3
        server.wait_for("stopped")
        assert server.process.wait(30) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.http)).close()


def test_an_open_stream_does_not_delay_the_end(folder):
    make_slow(folder, 0, 0.5)
    x = over_grpc.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    came = queue.Queue()
    with serving(folder, "--front-code", "--grace-seconds", "60") as server, \
            over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        client.start_stream(lambda result, error: came.put((result, error)))
        for number in range(2):
            client.async_stream_infer("perceptron", [x], request_id=str(number))
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        for number in range(2):
            result, error = came.get(timeout=30)
            assert error is None and result.get_response().id == str(number)
        assert server.process.wait(30) == 0


def test_clients_that_go_away_are_not_computed(folder):
    make_slow(folder, 0.5, 0)
    x = over_grpc.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    with serving(folder, "--front-code") as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.http)
        connection.request("POST", "/v2/models/perceptron/infer", BODY, {"x-request-id": "rest"})
        time.sleep(0.1)
        connection.close()
        server.wait_for("refused", request="rest", reason="cancelled")
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            call = client.async_infer("perceptron", [x], lambda result, error: None,
                                      request_id="rpc")
            time.sleep(0.1)
            call.cancel()
            server.wait_for("refused", request="rpc", reason="cancelled")
            client.infer("perceptron", [x])
            (told,) = client.get_inference_statistics("perceptron").model_stats
        assert (told.execution_count, told.inference_stats.fail.count) == (1, 2)


def test_the_deadline_of_a_client_ends_its_request(folder):
    make_slow(folder, 0.5, 0)
    x = over_grpc.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    with serving(folder, "--front-code") as server, \
            over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        with pytest.raises(InferenceServerException, match="(?i)deadline"):
            client.infer("perceptron", [x], request_id="late", client_timeout=0.1)
        server.wait_for("refused", request="late")
        client.infer("perceptron", [x], client_timeout=30)


def test_a_full_queue_is_told_by_each_protocol(folder):
    with serving(folder, "--queue", "0") as server:
        status, answer = server.json("POST", "/v2/models/perceptron/infer", BODY)
        assert status == 503 and "wait already" in answer["error"]
        x = over_grpc.InferInput("x", [1, 8], "FP32")
        x.set_data_from_numpy(np.zeros((1, 8), np.float32))
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            with pytest.raises(InferenceServerException) as caught:
                client.infer("perceptron", [x])
        assert "RESOURCE_EXHAUSTED" in caught.value.status()


def test_clients_that_stop_halfway_harm_nobody(folder):
    with serving(folder, "--max-body-mb", "1") as server:
        head = ("POST /v2/models/perceptron/infer HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n"
                "\r\n" % len(BODY)).encode()
        for part in (head[:20], head, head + BODY[:20], b"\0" * 200):
            with socket.create_connection(("127.0.0.1", server.http)) as half:
                half.sendall(part)
                half.shutdown(socket.SHUT_WR)
                half.settimeout(10)
                assert half.recv(4096)[:12] in (b"", b"HTTP/1.1 400")
        connection = http.client.HTTPConnection("127.0.0.1", server.http)
        connection.request("POST", "/v2/models/perceptron/infer", b" " * (1 << 20) + BODY)
        assert connection.getresponse().status == 413
        connection.close()
        assert server.json("POST", "/v2/models/perceptron/infer", BODY)[0] == 200


@pytest.mark.parametrize("arguments, part", [
    (["none.pt2"], "no such file"), ([], "MODEL_OR_FOLDER"),
    ([str(path_of("perceptron")), "--threads", "-1"], "at least 0")])
def test_wrong_arguments_end_it_with_a_reason(arguments, part):
    process = start(*arguments)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 1 and part in text
    assert len(text.splitlines()) == 1, text


# The shell's own entries in /proc are those of the program that takes its place.
IN_A_GROUP = """
mount --bind "$1/cgroup" /proc/$$/cgroup && mount --bind "$1/mountinfo" /proc/$$/mountinfo || exit 77
shift
exec "$@"
"""
DEFAULTS = """
from fxjit.serving.options import batch_options, parser
print(batch_options(parser().parse_args(["model.pt2"])).instances)
"""


def default_instances(*under):
    """Those of fxjit-serve where the command `under` runs it."""
    done = subprocess.run([*map(str, under), sys.executable, "-B", "-c", DEFAULTS],
                          capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_there_are_as_many_instances_as_cpus_of_the_affinity():
    one = min(os.sched_getaffinity(0))
    assert default_instances("taskset", "--cpu-list", one) == 1


@pytest.mark.parametrize("quota, cpus", [("100000", 1), ("150000", 2), ("max", None)])
def test_there_are_as_many_instances_as_cpus_of_the_quota(tmp_path, quota, cpus):
    """A control group of files, as the kernel writes them, in a mount namespace."""
    (tmp_path / "cgroup").write_text("0::/box\n")
    (tmp_path / "mountinfo").write_text(
        f"30 23 0:26 / {tmp_path} rw,relatime - cgroup2 cgroup2 rw\n")
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "cpu.max").write_text(f"{quota} 100000\n")
    under = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", IN_A_GROUP, "sh",
             str(tmp_path)]
    if subprocess.run([*under, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no namespaces for users")
    available = len(os.sched_getaffinity(0))
    assert default_instances(*under) == min(cpus or available, available)


def test_a_file_may_be_named(folder):
    with serving(f"mlp={path_of('perceptron')}", path_of("attention")) as server:
        assert server.json("GET", "/v2/models") == (200, {"models": ["attention", "mlp"]})
        inputs, answers = case_of("perceptron")
        with over_http.InferenceServerClient(f"127.0.0.1:{server.http}") as client:
            x = over_http.InferInput("x", inputs["x"].shape, "FP32")
            x.set_data_from_numpy(inputs["x"])
            close(client.infer("mlp", [x]).as_numpy("output"), answers[0])


def test_texts_become_embeddings(tmp_path):
    if not importlib.util.find_spec("tokenizers"):
        pytest.skip("tokenizers is not installed here")
    weights = pathlib.Path(os.environ.get("FXJIT_MODEL_DIR", pathlib.Path.home() /
                                          ".cache/fxjit/models/all-minilm-l6-v2"))
    if not (weights / "model.safetensors").exists():
        pytest.skip(f"the weights of all-MiniLM-L6-v2 are not in {weights}")
    example = ROOT / "examples" / "serving"
    subprocess.run([sys.executable, "-B", example / "make_repository.py", weights,
                    tmp_path / "models"], check=True)
    expected = case_of_sentences()
    with serving(tmp_path / "models", "--front-code", "--root", weights) as server:
        for options in ([f"127.0.0.1:{server.http}"], ["--grpc", f"127.0.0.1:{server.grpc}"]):
            done = subprocess.run(
                [sys.executable, "-B", example / "embed.py", *options, *SENTENCES],
                capture_output=True, text=True, check=True)
            got = [float(line.split()[0]) for line in done.stdout.splitlines()]
            np.testing.assert_allclose(got, expected, atol=2e-4)
        texts = {"inputs": [{"name": "text", "shape": [0], "datatype": "BYTES", "data": []}]}
        status, answer = server.json("POST", "/v2/models/minilm/infer", texts)
        assert status == 400 and "at least one" in answer["error"]


def test_the_manifest_is_what_kserve_takes(tmp_path):
    manifest = ROOT / "examples" / "serving" / "deploy" / "inference_service.yaml"
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(manifest.read_text().replace("scaleMetric:", "scaleMetrik:"))
    for path, code in ((manifest, 0), (wrong, 1)):
        done = subprocess.run(
            [sys.executable, "-B", pathlib.Path(__file__).with_name("check_manifest.py"), path],
            capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr


SENTENCES = ["A cat sits on the mat.", "A kitten rests on a rug."]


def case_of_sentences():
    """How near the sentences are to the first, as PyTorch says in double precision."""
    from cases import read_safetensors
    tensors = read_safetensors(ROOT / "examples" / "exported" / "minilm.safetensors")
    return tensors["similarity"][0]

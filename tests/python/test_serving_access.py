"""Who may do what at fxjit-serve: tokens, TLS, the admin port, and what errors do not tell."""

import http.client
import importlib.util
import json
import os
import queue
import shutil
import ssl
import subprocess

import numpy as np
import pytest
from serving_server import CHANGES, make_repository, serving

for needed in ("kserve", "tritonclient", "grpc_health", "grpc_reflection"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import grpc  # noqa: E402
import tritonclient.grpc as over_grpc  # noqa: E402
from fxjit.serving.redaction import without_paths  # noqa: E402
from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: E402
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

BODY = {"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32", "data": [0.5] * 8}]}
INFER = "/v2/models/perceptron/infer"
LOAD = "/v2/repository/models/perceptron/load"


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "models", [("perceptron", 1)])


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def x_of(library=over_grpc):
    x = library.InferInput("x", [1, 8], "FP32")
    x.set_data_from_numpy(np.zeros((1, 8), np.float32))
    return x


def test_models_are_not_changed_unless_the_server_was_started_for_it(folder):
    with serving(folder, "--admin", "0") as server:
        for port in (server.http, server.admin):
            status, answer = server.json("POST", LOAD, port=port)
            assert status == 403 and "--repository-changes" in answer["error"]
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            for change in (client.load_model, client.unload_model):
                with pytest.raises(InferenceServerException) as caught:
                    change("perceptron")
                assert "PERMISSION_DENIED" in caught.value.status()
        assert server.json("POST", INFER, BODY)[0] == 200


def test_models_are_changed_on_the_admin_port_only(folder):
    with serving(folder, *CHANGES) as server:
        assert server.change("perceptron", "unload")[0] == 200
        assert server.json("POST", INFER, BODY)[0] == 503
        assert server.change("perceptron")[0] == 200
        assert server.change("none")[0] == 404
        for path in (LOAD, "/v2/%72epository/models/perceptron/load"):
            status, answer = server.json("POST", path)
            assert status == 403 and "admin port" in answer["error"]
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            with pytest.raises(InferenceServerException) as caught:
                client.unload_model("perceptron")
        assert "PERMISSION_DENIED" in caught.value.status()


def test_the_admin_port_has_health_and_metrics_and_computes_nothing(folder):
    with serving(folder, "--admin", "0") as server:
        assert server.json("GET", "/v2/health/ready", port=server.admin) == (200, {"ready": True})
        assert server.json("POST", INFER, BODY, port=server.admin)[0] == 404
        assert server.ask("GET", "/metrics", port=server.admin)[0] == 200
        assert server.json("GET", "/metrics")[0] == 404
        assert server.json("POST", "/v2/repository/index", port=server.admin)[1][0]["name"] == (
            "perceptron")


def test_pages_of_other_sites_do_not_change_models(folder):
    with serving(folder, *CHANGES, "--admin-name", "models.inside") as server:
        own = f"http://127.0.0.1:{server.admin}"
        for headers, status in [
                ({"Host": "evil.example"}, 403), ({"Host": "evil.example:8082"}, 403),
                ({"Host": ""}, 403), ({"Host": "localhost:1"}, 200),
                ({"Host": "[::1]:8082"}, 200), ({"Host": "Models.inside"}, 200),
                ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                ({"Origin": own}, 200)]:
            got = server.ask("POST", LOAD, None, headers, server.admin)[0]
            assert (headers, got) == (headers, status)


def test_tokens_of_both_protocols(folder, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("first\n\n second \n")
    with serving(folder, "--token-file", tokens, *CHANGES) as server:
        assert server.json("GET", "/v2/health/live")[0] == 200
        assert server.json("GET", "/v2/health/ready")[0] == 200
        for port in (server.http, server.admin):
            for path in ("/v2", "/metrics", "/v2/health%2Flive", "/v2/models/perceptron/ready"):
                status, headers, _ = server.ask("GET", path, port=port)
                assert (status, headers["www-authenticate"]) == (401, "Bearer")
        for given, status in [({}, 401), (bearer("wrong"), 401), (bearer("firs"), 401),
                              ({"authorization": "Basic first"}, 401), (bearer(""), 401),
                              (bearer("first"), 200), (bearer("second"), 200),
                              ({"authorization": "bearer second"}, 200)]:
            assert server.json("POST", INFER, BODY, given)[0] == status
        assert server.json("POST", LOAD, None, bearer("first"))[0] == 200
        assert server.change("perceptron")[0] == 401
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            assert client.is_server_live() and client.is_server_ready()
            client.infer("perceptron", [x_of()], headers=bearer("second"))
            for headers in (None, bearer("wrong")):
                with pytest.raises(InferenceServerException) as caught:
                    client.infer("perceptron", [x_of()], headers=headers)
                assert "UNAUTHENTICATED" in caught.value.status()
                came = queue.Queue()
                client.start_stream(lambda result, error: came.put(error), headers=headers)
                assert "UNAUTHENTICATED" in str(came.get(timeout=30).status())
                client.stop_stream()


def test_tokens_are_read_anew(folder, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("old\n")
    with serving(folder, "--token-file", tokens) as server:
        (tmp_path / "new").write_text("new\n")
        os.replace(tmp_path / "new", tokens)
        assert server.json("GET", "/v2", None, bearer("new"))[0] == 200
        assert server.json("GET", "/v2", None, bearer("old"))[0] == 401
        tokens.unlink()
        assert server.json("GET", "/v2", None, bearer("new"))[0] == 200
        server.wait_for("the tokens cannot be read: the old ones hold")


def make_certificate(folder, name):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.pem", "-out",
         folder / "cert.pem"], check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl makes certificates here")
def test_tls_of_both_protocols(folder, tmp_path):
    certificate, key = make_certificate(tmp_path, "first")
    with serving(folder, "--tls-cert", certificate, "--tls-key", key, "--admin", "0") as server:
        for port in (server.http, server.admin):
            connection = http.client.HTTPSConnection(
                "localhost", port, timeout=30, context=ssl.create_default_context(
                    cafile=certificate))
            connection.request("GET", "/v2/health/ready")
            assert json.loads(connection.getresponse().read()) == {"ready": True}
            connection.close()
        with over_grpc.InferenceServerClient(
                f"localhost:{server.grpc}", ssl=True,
                root_certificates=str(certificate)) as client:
            client.infer("perceptron", [x_of()])
        before = ssl.get_server_certificate(("127.0.0.1", server.http))
        make_certificate(tmp_path, "second")
        server.wait_for("the certificate was read anew")
        for port in (server.http, server.grpc):
            after = ssl.get_server_certificate(("127.0.0.1", port))
            assert after != before and after.strip() == certificate.read_text().strip()


def test_an_address_for_everybody_is_warned_of(folder, tmp_path):
    with serving(folder, "--host", "0.0.0.0") as server:
        assert "only behind a proxy" in next(
            line["event"] for line in server.lines if "proxy" in line["event"])
    with serving(folder) as server:
        assert not any("proxy" in line["event"] for line in server.lines)


def errors_of(server, name):
    """What a client is told of a model that is not ready, by both protocols."""
    told = [server.json("POST", f"/v2/models/{name}/infer", BODY)[1]["error"],
            json.dumps(server.json("POST", "/v2/repository/index")[1]),
            server.change(name)[1]["error"]]
    with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        with pytest.raises(InferenceServerException) as caught:
            client.infer(name, [x_of()])
        return [*told, str(caught.value)]


def lead_out(folder, outside):
    """Models whose files are elsewhere, each in another way."""
    file = outside / "bad" / "1" / "perceptron.pt2"
    (folder / "folder").symlink_to(outside / "bad")
    (folder / "version").mkdir()
    (folder / "version" / "1").symlink_to(outside / "bad" / "1")
    (folder / "link" / "1").mkdir(parents=True)
    (folder / "link" / "1" / "perceptron.pt2").symlink_to(file)
    for name, value in (("file", f"../../../{outside.name}/bad/1/perceptron.pt2"),
                        ("weights", str(file)), ("front", str(file))):
        shutil.copytree(folder / "perceptron", folder / name)
        (folder / name / "model.json").write_text(json.dumps({name: value}))
    for name, value in (("weights", "/etc/hostname"), ("cache_folder", "/tmp")):
        shutil.copytree(folder / "perceptron", folder / f"option_{name}")
        (folder / f"option_{name}" / "model.json").write_text(
            json.dumps({"options": {name: value}}))


def test_files_and_links_stay_inside_the_repository(folder, tmp_path):
    outside = tmp_path / "outside dir"
    shutil.copytree(folder / "perceptron" / "1", outside / "bad" / "1")
    lead_out(folder, outside)
    ways = ("folder", "version", "link", "file", "weights", "front", "option_cache_folder")
    with serving(folder, *CHANGES) as server:
        assert server.json("GET", "/v2/health/ready")[0] == 400
        for name in ways:
            for error in errors_of(server, name):
                assert "--root" in error
                assert str(tmp_path) not in error and "outside" not in error
        told = [line for line in server.lines
                if line["event"] == "a file leads out of its repository"]
        assert {line["target"] for line in told} == {
            str(outside / "bad"), str(outside / "bad" / "1"),
            str(outside / "bad" / "1" / "perceptron.pt2"), "/tmp"}
        assert len(told) == len(ways)
        assert "field of their own" in server.change("option_weights")[1]["error"]
    with serving(folder, "--root", outside) as server:
        for name in ways[:4]:
            assert server.json("POST", f"/v2/models/{name}/infer", BODY)[0] == 200


def test_errors_tell_no_paths(folder):
    bad = folder / "bad" / "1"
    bad.mkdir(parents=True)
    (bad / "model.pt2").write_text("no archive")
    with serving(folder, *CHANGES) as server:
        for error in errors_of(server, "bad"):
            assert "archive" in error and str(folder) not in error and "bad/1" not in error
        told = server.wait_for("a model cannot be loaded", model="bad")
        assert str(bad / "model.pt2") in told["error"]


@pytest.mark.parametrize("text, wanted", [
    ("/srv/models/a/1/m.pt2: no archive", "m.pt2: no archive"),
    ('File "/home/Jane Doe/export.py", line 3', 'File "export.py", line 3'),
    ("[Errno 13] Permission denied: '/srv/x'", "[Errno 13] Permission denied: 'x'"),
    ("expected [s0//16, 8], got [3/2]", "expected [s0//16, 8], got [3/2]"),
    ("at src/net/model.py:3", "at model.py:3"), ("C:\\Users\\me\\a.py", "a.py"),
    ("and/or", "and/or"), ("(~/a/b.py)", "(b.py)"), ("../x/y", "y")])
def test_paths_are_left_out(text, wanted):
    assert without_paths(text) == wanted


def test_folders_of_the_server_are_left_out_though_they_have_spaces():
    assert without_paths("/a b/c d/e.pt2: bad", "/a b/c d") == "e.pt2: bad"


def test_grpc_refuses_parameters_of_a_load(folder, tmp_path):
    (tmp_path / "tokens").write_text("t\n")
    with serving(folder, "--repository-changes", "--token-file", tmp_path / "tokens") as server, \
            over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
        client.load_model("perceptron", headers=bearer("t"))
        with pytest.raises(InferenceServerException) as caught:
            client.load_model("perceptron", headers=bearer("t"), config='{"max_batch_size": 3}')
        assert "INVALID_ARGUMENT" in caught.value.status() and "parameters" in str(caught.value)
        client.unload_model("perceptron", headers=bearer("t"))


def test_grpc_has_health_and_reflection(folder):
    with serving(folder) as server, \
            grpc.insecure_channel(f"127.0.0.1:{server.grpc}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", "inference.GRPCInferenceService"):
            answer = health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as caught:
            health.Check(health_pb2.HealthCheckRequest(service="none"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
        watched = health.Watch(health_pb2.HealthCheckRequest())
        assert next(watched).status == health_pb2.HealthCheckResponse.SERVING
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        (answer,) = stub.ServerReflectionInfo(iter([asked]))
        names = {one.name for one in answer.list_services_response.service}
        assert {"inference.GRPCInferenceService", "grpc.health.v1.Health"} <= names
        asked = reflection_pb2.ServerReflectionRequest(
            file_containing_symbol="inference.GRPCInferenceService")
        (answer,) = stub.ServerReflectionInfo(iter([asked]))
        assert answer.file_descriptor_response.file_descriptor_proto
        server.process.terminate()
        assert next(watched).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert server.process.wait(30) == 0


def test_names_are_cut_where_they_are_echoed(folder):
    long = "n" * 5000
    with serving(folder, *CHANGES) as server:
        texts = [server.json("POST", f"/v2/models/{long}/infer", BODY)[1]["error"],
                 server.json("GET", f"/v2/models/{long}/ready")[1]["error"],
                 server.json("GET", f"/v2/models/perceptron/versions/{long}")[1]["error"],
                 server.change(long)[1]["error"]]
        with over_grpc.InferenceServerClient(f"127.0.0.1:{server.grpc}") as client:
            for name, version in ((long, ""), ("perceptron", long)):
                with pytest.raises(InferenceServerException) as caught:
                    client.infer(name, [x_of()], version)
                texts.append(str(caught.value))
    for text in texts:
        assert "n" * 100 in text and "n" * 101 not in text

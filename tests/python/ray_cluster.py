"""fxjit.serving.ray on a cluster of two nodes on this machine: ray_cluster.py [--seconds 5]

    PYTHONPATH=build/release/python VENV/bin/python tests/python/ray_cluster.py

(a virtual environment with fxjit[ray]). Clients ask all the time and try again, as the protocol
says, what was refused as unavailable; meanwhile a replica is killed, a node is killed and comes
back, and a second version takes the place of the first. It fails where a request is lost, an
answer is wrong, or a replica is not replaced. All traffic stays in the machine.
"""

import argparse
import collections
import http.client
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

import numpy as np
import ray
import ray.util.state
import yaml
from cases import case_of, close, path_of
from fxjit.serving.ray import GRPC_SERVICE, application, build
from ray import serve
from ray.cluster_utils import Cluster
from ray.serve.schema import ServeDeploySchema

HERE = pathlib.Path(__file__).resolve().parent
PORT = 8123
NODE = {"num_cpus": 2}
RETRIED = (500, 502, 503, 504)
MOST_TRIES = 60


class Clients:
    """Threads that ask until stop(): `answers` counts them by version, `retries` what was asked
    again, by status or kind of error, `lost` says what never came."""

    def __init__(self, count=4):
        self.answers, self.retries, self.lost = (
            collections.Counter(), collections.Counter(), [])
        inputs, answers = case_of("perceptron")
        self._expected = answers[0]
        self._body = json.dumps({"inputs": [{
            "name": "x", "shape": list(inputs["x"].shape), "datatype": "FP32",
            "data": inputs["x"].ravel().tolist()}]})
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _work(self):
        while not self._stop.is_set():
            self._ask()

    def _ask(self):
        for _ in range(MOST_TRIES):
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
            try:
                connection.request("POST", "/v2/models/perceptron/infer", self._body)
                reply = connection.getresponse()
                answer = reply.read()
            except (OSError, http.client.HTTPException) as error:
                self.retries[type(error).__name__] += 1
                time.sleep(0.2)
                continue
            finally:
                connection.close()
            if reply.status in RETRIED:
                self.retries[reply.status] += 1
                time.sleep(0.2)
                continue
            self._check(reply.status, answer)
            return
        self.lost.append("too many tries")

    def _check(self, status, answer):
        try:
            output = json.loads(answer)["outputs"][0]
            close(np.array(output["data"], np.float32).reshape(output["shape"]), self._expected)
            self.answers[json.loads(answer)["model_version"]] += 1
        except (AssertionError, KeyError) as error:
            self.lost.append(f"{status}: {answer[:200]} {error}")

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def told(self, what):
        print(f"{what}: {sum(self.answers.values())} answers {dict(self.answers)}, "
              f"tried again {dict(self.retries)}, lost {len(self.lost)}", flush=True)


def wait_until(what, condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} seconds"
        time.sleep(0.3)
    print(f"{what}", flush=True)


def running():
    """The actors of replicas that run, by their process."""
    return {one.pid: one.node_id for one in ray.util.state.list_actors(
        filters=[("state", "=", "ALIVE")], detail=True) if one.class_name.startswith("ServeReplica")}


def check_grpc():
    """Where KServe, and with it the service's messages, is installed."""
    if not importlib.util.find_spec("kserve"):
        print("gRPC is left out: kserve is not installed here")
        return
    import grpc
    from fxjit.serving.grpc_messages import MADE
    from kserve.protocol.grpc import grpc_predict_v2_pb2 as pb
    from kserve.protocol.grpc.grpc_predict_v2_pb2_grpc import GRPCInferenceServiceStub
    inputs, answers = case_of("perceptron")
    x = inputs["x"]
    request = pb.ModelInferRequest(model_name="perceptron", raw_input_contents=[x.tobytes()])
    request.inputs.add(name="x", datatype="FP32", shape=x.shape)
    with grpc.insecure_channel(f"127.0.0.1:{PORT + 1}") as channel:
        service = GRPCInferenceServiceStub(channel)
        reply = service.ModelInfer(request, timeout=30)
        got = np.frombuffer(reply.raw_output_contents[0], np.float32)
        close(got.reshape(list(reply.outputs[0].shape)), answers[0])
        config = channel.unary_unary(
            "/inference.GRPCInferenceService/ModelConfig",
            MADE["VersionRequest"].SerializeToString, MADE["ConfigResponse"].FromString)(
                MADE["VersionRequest"](name="perceptron"), timeout=30).config
        assert [one.name for one in config.input] == ["x"], config
        request.inputs[0].datatype = "INT32"
        try:
            service.ModelInfer(request, timeout=30)
            raise AssertionError("a wrong datatype was taken")
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
    print("gRPC answers")


def check_config():
    """The file for `serve deploy` is one, and its arguments are those of application()."""
    text = (HERE.parent.parent / "examples/serving/deploy/ray.yaml").read_text()
    config = ServeDeploySchema.model_validate(yaml.safe_load(text))
    (one,) = config.applications
    assert one.import_path == "fxjit.serving.ray:build"
    build(one.args)


def app(folder, replicas=2):
    return application(str(folder), replicas=replicas, max_replicas_per_node=1,
                       health_check_period_s=1, health_check_timeout_s=5)


def run(seconds, folder):
    cluster = Cluster(initialize_head=True, head_node_args={
        **NODE, "dashboard_host": "127.0.0.1", "include_dashboard": True})
    worker = cluster.add_node(**NODE)
    ray.init(cluster.address, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}})
    serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": PORT},
                grpc_options={"port": PORT + 1, "grpc_servicer_functions": [GRPC_SERVICE]})
    one, two = (folder / name for name in ("one", "two"))
    for place, version in ((one, "1"), (two, "2")):
        (place / "perceptron" / version).mkdir(parents=True)
        shutil.copy(path_of("perceptron"), place / "perceptron" / version)
    serve.run(app(one))
    wait_until("a replica runs on each node", lambda: len(set(running().values())) == 2)
    check_grpc()
    check_config()
    clients = Clients()
    try:
        time.sleep(seconds)
        clients.told("at rest")
        before = running()
        victim = next(iter(before))
        os.kill(victim, signal.SIGKILL)
        wait_until("a killed replica was replaced",
                   lambda: len(now := running()) == 2 and victim not in now)
        clients.told("a replica was killed")
        cluster.remove_node(worker, allow_graceful=False)
        wait_until("one node is left", lambda: len(set(running().values())) == 1)
        time.sleep(seconds)
        clients.told("a node was killed")
        cluster.add_node(**NODE)
        wait_until("the new node has a replica", lambda: len(set(running().values())) == 2)
        time.sleep(seconds)
        clients.told("a node came")
        retries = clients.retries.copy()
        serve.run(app(two))
        time.sleep(seconds)
        clients.told("a rolling update")
        assert clients.answers["2"] > 0, "the second version never answered"
        assert clients.retries == retries, "requests failed during the rolling update"
        last = clients.answers["1"]
        time.sleep(seconds)
        assert clients.answers["1"] == last, "the first version still answers"
    finally:
        clients.stop()
        serve.shutdown()
        ray.shutdown()
        cluster.shutdown()
    assert not clients.lost, clients.lost[:5]
    print("nothing was lost")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        sys.exit(run(given.seconds, pathlib.Path(place)))

"""Autoscaling, `serve deploy` with examples/serving/deploy/ray.yaml, and `serve run`, on one node.

    PYTHONPATH=build/release/python VENV/bin/python tests/python/ray_commands.py

(a virtual environment with fxjit[ray]). It fails where replicas do not follow the load, or where an
application that a command deployed does not answer. All traffic stays in the machine.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import ray
import yaml
from cases import path_of
from fxjit.serving.ray import application
from ray import serve
from ray.cluster_utils import Cluster
from ray_cluster import PORT, Clients, running, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SERVE = pathlib.Path(sys.executable).with_name("serve")
DASHBOARD = 8266
# Ray's own defaults take half a minute to grow and ten to shrink.
SCALING = {"min_replicas": 1, "max_replicas": 3, "target_ongoing_requests": 1,
           "upscale_delay_s": 1, "downscale_delay_s": 2, "metrics_interval_s": 0.5,
           "look_back_period_s": 2}


def answers(count=20):
    """Whether that many requests are answered, and rightly."""
    clients = Clients(1)
    try:
        wait_until("it answers", lambda: sum(clients.answers.values()) >= count)
    finally:
        clients.stop()
    assert not clients.lost, clients.lost[:5]


def check_autoscaling(folder):
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    serve.run(application(str(folder), autoscaling=SCALING))
    assert len(running()) == 1
    clients = Clients(8)
    try:
        wait_until("more replicas under load", lambda: len(running()) > 1)
    finally:
        clients.stop()
    assert not clients.lost, clients.lost[:5]
    wait_until("one replica at rest", lambda: len(running()) == 1)
    serve.shutdown()


def config_for(folder):
    """The file for `serve deploy`, with this machine's folder and port."""
    text = (ROOT / "examples/serving/deploy/ray.yaml").read_text()
    config = yaml.safe_load(text)
    config["http_options"] = {"host": "127.0.0.1", "port": PORT}
    config["applications"][0]["args"]["models"] = str(folder)
    path = folder.parent / "ray.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def command(*arguments):
    done = subprocess.run([SERVE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_deploy(folder):
    address = f"http://127.0.0.1:{DASHBOARD}"
    command("deploy", str(config_for(folder)), "--address", address)
    wait_until("serve deploy", lambda: yaml.safe_load(command(
        "status", "--address", address))["applications"]["fxjit"]["status"] == "RUNNING")
    answers()
    command("shutdown", "--yes", "--address", address)
    wait_until("serve shutdown", lambda: not running())


def check_run(folder, cluster_address):
    """Its port is one of Ray's options, so it is that of a server that was started before."""
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    process = subprocess.Popen([
        SERVE, "run", "fxjit.serving.ray:build", f"models={folder}", "replicas=2",
        "--address", cluster_address], start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until("serve run", lambda: len(running()) == 2)
        answers()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
    wait_until("its end", lambda: not running())


def run(place):
    folder = place / "models"
    (folder / "perceptron" / "1").mkdir(parents=True)
    shutil.copy(path_of("perceptron"), folder / "perceptron" / "1")
    cluster = Cluster(initialize_head=True, head_node_args={
        "num_cpus": 4, "dashboard_host": "127.0.0.1", "dashboard_port": DASHBOARD,
        "include_dashboard": True})
    ray.init(cluster.address, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}})
    try:
        check_autoscaling(folder)
        check_deploy(folder)
        check_run(folder, cluster.address)
    finally:
        serve.shutdown()
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(run(pathlib.Path(place)))

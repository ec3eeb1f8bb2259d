"""Bounds of fxjit-serve on connections: their number, their times, and what comes over one."""

import contextlib
import importlib.util
import os
import resource
import socket
import time

import pytest
from hostile import UnfinishedMessage, connected, ended, head_of, memory
from serving_server import make_repository, serving
from test_serving_life import BODY

for needed in ("kserve", "tritonclient"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "models", [("perceptron", 1)])


def answers(server):
    return server.json("POST", "/v2/models/perceptron/infer", BODY)[0] == 200


def test_times_of_headers_idle_connections_bodies_and_messages(folder):
    with serving(folder, "--header-seconds", "0.5", "--idle-seconds", "1",
                 "--body-seconds", "0.5") as server:
        with connected(server.http) as one:
            one.sendall(head_of()[:30])
            assert ended(one).startswith(b"HTTP/1.1 408")
        with connected(server.http) as one:
            assert ended(one) == b""
        with connected(server.http) as one:
            one.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n")
            assert ended(one).startswith(b"HTTP/1.1 200")
        with connected(server.http) as one:
            one.sendall(head_of(Content_Length=100) + b"{")
            assert ended(one).startswith(b"HTTP/1.1 408")
        message = UnfinishedMessage(server.grpc, 100_000)
        while not message.ended:
            message._read()
        message.close()
        metrics = server.metrics()
        assert metrics[refusals("rest", 408, "slow")] == 2
        assert metrics[refusals("grpc", "DEADLINE_EXCEEDED", "slow")] == 1


def refusals(protocol, code, reason):
    return f'fxjit_refusals_total{{code="{code}",protocol="{protocol}",reason="{reason}"}}'


def test_connections_have_a_bound_and_the_admin_port_its_own(folder):
    with serving(folder, "--max-connections", "20", "--admin", "0") as server:
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(connected(server.http))
            with connected(server.http) as one:
                refused = ended(one)
            assert refused.startswith(b"HTTP/1.1 503") and b"20 connections" in refused
            assert b"retry-after: 1\r\n" in refused
            assert server.json("GET", "/v2/health/live", port=server.admin)[0] == 200
            metrics = server.metrics()
            assert metrics['fxjit_connections{port="http"}'] == 20
            assert metrics[refusals("rest", 503, "overloaded")] == 1
        end = time.monotonic() + 30
        while not answers_if_it_may(server) and time.monotonic() < end:
            time.sleep(0.05)
        assert answers(server)


def answers_if_it_may(server):
    with contextlib.suppress(ConnectionError):
        return answers(server)
    return False


def test_connections_of_an_address_have_a_bound(folder):
    with serving(folder, "--max-connections-of-address", "2") as server, \
            connected(server.http), connected(server.http), connected(server.http) as one:
        assert b"of this address" in ended(one)
        other = socket.create_connection(("127.0.0.1", server.http), 30, ("127.0.0.2", 0))
        with other:
            other.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert ended(other).startswith(b"HTTP/1.1 200")


def test_running_out_of_descriptors_is_logged_and_counted(folder):
    with serving(folder, "--header-seconds", "60") as server, contextlib.ExitStack() as stack:
        open_now = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        pid, kind = server.process.pid, resource.RLIMIT_NOFILE
        limits = resource.prlimit(pid, kind)
        stack.callback(resource.prlimit, pid, kind, limits)
        resource.prlimit(pid, kind, (open_now + 5, limits[1]))
        for _ in range(10):
            stack.enter_context(connected(server.http))
        server.wait_for("no descriptor is left")
        stack.close()
        end = time.monotonic() + 30
        while not answers_if_it_may(server) and time.monotonic() < end:
            time.sleep(0.05)
        assert server.metrics()["fxjit_out_of_descriptors_total"] >= 1


def test_requests_ahead_of_their_answers_have_a_bound(folder):
    request = head_of(Content_Length=len(BODY)) + BODY
    with serving(folder, "--admin", "0") as server:
        with connected(server.http) as one:
            one.sendall(9 * request + request.replace(b"Host: a", b"Connection: close"))
            assert ended(one).count(b"HTTP/1.1 200") == 10
        before = memory(server.process.pid)
        for requests in (5000 * request, 100_000 * b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n",
                         request + head_of(Content_Length=100_000) + b" " * 100_000):
            with connected(server.http) as one:
                with contextlib.suppress(ConnectionError):
                    one.sendall(requests)
                assert len(ended(one)) < 20_000
        server.wait_for("a connection is refused", reason="pipeline")
        assert server.metrics()[refusals("rest", 413, "too_large")] == 3
        assert memory(server.process.pid) < before + 16 * (1 << 20)
        assert answers(server)

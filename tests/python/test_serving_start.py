"""How fxjit-serve starts: options from three sources, and one line for what is wrong."""

import importlib.util
import json
import re
import socket
import subprocess
import sys

import pytest
from cases import path_of
from serving_server import make_repository, serving

for needed in ("kserve", "grpc_health", "grpc_reflection"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import fxjit  # noqa: E402
from fxjit.serving.options import parser  # noqa: E402
from fxjit.serving.option_sources import with_other_sources  # noqa: E402

# Starts the server by each of the command lines, and writes exit codes.
STARTS = """
import json, sys
from fxjit.serving.command import main
for arguments in json.load(sys.stdin):
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    print("\\0", code, file=sys.stderr, flush=True)
"""


def started(commands):
    """Exit code and lines of standard error of each."""
    done = subprocess.run([sys.executable, "-B", "-c", STARTS], input=json.dumps(commands),
                          capture_output=True, text=True, check=True)
    parts = re.split(r"\0 (\w+)\n", done.stderr)
    assert parts[-1] == "" and len(parts) == 2 * len(commands) + 1, done.stderr
    return [(code, text.splitlines()) for text, code in zip(parts[::2], parts[1::2])]


def test_what_is_wrong_is_one_line_and_exit_code_1(tmp_path):
    folder = make_repository(tmp_path / "models", [("perceptron", 1)])
    file = str(path_of("perceptron"))
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "wrong.toml").write_text("http = \n")
    (tmp_path / "unknown.toml").write_text("htpt = 3\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        free = ["--http", "0", "--grpc", "0"]
        wrong = [
            ([file, "--http", port, "--grpc", "0"], rf"127\.0\.0\.1:{port}: Address already"),
            ([file, "--grpc", port, "--http", "0"], rf"127\.0\.0\.1:{port}: Address already"),
            ([file, *free, "--admin", port], rf"127\.0\.0\.1:{port}: Address already"),
            ([file, "--http", "65536"], "--http: expected a port up to 65535, got 65536"),
            ([file, "--http", "-2"], "--http"), ([file, "--grpc", "x"], "--grpc"),
            ([file, *free, "--admin", "[::1]:70000"], "--admin"),
            ([file, *free, "--host", "192.0.2.1"], r"192\.0\.2\.1:0: Cannot assign"),
            ([file, *free, "--host", "no.such.host.invalid"], "no.such.host.invalid:0"),
            ([str(folder), f"perceptron={file}"], "two models are named perceptron"),
            ([str(tmp_path / "none.pt2")], "no such file"), ([], "MODEL_OR_FOLDER"),
            ([file, "--tls-cert", file], "--tls-key"),
            ([file, "--tls-cert", file, "--tls-key", file], "no certificate"),
            ([file, "--tls-cert", "none", "--tls-key", file], "none: No such file"),
            ([file, "--token-file", str(tmp_path / "none")], "none"),
            ([file, "--token-file", str(tmp_path / "empty")], "expected a token"),
            ([file, "--config", str(tmp_path / "wrong.toml")], "wrong.toml"),
            ([file, "--config", str(tmp_path / "unknown.toml")], "htpt"),
            ([file, "--http", "-1", "--grpc", "-1"], "nothing to listen at"),
            ([file, "--unknown"], "--unknown")]
        results = started([arguments for arguments, _ in wrong])
    for (arguments, part), (code, lines) in zip(wrong, results, strict=True):
        assert code == "1" and len(lines) == 1, (arguments, code, lines)
        assert lines[0].startswith("fxjit-serve: ") and re.search(part, lines[0]), lines


def test_an_empty_repository_is_a_warning_and_the_version_6_loopback_an_address(tmp_path):
    (tmp_path / "lost+found").mkdir()
    with serving(tmp_path, "--host", "::1", loaded=False) as server:
        server.wait_for("there is no model")
        told = server.wait_for("a folder that is no model is skipped")
        assert told["folder"] == str(tmp_path / "lost+found")
        server.wait_for("loaded", ready=False)
        for port in (server.http, server.grpc):
            socket.create_connection(("::1", port)).close()
        times = [line["time"] for line in server.lines if "time" in line]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one) for one in times)


def parsed(given, environment=None):
    made = parser()
    return made.parse_args(with_other_sources(made, given, environment or {}))


def test_the_command_line_goes_before_the_environment_and_that_before_the_file(tmp_path):
    config = tmp_path / "serve.toml"
    config.write_text('http = 1\ngrpc = 2\nmax-batch = 3\nbatch_delay_ms = 0.5\n'
                      'models = ["a", "b c"]\nfront-code = true\nroot = ["r", "s"]\n')
    environment = {"FXJIT_SERVE_GRPC": "20", "FXJIT_SERVE_MAX_BATCH": "30", "OTHER": "x",
                   "FXJIT_SERVE_ROOT": "t 'u v'"}
    found = parsed(["--config", str(config), "--max-batch", "300"], environment)
    assert (found.http, found.grpc, found.max_batch, found.batch_delay_ms) == (1, 20, 300, 0.5)
    assert found.models == ["a", "b c"] and found.front_code
    assert found.root == ["r", "s", "t", "u v"]
    environment["FXJIT_SERVE_CONFIG"] = str(config)
    environment["FXJIT_SERVE_FRONT_CODE"] = "0"
    assert parsed([], environment).grpc == 20
    environment["FXJIT_SERVE_MODELS"] = "c 'd e'"
    assert parsed([], environment).models == ["c", "d e"]
    assert parsed(["f"], environment).models == ["f"]


@pytest.mark.parametrize("environment, part", [
    ({"FXJIT_SERVE_HTPT": "1"}, "FXJIT_SERVE_HTPT"),
    ({"FXJIT_SERVE_FRONT_CODE": "maybe"}, "true or false"),
    ({"FXJIT_SERVE_CONFIG": "/none.toml"}, "/none.toml")])
def test_wrong_sources_are_named(environment, part):
    with pytest.raises(fxjit.UserError, match=part):
        parsed(["model"], environment)


def test_what_kubernetes_sets_for_a_service_of_this_name_is_left_alone():
    environment = {"FXJIT_SERVE_PORT": "tcp://10.0.0.1:80", "FXJIT_SERVE_SERVICE_HOST": "10.0.0.1",
                   "FXJIT_SERVE_SERVICE_PORT": "80", "FXJIT_SERVE_PORT_80_TCP_ADDR": "10.0.0.1",
                   "FXJIT_SERVE_SERVICE_PORT_HTTP": "80", "FXJIT_SERVE_HTTP": "7",
                   "FXJIT_SERVE_ADMIN_PORT_80_TCP": "tcp://10.0.0.1:80",
                   "FXJIT_SERVE_ADMIN_SERVICE_HOST": "10.0.0.1"}
    assert parsed(["model"], environment).http == 7


def test_the_help_says_what_is_not_safe():
    assert "only behind a proxy" in parser().format_help()

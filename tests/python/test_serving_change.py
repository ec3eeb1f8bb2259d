"""Readiness, and what happens when the files of models change under fxjit-serve."""

import importlib.util
import json
import logging
import os
import shutil
import time

import numpy as np
import pytest
from cases import case_of, close, path_of
from serving_server import CHANGES, make_repository, serving

for needed in ("kserve", "grpc_health", "grpc_reflection"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit-serve is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import fxjit  # noqa: E402
from fxjit.serving.batcher import BatchOptions  # noqa: E402
from fxjit._fxjit import guard_mapped_files  # noqa: E402
from fxjit.serving.errors import LoadFailed, ModelFailed, NotFound, NotReady  # noqa: E402
from fxjit.serving.held_files import HeldFiles  # noqa: E402
from fxjit.serving.load import load_served  # noqa: E402
from fxjit.serving.model_config import ServeOptions  # noqa: E402
from fxjit.serving.repository import Repository  # noqa: E402
from fxjit.serving.watch import Watch  # noqa: E402

BODY = {"inputs": [{"name": "x", "shape": [1, 8], "datatype": "FP32", "data": [0.5] * 8}]}


@pytest.fixture
def folder(tmp_path):
    return make_repository(tmp_path / "models", [("perceptron", 1)])


def repository_of(folder, copied_bytes=1 << 20):
    options = ServeOptions(BatchOptions(instances=1), threads=1, copied_bytes=copied_bytes)
    made = Repository([str(folder)], options, load_served)
    made.load_all()
    return made


def states(repository):
    return {(row["name"], row["version"]): (row["state"], bool(row["reason"]))
            for row in repository.index()}


def damage(folder, version, name="perceptron"):
    place = folder / name / version
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.pt2").write_text("no archive")


def test_a_damaged_new_version_leaves_the_old_one_and_the_server_ready(folder):
    repository = repository_of(folder)
    old = repository.find("perceptron")
    damage(folder, "2")
    with pytest.raises(LoadFailed, match="archive"):
        repository.load("perceptron")
    assert repository.ready() and repository.find("perceptron") is old
    assert states(repository) == {("perceptron", "1"): ("READY", False),
                                  ("perceptron", "2"): ("UNAVAILABLE", True)}
    assert repository.failed() == [("perceptron", "2")]
    with pytest.raises(NotReady, match="version 2"):
        repository.find("perceptron", "2")
    shutil.rmtree(folder / "perceptron" / "2")
    repository.load("perceptron")
    assert repository.failed() == [] and repository.find("perceptron") is old
    repository.close()


def test_where_one_version_is_asked_for_the_newest_that_can_be_loaded_answers(folder):
    (folder / "perceptron" / "model.json").write_text('{"versions": 1}')
    damage(folder, "2")
    repository = repository_of(folder)
    assert repository.ready() and repository.find("perceptron").version == "1"
    shutil.copy(path_of("perceptron"), folder / "perceptron" / "2" / "model.pt2")
    repository.load("perceptron")
    assert repository.versions("perceptron") == ["2"] and repository.failed() == []
    damage(folder, "3")
    with pytest.raises(LoadFailed):
        repository.load("perceptron")
    assert repository.versions("perceptron") == ["2"] and repository.ready()
    repository.close()


def test_an_empty_folder_of_a_version_is_that_versions_failure(folder):
    (folder / "perceptron" / "2").mkdir()
    repository = repository_of(folder)
    assert repository.ready() and repository.failed() == [("perceptron", "2")]
    (folder / "perceptron" / "model.json").write_text("{")
    with pytest.raises(LoadFailed, match="model.json"):
        repository.load("perceptron")
    assert repository.ready() and repository.find("perceptron")
    repository.close()


def test_files_that_change_in_place_and_cannot_be_loaded_leave_the_old_ones(folder):
    repository = repository_of(folder)
    (folder / "perceptron" / "1" / "perceptron.pt2").write_text("no archive")
    with pytest.raises(LoadFailed):
        repository.load("perceptron")
    assert states(repository) == {("perceptron", "1"): ("READY", True)} and repository.ready()
    repository.close()


def test_a_folder_that_is_no_model_is_skipped_with_one_warning(folder, caplog):
    (folder / "lost+found").mkdir()
    (folder / "notes" / "drafts").mkdir(parents=True)
    with caplog.at_level(logging.WARNING, "fxjit.serving"):
        repository = repository_of(folder)
        repository.index()
    assert repository.ready() and list(repository.states()) == ["perceptron"]
    told = [one.folder for one in caplog.records if "skipped" in one.getMessage()]
    assert told == [str(folder / "lost+found"), str(folder / "notes")]
    (folder / "asked").mkdir()
    (folder / "asked" / "model.json").write_text("{}")
    with pytest.raises(LoadFailed, match="no folder of a version"):
        repository.load("asked")
    assert not repository.ready()
    repository.close()


def test_a_deleted_model_is_let_go_when_it_is_asked_to_load(folder):
    shutil.copytree(folder / "perceptron", folder / "second")
    repository = repository_of(folder)
    shutil.rmtree(folder / "second")
    assert repository.find("second")
    with pytest.raises(NotFound):
        repository.load("second")
    with pytest.raises(NotFound):
        repository.find("second")
    assert repository.ready() and list(repository.states()) == ["perceptron"]
    repository.close()


def test_a_repository_that_cannot_be_read_takes_nothing_away(folder):
    repository = repository_of(folder)
    watch = Watch(repository, poll_seconds=1e-9)
    folder.rename(folder.with_name("away"))
    watch.look()
    watch.look()
    with pytest.raises(LoadFailed, match="cannot be read"):
        repository.load("perceptron")
    assert repository.ready() and states(repository) == {("perceptron", "1"): ("READY", False)}
    folder.with_name("away").rename(folder)
    repository.load("perceptron")
    repository.close()


def test_a_poll_takes_what_is_new_changed_and_gone_once_nobody_writes_it(folder):
    repository = repository_of(folder)
    watch = Watch(repository, poll_seconds=1e-9)
    shutil.copytree(folder / "perceptron", folder / "second")
    shutil.copytree(folder / "perceptron" / "1", folder / "perceptron" / "2")
    watch.look()
    assert repository.states()["second"] == "loading"
    watch.look()
    assert repository.states() == {"perceptron": "ready", "second": "ready"}
    assert repository.versions("perceptron") == ["1", "2"]
    old = repository.find("perceptron", "1")
    os.utime(folder / "perceptron" / "1" / "perceptron.pt2")
    watch.look()
    assert repository.find("perceptron", "1") is old
    watch.look()
    assert repository.find("perceptron", "1") is not old
    repository.unload("perceptron")
    shutil.rmtree(folder / "second")
    watch.look()
    assert repository.states() == {"perceptron": "unloaded"}
    repository.close()


def test_a_poll_tries_a_damaged_version_once_for_each_change(folder, caplog):
    damage(folder, "2")
    repository = repository_of(folder)
    watch = Watch(repository, poll_seconds=1e-9)
    caplog.clear()
    with caplog.at_level(logging.ERROR, "fxjit.serving"):
        for _ in range(4):
            watch.look()
        assert not caplog.records
        (folder / "perceptron" / "2" / "model.pt2").write_text("no archive either")
        for _ in range(4):
            watch.look()
    assert [one.version for one in caplog.records] == ["2"]
    shutil.copy(path_of("perceptron"), folder / "perceptron" / "2" / "model.pt2")
    watch.look()
    watch.look()
    assert repository.versions("perceptron") == ["1", "2"] and repository.failed() == []
    repository.close()


def overwrite(path, data):
    """In place: the same inode."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate(len(data))


def answer_of(served, name="bert"):
    inputs, answers = case_of(name)
    got = served.engine.run([inputs[one.name] for one in served.engine.inputs])
    return got, answers


def test_a_small_file_is_copied_so_that_what_becomes_of_it_changes_no_answer(tmp_path, caplog):
    folder = make_repository(tmp_path, [("bert", 1)])
    repository = repository_of(folder, copied_bytes=1 << 30)
    served, watch = repository.find("bert"), Watch(repository)
    overwrite(folder / "bert" / "1" / "bert.pt2", b"")
    with caplog.at_level(logging.WARNING, "fxjit.serving"):
        watch.look()
        watch.look()
    assert ["the copy in memory answers" in one.getMessage() for one in caplog.records] == [True]
    for got, wanted in zip(*answer_of(served), strict=True):
        close(got, wanted)
    assert repository.find("bert") is served
    repository.close()


def test_a_mapped_file_that_is_written_over_takes_its_version_out(tmp_path, caplog):
    folder = make_repository(tmp_path, [("bert", 1)])
    repository = repository_of(folder, copied_bytes=0)
    watch, path = Watch(repository), folder / "bert" / "1" / "bert.pt2"
    data = path.read_bytes()
    overwrite(path, bytes(len(data)))
    with caplog.at_level(logging.ERROR, "fxjit.serving"):
        watch.look()
    assert [one.getMessage() for one in caplog.records] == [
        "a model's file was written over while it was mapped", "a model is lost"]
    assert not repository.ready() and repository.failed() == [("bert", "1")]
    with pytest.raises(NotReady, match="bert.pt2 was written over"):
        repository.find("bert")
    overwrite(path, data)
    watch.look()
    watch.look()
    for got, wanted in zip(*answer_of(repository.find("bert")), strict=True):
        close(got, wanted)
    assert repository.ready()
    repository.close()


def test_a_file_that_is_exchanged_by_renaming_is_another_file(tmp_path):
    folder = make_repository(tmp_path, [("bert", 1)])
    repository = repository_of(folder, copied_bytes=0)
    served, path = repository.find("bert"), folder / "bert" / "1" / "bert.pt2"
    (tmp_path / "new").write_bytes(b"no archive")
    os.replace(tmp_path / "new", path)
    Watch(repository).look()
    for got, wanted in zip(*answer_of(served), strict=True):
        close(got, wanted)
    assert repository.find("bert") is served
    repository.close()


def test_a_file_that_changes_while_it_is_loaded_is_not_taken(folder):
    path = folder / "perceptron" / "1" / "perceptron.pt2"

    def slow(source, options):
        made = load_served(source, options)
        os.utime(path)
        return made

    repository = Repository([str(folder)], ServeOptions(BatchOptions(instances=1)), slow)
    repository.load_all()
    assert not repository.ready()
    with pytest.raises(NotReady, match="changed while it was loaded"):
        repository.find("perceptron")


def test_errors_name_the_file_and_not_its_copy(tmp_path):
    (tmp_path / "model.pt2").write_text("no archive")
    files = HeldFiles(1 << 20)
    opened = files.opened(tmp_path / "model.pt2")
    assert opened.startswith("/proc/self/fd/")
    files.close()
    from fxjit.serving.engine import FxjitEngine
    with pytest.raises(fxjit.UserError, match=str(tmp_path / "model.pt2")):
        FxjitEngine(tmp_path / "model.pt2", files=HeldFiles(1 << 20))


def test_an_onnx_file_with_tensors_in_others_is_not_copied_away_from_them(tmp_path):
    for text, copied in ((b"\x0a\x08location", False), (b"weights", True)):
        (tmp_path / "model.onnx").write_bytes(text)
        files = HeldFiles(1 << 20)
        opened = files.opened(tmp_path / "model.onnx")
        assert (opened != str(tmp_path / "model.onnx")) == copied
        (tmp_path / "model.onnx").write_bytes(text * 2)
        assert [len(one) for one in files.changes()] == [int(copied), int(not copied)]
        files.close()


def test_a_mapped_file_that_is_cut_off_does_not_end_the_server(tmp_path):
    folder = make_repository(tmp_path, [("bert", 1), ("perceptron", 1)])
    inputs, _ = case_of("bert")

    def ask(server, length):
        body = {"inputs": [
            {"name": name, "shape": [1, length], "datatype": "INT64",
             "data": np.resize(array, length).tolist()} for name, array in inputs.items()]}
        return server.json("POST", "/v2/models/bert/infer", body)

    with serving(folder, *CHANGES, "--copy-mb", "0") as server:
        assert ask(server, 7)[0] == 200
        path = folder / "bert" / "1" / "bert.pt2"
        data = path.read_bytes()
        os.truncate(path, 0)
        lengths = iter(range(8, 40))
        answers = [ask(server, next(lengths)) for _ in range(4)]
        server.wait_for("a model is lost", model="bert")
        answers.append(ask(server, 7))
        for status, answer in answers:
            assert status in (500, 503), answer
            assert "cut off" in answer["error"] or "written over" in answer["error"]
        assert answers[-1][0] == 503
        assert server.json("GET", "/v2/health/ready")[0] == 400
        assert server.json("POST", "/v2/models/perceptron/infer", BODY)[0] == 200
        path.write_bytes(data)
        end = time.monotonic() + 60
        while server.json("GET", "/v2/health/ready")[0] != 200 and time.monotonic() < end:
            time.sleep(0.1)
        assert ask(server, 7)[0] == 200


def test_the_state_of_models_shows_in_metrics_index_and_log(folder):
    shutil.copytree(folder / "perceptron" / "1", folder / "second" / "1")
    with serving(folder, *CHANGES) as server:
        damage(folder, "2")
        status, answer = server.change("perceptron")
        assert status == 400 and "archive" in answer["error"]
        told = server.wait_for("a model cannot be loaded", model="perceptron", version="2")
        assert told["answers"] == ["1"]
        assert server.json("GET", "/v2/health/ready") == (200, {"ready": True})
        server.change("second", "unload")
        metrics = server.metrics()
        assert [metrics[f'fxjit_models{{state="{state}"}}'] for state in (
            "ready", "loading", "failed", "unloaded")] == [1, 0, 0, 1]
        assert metrics['fxjit_version_failed{model="perceptron",version="2"}'] == 1
        rows = server.json("POST", "/v2/repository/index")[1]
        assert [(row["version"], row["state"]) for row in rows[:2]] == [
            ("1", "READY"), ("2", "UNAVAILABLE")]
        for path, ready in (("/v2/models/second/ready", False),
                            ("/v2/models/perceptron/ready", True),
                            ("/v2/models/perceptron/versions/2/ready", False)):
            status, answer = server.json("GET", path)
            assert (status, answer["ready"]) == (200 if ready else 400, ready)
        assert server.json("POST", "/v2/models/second/infer", BODY)[0] == 503


def test_the_server_counts_what_it_refuses_and_tells_of_itself(folder):
    with serving(folder, "--admin", "0", "--max-body-mb", "1", "--max-held-mb", "1") as server:
        infer = "/v2/models/perceptron/infer"
        assert server.json("POST", "/v2/models/none/infer", BODY)[0] == 404
        assert server.ask("POST", infer, b" " * (2 << 20))[0] == 413
        assert server.json("POST", infer, {"inputs": []})[0] == 400
        assert server.json("POST", infer, BODY)[0] == 200
        metrics = server.metrics()
        assert metrics['fxjit_refusals_total{code="404",protocol="rest",reason="not_found"}'] == 1
        assert metrics['fxjit_refusals_total{code="413",protocol="rest",reason="too_large"}'] == 1
        assert 'fxjit_refusals_total{code="400",protocol="rest",reason="bad_request"}' not in (
            metrics)
        assert metrics['fxjit_failures_total{model="perceptron",reason="bad_request",'
                       'version="1"}'] == 1
        (built,) = [name for name in metrics if name.startswith("fxjit_build_info{")]
        assert fxjit.__version__ in built
        assert metrics['fxjit_connections{port="admin"}'] >= 1
        assert metrics["fxjit_held_bytes"] == metrics["fxjit_requests_in_flight"] == 0
        assert not any(name.startswith(("request_pre", "request_predict", "request_explain"))
                       for name in metrics)
        for path in ("/openapi.json", "/docs", "/v1/models", "/"):
            status, answer = server.json("GET", path)
            assert status == 404 and "no such path" in answer["error"]


def test_a_refusal_for_now_says_when_to_come_again(folder):
    with serving(folder, "--queue", "0") as server:
        status, headers, _ = server.ask("POST", "/v2/models/perceptron/infer",
                                        json.dumps(BODY))
    assert (status, headers["retry-after"]) == (503, "1")


def test_a_mapped_file_that_is_cut_off_is_the_failure_of_its_model_alone(tmp_path):
    guard_mapped_files()
    folder = make_repository(tmp_path, [("bert", 1)])
    repository = repository_of(folder, copied_bytes=0)
    served, path = repository.find("bert"), folder / "bert" / "1" / "bert.pt2"
    watch, data = Watch(repository), path.read_bytes()
    os.truncate(path, 0)
    with pytest.raises(ModelFailed, match="cut off"):
        answer_of(served)
    watch.look()
    assert repository.failed() == [("bert", "1")]
    path.write_bytes(data)
    watch.look()
    watch.look()
    for got, wanted in zip(*answer_of(repository.find("bert")), strict=True):
        close(got, wanted)
    repository.close()

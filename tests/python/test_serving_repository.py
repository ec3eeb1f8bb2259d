"""Repositories of fxjit.serving, without a server: versions, model.json, warm-up, code in front."""

import asyncio
import importlib.util
import os
import shutil

import numpy as np
import pytest
from cases import close, path_of

for needed in ("orjson", "prometheus_client"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit.serving is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import fxjit  # noqa: E402
from fxjit.serving.batcher import BatchOptions  # noqa: E402
from fxjit.serving.engine import _example_of  # noqa: E402
from fxjit.serving.errors import BadRequest, ModelFailed, NotFound, NotReady  # noqa: E402
from fxjit.serving.load import load_served  # noqa: E402
from fxjit.serving.model_config import ServeOptions  # noqa: E402
from fxjit.serving.repository import Repository  # noqa: E402
from fxjit.serving.requests import Request  # noqa: E402


def options(**changes):
    return ServeOptions(BatchOptions(instances=1), threads=1, **changes)


@pytest.fixture
def folder(tmp_path):
    for version in ("1", "2", "10"):
        (tmp_path / "mlp" / version).mkdir(parents=True)
        shutil.copy(path_of("perceptron"), tmp_path / "mlp" / version)
    return tmp_path


def repository_of(folder, **changes):
    made = Repository([str(folder)], options(**changes), load_served)
    made.load_all()
    return made


def states(repository):
    return [(row["name"], row["version"], row["state"]) for row in repository.index()]


def test_versions_come_and_go(folder):
    (folder / "mlp" / "model.json").write_text('{"versions": 2}')
    repository = repository_of(folder)
    assert states(repository) == [("mlp", "2", "READY"), ("mlp", "10", "READY")]
    assert repository.find("mlp").version == "10" and repository.ready()
    with pytest.raises(NotFound):
        repository.find("mlp", "1")
    kept = repository.find("mlp", "2")
    shutil.rmtree(folder / "mlp" / "10")
    repository.load("mlp")
    assert repository.versions("mlp") == ["1", "2"] and repository.find("mlp", "2") is kept
    os.utime(folder / "mlp" / "2" / "perceptron.pt2")
    repository.load("mlp")
    assert repository.find("mlp", "2") is not kept
    repository.unload("mlp")
    with pytest.raises(NotReady):
        repository.find("mlp")
    assert repository.index(ready_only=True) == [] and not repository.ready()
    repository.load("mlp")
    assert repository.ready()
    repository.close()


def test_a_model_that_cannot_be_loaded_says_why(folder):
    (folder / "bad" / "1").mkdir(parents=True)
    (folder / "bad" / "1" / "model.pt2").write_text("no archive")
    repository = repository_of(folder)
    assert ("bad", "1", "UNAVAILABLE") in states(repository) and not repository.ready()
    assert repository.find("mlp")
    with pytest.raises(NotReady, match="bad"):
        repository.find("bad")
    with pytest.raises(NotReady, match="archive"):
        repository.load("bad")
    shutil.copy(path_of("perceptron"), folder / "bad" / "1" / "model.pt2")
    repository.load("bad")
    assert repository.ready()
    repository.close()


@pytest.mark.parametrize("text, part", [
    ("{", "model.json"), ("[]", "object"), ('{"option": {}}', "unknown field option"),
    ('{"max_batch": 0}', "too small"), ('{"max_batch": "2"}', "int"),
    ('{"batching": 1}', "bool"), ('{"pad": {"value": 1}}', "pad"),
    ('{"options": {"thread": 1}}', "thread"), ('{"file": "none.pt2"}', "none.pt2"),
    ('{"front": "front.py"}', "--front-code"), ('{"inputs": []}', "together"),
    ('{"pad": {"values": {}}, "batching": true, "versions": 0}', "versions")])
def test_what_is_wrong_with_a_model_json(folder, text, part):
    (folder / "mlp" / "model.json").write_text(text)
    repository = repository_of(folder)
    with pytest.raises(NotReady, match=part):
        repository.load("mlp")
    repository.close()


def test_warm_up_compiles_before_it_answers(folder):
    (folder / "mlp" / "model.json").write_text('{"versions": 1}')
    (folder / "mlp" / "warmup.json").write_text('[{"x": [5, 8]}, {"x": [6, 8]}]')
    (folder / "mlp" / "10" / "warmup.json").write_text('[{"x": [7, 8]}]')
    repository = repository_of(folder)
    programs = repository.find("mlp").engine.compiled_size()[0]
    assert programs == 3  # Of one row and of two, by which rows are found to be alone, and of 7.
    (folder / "mlp" / "10" / "warmup.json").write_text('[{"x": [7, 9]}]')
    with pytest.raises(NotReady, match="x"):
        repository.load("mlp")
    repository.close()


FRONT = """
import numpy as np
from fxjit.serving import BadRequest, Tensor

class Front:
    inputs = [Tensor("text", "BYTES", ("rows",))]
    outputs = [Tensor("best", "INT64", ("rows",))]

    def __init__(self, folder):
        pass

    def before(self, inputs):
        if b"" in inputs["text"]:
            raise BadRequest("an empty text")
        return {"x": np.array([[float(text)] * 8 for text in inputs["text"]], np.float32)}

    def after(self, outputs):
        return {"best": outputs["output"].argmax(1)}
"""


def test_code_stands_in_front_where_it_is_allowed(folder):
    (folder / "mlp" / "front.py").write_text(FRONT)
    (folder / "mlp" / "model.json").write_text('{"front": "front.py", "versions": 1}')
    repository = repository_of(folder, front_code=True)
    served = repository.find("mlp")
    assert served.metadata([])["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]

    def ask(*texts):
        given = np.array(texts, object)
        return asyncio.run(served.infer(Request({"text": given}), {})).outputs["best"]

    model = fxjit.load(path_of("perceptron"))
    wanted = model(np.repeat(np.array([[1.0], [-3.0]], np.float32), 8, 1)).argmax(1)
    np.testing.assert_array_equal(ask(b"1", b"-3"), wanted)
    with pytest.raises(BadRequest, match="empty"):
        ask(b"1", b"")
    with pytest.raises(ModelFailed, match="ValueError"):
        ask(b"one")
    repository.close()


def test_sizes_that_a_file_does_not_tell_are_guessed():
    class Told:
        def __init__(self, name, sizes, example):
            self.name, self.sizes, self.example, self.dtype = name, sizes, example, "float32"

    ids, mask = Told("ids", ["n", "s"], [None, None]), Told("mask", ["n", "s", 3], [None, None, 3])
    assert _example_of([ids, mask]) == {"ids": (1, 16), "mask": (1, 16, 3)}
    assert _example_of([Told("x", ["2*n"], [None])]) is None


def test_a_model_without_sizes_is_described(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch, which writes the file, is not installed")
    graph = torch.fx.symbolic_trace(torch.nn.Linear(3, 2))
    (tmp_path / "linear" / "1").mkdir(parents=True)
    fxjit.from_fx(graph).save(str(tmp_path / "linear" / "1" / "linear.fx"))
    with pytest.raises(NotReady, match="model.json"):
        repository_of(tmp_path).load("linear")
    (tmp_path / "linear" / "model.json").write_text(
        '{"inputs": [{"name": "input", "datatype": "FP32", "shape": ["n", 3]}],'
        ' "outputs": [{"name": "y", "datatype": "FP32", "shape": ["n", 2]}], "batching": true}')
    served = repository_of(tmp_path).find("linear")
    x = np.ones((2, 3), np.float32)
    (name,) = [one.name for one in served.inputs]
    got = asyncio.run(served.infer(Request({name: x}), {})).outputs["y"]
    close(got, graph(torch.from_numpy(x)).detach().numpy())
    served.close()

"""fxjit.check: agreement, what differs, and the files of it."""

import os

import fxjit
import numpy as np
import pytest
from cases import case_of, path_of


def inputs_of(name):
    return list(case_of(name)[0].values())


def test_says_that_all_agree():
    found = fxjit.check(fxjit.load(path_of("resnet")), inputs_of("resnet"))
    assert found.agrees and found.node is None
    assert found.startswith("all agree: 1 result")


def test_names_what_differs_and_writes_it(tmp_path):
    found = fxjit.check(path_of("attention"), inputs_of("attention"), tolerance=0, threads=1)
    assert not found.agrees
    assert found.node["name"] and found.node["difference"]
    assert found.step["kernel"]
    path = found.save(tmp_path / "found")
    assert path == os.path.join(tmp_path / "found", "model.fx")
    again = fxjit.load(path, threads=1)
    arrays = [np.load(tmp_path / "found" / f"{one.name}.npy") for one in again.inputs]
    assert not fxjit.check(again, arrays, tolerance=0, reduce=False).agrees


def test_beside_onnxruntime_without_the_package(monkeypatch):
    from fxjit import reference

    monkeypatch.setattr(reference, "package", lambda name: raise_missing(reference, name))
    with pytest.raises(fxjit.UserError, match="onnxruntime"):
        fxjit.check(path_of("attention"), inputs_of("attention"), against="onnxruntime")


def raise_missing(reference, name):
    if name == "numpy":
        return np
    raise reference.Missing(f"the Python package {name} is missing")


def test_refuses_what_it_does_not_know(tmp_path):
    with pytest.raises(ValueError, match="against"):
        fxjit.check(path_of("attention"), inputs_of("attention"), against="nobody")
    with pytest.raises(fxjit.UserError):
        fxjit.check(tmp_path / "nothing.pt2", [])
    found = fxjit.check(path_of("attention"), inputs_of("attention"))
    with pytest.raises(fxjit.UserError, match="no smaller model"):
        found.save(tmp_path)


def test_modules_beside_torch(tmp_path):
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 4)

        def forward(self, x):
            return torch.softmax(self.layer(x), -1)

    net, x = Net().eval(), torch.randn(3, 8)
    assert fxjit.check(net, (x,), against="torch").agrees
    found = fxjit.check(net, (x,), against="torch", tolerance=0)
    assert not found.agrees
    path = found.save(tmp_path, format="pt2")
    assert fxjit.load(path)(*found.inputs) is not None


def test_bounds_come_from_double_precision_for_calls_by_overloads():
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8)).eval()
    found = fxjit.check(net, (torch.randn(3, 8),))
    assert found.agrees and "found by runs in double precision" in found


def test_values_of_all_nodes_of_a_torch_program(tmp_path):
    torch = pytest.importorskip("torch")
    from fxjit import reference

    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.exp(torch.tanh(x)) + 1

    x = torch.randn(5)
    path = os.fspath(tmp_path / "net.pt2")
    torch.export.save(torch.export.export(Net(), (x,)), path)
    version, results, nodes = reference.torch_values(path, {"x": x.numpy()})
    assert version.startswith("PyTorch")
    np.testing.assert_allclose(results[0], Net()(x).numpy())
    np.testing.assert_allclose(nodes["tanh"], torch.tanh(x).numpy())
    graph = str(fxjit.load(path).graph)
    assert all(f"%{name}" in graph for name in nodes)

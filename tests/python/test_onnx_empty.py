"""ONNX ops over dims that have no elements, as ONNX Runtime has them."""

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

X = ("float32", ["n", "m"])


def load(tmp_path, nodes):
    return fxjit.load(write_model(tmp_path / "model.onnx", nodes, {"x": X}, {"y": X}))


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_running_sums(reverse, exclusive, tmp_path):
    model = load(tmp_path, [("Constant", [], ["axis"], {"value_ints": [1]}),
                            ("Squeeze", ["axis"], ["one"], {}),
                            ("CumSum", ["x", "one"], ["y"],
                             {"exclusive": exclusive, "reverse": reverse})])
    for sizes in ((2, 3), (2, 1), (2, 0), (0, 3)):
        x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes) + 1
        line = x[:, ::-1] if reverse else x
        sums = line.cumsum(1) - (line if exclusive else 0)
        np.testing.assert_array_equal(model(x), sums[:, ::-1] if reverse else sums)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resizing(mode, tmp_path):
    model = load(tmp_path, [("Constant", [], ["scales"], {"value_floats": [2., .5]}),
                            ("Resize", ["x", "", "scales"], ["y"], {"mode": mode})])
    for sizes in ((2, 4), (0, 4), (3, 1), (0, 0)):
        y = model(np.ones(sizes, np.float32))
        np.testing.assert_array_equal(y, np.ones((sizes[0] * 2, sizes[1] // 2), np.float32))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max"])
def test_nothing_to_scatter(reduction, tmp_path):
    path = write_model(tmp_path / "model.onnx",
                       [("ScatterND", ["x", "places", "rows"], ["y"], {"reduction": reduction})],
                       {"x": X, "places": ("int64", ["k", 1]), "rows": ("float32", ["k", "m"])},
                       {"y": X}, opset=18)
    model = fxjit.load(path)
    rows = np.full((2, 3), 4, np.float32)
    for count in (2, 0, 1):
        x = np.ones((5, 3), np.float32)
        places = np.array([[3], [-5]])[:count]
        expected = x.copy()
        expected[places[:, 0]] = 5 if reduction == "add" else 4
        np.testing.assert_array_equal(model(x, places, rows[:count]), expected)
    empty = np.ones((0, 3), np.float32)
    np.testing.assert_array_equal(model(empty, np.zeros((0, 1), np.int64), empty), empty)
